"""SmeLU, and networks that have it in the place of ReLU."""

import numpy as np
import pytest
import torch
from torch import nn

import toys
import unchurn
from unchurn import StableClassifier
from unchurn.core.errors import InputError
from unchurn.methods.activations import SmeLU, replace_relu, smelu
from unchurn.study.api import make_experiment
from unchurn.training.learners.torch import TorchLearner


def test_its_values_and_slopes_meet_where_its_pieces_do():
    x = torch.tensor([-3.0, -1.0, 0.0, 1.0, 3.0], requires_grad=True)
    y = smelu(x, 1.0)
    assert y.tolist() == [0, 0, 0.25, 1, 3]
    (slopes,) = torch.autograd.grad(y.sum(), x)
    assert slopes.tolist() == [0, 0, 0.5, 1, 1]


def test_it_comes_close_to_relu_as_beta_goes_to_zero():
    x = torch.linspace(-2, 2, 101)
    torch.testing.assert_close(smelu(x, 1e-4), torch.relu(x), atol=1e-4, rtol=0)
    assert torch.equal(smelu(x, 0), torch.relu(x))


def test_every_relu_of_a_network_is_replaced():
    net = nn.Sequential(nn.ReLU(), nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.Tanh())
    kinds = [type(module) for module in replace_relu(net, 0.5).modules()]
    assert kinds.count(SmeLU) == 2
    assert nn.ReLU not in kinds
    assert nn.Tanh in kinds
    shared = nn.ReLU()
    twice = replace_relu(nn.Sequential(nn.Linear(2, 2), shared, nn.Linear(2, 2), shared))
    assert [type(layer) for layer in twice] == [nn.Linear, SmeLU, nn.Linear, SmeLU]


def test_a_network_without_relu_is_refused():
    x, y = toys.blobs(60)
    with pytest.raises(InputError, match=r"no torch\.nn\.ReLU to replace"):
        StableClassifier(toys.linear, "smelu", epochs=1).fit(x, y)


@pytest.mark.parametrize(
    ("module", "beta", "message"),
    [
        (nn.Linear(2, 2), 1, "no torch.nn.ReLU to replace"),
        (unchurn.replace_relu(nn.Sequential(nn.ReLU())), 0.5, "no torch.nn.ReLU to replace"),
        (nn.ReLU(), -1, "beta must be a number of at least 0"),
        (nn.ReLU(), float("nan"), "beta must be a number of at least 0"),
        (torch.relu, 1, "module must be a torch.nn.Module, not builtin_function"),
    ],
)
def test_what_has_nothing_to_replace_is_refused(module, beta, message):
    with pytest.raises(InputError, match=message):
        unchurn.replace_relu(module, beta)


def test_a_study_refuses_it_before_any_training_and_presets_leave_it_out():
    data = toys.dataset()
    given = {"learner": TorchLearner(toys.linear), "runs": 2}
    message = r"^smelu\+ema changes the network: there is no torch.nn.ReLU .*: your network cannot"
    with pytest.raises(InputError, match=message):
        make_experiment(data, "smelu+ema", **given)
    names = [s.name for s in make_experiment(data, preset="best", **given).settings]
    assert "ema" in names
    assert not any("smelu" in name for name in names)


@pytest.mark.parametrize("module", ["mlp", "lenet5"])
def test_a_saved_model_has_it_again(tmp_path, module):
    x, y = toys.blobs(60)
    x = np.tile(x, (1, 64)).reshape(-1, 16, 16) if module == "lenet5" else x
    model = StableClassifier(module, "smelu(beta=0.5)+ema", epochs=1, random_state=0).fit(x, y)
    assert any(isinstance(layer, SmeLU) for layer in model.fitted_.members[0][0].modules())
    model.save(tmp_path / "model")
    again = StableClassifier.load(tmp_path / "model")
    assert again.predict_proba(x).tobytes() == model.predict_proba(x).tobytes()
