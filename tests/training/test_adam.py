"""Our Adam against torch's own classes, to the bit."""

import subprocess
import sys

import pytest
import torch

from unchurn.training.loop.adam import Adam

SHAPES = (5, 3), (3,), (2, 2)


def parameters():
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator).requires_grad_() for shape in SHAPES]


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_every_step_is_torchs(decay):
    """Also of a parameter that has no gradient at first, or never."""
    ours, theirs = parameters(), parameters()
    own = Adam(ours, epsilon=1e-7, decay=decay)
    if decay:
        other = torch.optim.AdamW(theirs, eps=1e-7, weight_decay=decay, fused=True)
    else:
        other = torch.optim.Adam(theirs, eps=1e-7, fused=True)
    for step in range(20):
        other.param_groups[0]["lr"] = rate = 0.1 / (step + 1)
        for (first, second, _), optimizer in ((ours, own), (theirs, other)):
            optimizer.zero_grad()
            loss = (first**2 * torch.sin(first + step)).sum()
            if step > 2:
                loss = loss + torch.cos(second * step).sum()
            loss.backward()
        own.step(rate)
        other.step()
        assert all(map(torch.equal, ours, theirs))
    assert torch.equal(ours[2], parameters()[2])


TRAINING = """
import sys
import numpy as np
from unchurn.methods import Control
from unchurn.training.loop.config import Training
from unchurn.training.loop.fit import fit_together
from unchurn.training.networks.factories import mlp

x, y = np.eye(3, dtype=np.float32), np.arange(3)
(fitted,) = fit_together([Control()], mlp, x, y, 3, training=Training(1, 2), seed=0)
fitted.probabilities(x)
print("torch._dynamo" in sys.modules)
"""


def test_a_training_needs_no_compiler():
    command = [sys.executable, "-c", TRAINING]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
