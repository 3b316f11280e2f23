"""EMA: the weights that serve are a moving average over the steps of training. It costs nothing.

Averaging what the last steps jump about takes out much of what one seed does otherwise than the
next. Decay with warm-up as Martín Abadi et al. (TensorFlow, 2016) have it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unchurn.core.arrays import as_fraction
from unchurn.core.errors import InputError
from unchurn.methods.base import Fit, Method
from unchurn.methods.control import Control

if TYPE_CHECKING:
    import torch
    from torch import nn


def ema_decay(decay: float, step: int) -> float:
    """How much of the average is kept after a step, the first being 0: less while it is young."""
    return min(decay, (1 + step) / (10 + step))


class _Averages(Fit):
    """Copies of the networks that hold the averages."""

    method: Ema

    def __init__(self, method: Ema, nets: Sequence[nn.Module], n_steps: int) -> None:
        super().__init__(method, nets, n_steps)
        self.averages = [copy.deepcopy(net).requires_grad_(False) for net in nets]
        pairs = [
            (average, current)
            for mean, net in zip(self.averages, nets, strict=True)
            for average, current in zip(_state(mean), _state(net), strict=True)
        ]
        # Statistics such as batch norm's are averaged like weights; counts are taken as they are.
        self.floats = [pair for pair in pairs if pair[0].is_floating_point()]
        self.counts = [pair for pair in pairs if not pair[0].is_floating_point()]

    def after_step(self, step: int) -> None:
        import torch

        new = 1 - ema_decay(self.method.decay, step)
        with torch.no_grad():
            averages, currents = map(list, zip(*self.floats, strict=True))
            torch._foreach_lerp_(averages, currents, new)
            for average, current in self.counts:
                average.copy_(current)

    def served(self) -> list[nn.Module]:
        return self.averages


def _state(net: nn.Module) -> list[torch.Tensor]:
    """Weights and buffers, themselves."""
    return [*net.parameters(), *net.buffers()]


@dataclass
class Ema(Method):
    """Serve the exponential moving average of the weights: decay·average + (1 − decay)·weights.

    After step t the decay is min(decay, (1 + t)/(10 + t)). With 0.999 the average reaches back a
    thousand steps: trainings much shorter than that want less.
    """

    decay: float = 0.999

    grid: ClassVar = {"decay": (0.99, 0.999)}
    fit_class = _Averages

    def check(self) -> None:
        if as_fraction(self.decay, "decay") == 1:
            raise InputError("decay must be below 1: at 1 the weights would never be taken in")

    def simplest(self) -> Method:
        return self if self.decay > 0 else Control()
