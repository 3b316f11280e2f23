"""The networks that are built in, and those of a user's own."""

import numpy as np
import pytest
import torch

import toys
from unchurn.core.errors import InputError
from unchurn.methods import Control
from unchurn.training.learners.torch import NETWORKS
from unchurn.training.loop.config import Training
from unchurn.training.networks.factories import MODELS, lenet5, make_factory, mlp

X, Y = toys.blobs(90, distance=2)


def test_own_networks_are_seeded_dropout_included():
    def fit():
        training = Training(epochs=2, batch_size=32)
        fitted = toys.fit_run(Control(), toys.with_dropout, X, Y, 3, training=training, seed=0)
        return fitted.probabilities(X)

    torch.manual_seed(1)
    one = fit()
    torch.manual_seed(2)
    before = torch.get_rng_state()
    two = fit()
    assert one.tobytes() == two.tobytes()
    assert torch.equal(torch.get_rng_state(), before)  # and the caller's numbers are left alone


@pytest.mark.parametrize("shape", [(28, 28), (28, 28, 3), (32, 32, 3)])
def test_lenet5_has_its_published_layers(shape):
    net = lenet5(shape, 10)
    channels = shape[2] if len(shape) == 3 else 1
    flat = {28: 16 * 4 * 4, 32: 16 * 5 * 5}[shape[0]]
    assert [tuple(p.shape) for p in net.parameters() if p.ndim > 1] == [
        (6, channels, 5, 5), (16, 6, 5, 5), (120, flat), (84, 120), (10, 84),
    ]  # fmt: skip
    assert net(torch.zeros(2, *shape)).shape == (2, 10)


def test_mlp_is_256_256_with_glorot_weights():
    net = mlp((28, 28), 10)
    weights = [p for p in net.parameters() if p.ndim == 2]
    assert [tuple(w.shape) for w in weights] == [(256, 784), (256, 256), (10, 256)]
    for w in weights:
        limit = (6 / sum(w.shape)) ** 0.5
        assert w.abs().max() <= limit
        assert w.std().item() == pytest.approx(limit / 3**0.5, rel=0.1)
    assert all((p == 0).all() for p in net.parameters() if p.ndim == 1)


def test_networks_learn_images(rng):
    """LeNet5 tells a bright left half from a bright right half."""
    y = np.arange(60) % 2
    x = rng.normal(size=(60, 20, 20)).astype(np.float32) / 2
    x[y == 0, :, :10] += 1
    x[y == 1, :, 10:] += 1
    fitted = toys.fit_run(
        Control(), lenet5, x, y, 2, training=Training(epochs=10, batch_size=16), seed=0
    )
    assert (fitted.probabilities(x).argmax(axis=1) == y).mean() > 0.95


def test_models_by_name():
    assert tuple(MODELS) == NETWORKS
    assert make_factory("mlp") is mlp
    with pytest.raises(InputError, match="no model 'cnn': there are mlp, mlp_three_hidden, lenet5"):
        make_factory("cnn")
    with pytest.raises(InputError, match="must be a name or a function"):
        make_factory(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least 16×16"):
        lenet5((8, 8), 10)
