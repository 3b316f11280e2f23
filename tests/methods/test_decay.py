"""The learning rate along a cosine, against torch's own scheduler."""

import pytest
import torch

import toys
from unchurn.methods import Decay
from unchurn.methods.decay import cosine_decay
from unchurn.training.loop.adam import Adam
from unchurn.training.loop.config import Training


def test_the_factor_is_torchs_cosine():
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10, eta_min=0.2)
    for step in range(10):
        assert cosine_decay(step / 10, final=0.2) == pytest.approx(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()


def test_every_step_is_made_at_its_rate(monkeypatch):
    rates = []

    class Spy(Adam):
        def step(self, rate):
            rates.append(rate)
            super().step(rate)

    monkeypatch.setattr("unchurn.training.loop.steps.Adam", Spy)
    x, y = toys.blobs(40)
    toys.fit_run(Decay(), toys.linear, x, y, 3, training=Training(2, 20, 0.1), seed=0)
    assert rates == pytest.approx([0.1 * cosine_decay(step / 4) for step in range(4)])
