"""The average that serves, against one taken by hand."""

import copy

import pytest
import torch

import toys
from unchurn.core.errors import InputError
from unchurn.methods import Control, Ema
from unchurn.methods.ema import ema_decay
from unchurn.training.loop.config import Training

X, Y = toys.blobs(90, distance=2)
TRAINING = Training(epochs=2, batch_size=32)


def test_the_decay_warms_up():
    assert [ema_decay(0.999, step) for step in (0, 8, 90)] == [0.1, 0.5, 0.91]
    assert ema_decay(0.999, 10**6) == 0.999


def test_the_average_is_that_of_all_steps(monkeypatch):
    """Every step's weights are noted; the average of them, by plain arithmetic, is what serves."""
    noted = []

    class Noting(Ema.fit_class):
        def __init__(self, method, nets, n_steps):
            super().__init__(method, nets, n_steps)
            noted.append(copy.deepcopy(nets[0].state_dict()))

        def after_step(self, step):
            super().after_step(step)
            noted.append(copy.deepcopy(self.nets[0].state_dict()))

    monkeypatch.setattr(Ema, "fit_class", Noting)
    fitted = toys.fit_run(Ema(decay=0.4), toys.linear, X, Y, 3, training=TRAINING, seed=0)
    expected, *steps = (state["weight"].double() for state in noted)
    for step, weights in enumerate(steps):
        kept = min(0.4, (1 + step) / (10 + step))
        expected = kept * expected + (1 - kept) * weights
    served = fitted.members[0][0].state_dict()["weight"].double()
    assert len(steps) == 6
    torch.testing.assert_close(served, expected, atol=1e-6, rtol=1e-6)


def test_statistics_are_averaged_and_counts_are_counted():
    plain, averaged = (
        toys.fit_run(method, toys.with_batch_norm, X, Y, 3, training=TRAINING, seed=0).members[0][
            0
        ][1]
        for method in (Control(), Ema(decay=0.9))
    )
    assert averaged.num_batches_tracked == plain.num_batches_tracked == 6
    assert not torch.equal(averaged.running_mean, plain.running_mean)
    assert (averaged.running_mean.abs() <= plain.running_mean.abs().max()).all()


def test_training_itself_goes_on_as_without():
    """Only what serves is averaged: dropout and order are plain training's."""
    runs = []
    for method in (Control(), Ema(decay=0.9)):
        seen = []
        runs.append(seen)

        class Spy(type(method)):
            def loss(self, logits, batch, step, seen=seen):
                seen.append(logits[0].detach().clone())
                return super().loss(logits, batch, step)

        toys.fit_run(
            Spy(**method.get_params()), toys.with_dropout, X, Y, 3, training=TRAINING, seed=0
        )
    first, second = runs
    assert all(torch.equal(one, two) for one, two in zip(first, second, strict=True))


def test_a_decay_of_one_is_refused():
    with pytest.raises(InputError, match="decay must be below 1"):
        Ema(decay=1)
