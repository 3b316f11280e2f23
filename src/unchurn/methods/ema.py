"""EMA: serve a moving average of the weights over the steps of training. It costs nothing.

The last steps of training jump about. Averaging over them removes much of what differs between one
seed and the next. The warm-up of the decay is TensorFlow's (Martín Abadi et al. 2016). That an EMA
lowers churn is known from Morales-Brotons et al. (2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unchurn.core.arrays import as_fraction
from unchurn.core.errors import InputError
from unchurn.methods.averaging import Averages
from unchurn.methods.base import Method
from unchurn.methods.control import Control


def ema_decay(decay: float, step: int) -> float:
    """The share of the old average that a step keeps, less in early steps; the first step is 0."""
    return min(decay, (1 + step) / (10 + step))


@dataclass
class Ema(Method):
    """Serve the exponential moving average of the weights: decay·average + (1 − decay)·weights.

    After step t the decay is min(decay, (1 + t)/(10 + t)), so the average reaches back over about a
    tenth of the steps so far; at 0.999, over a thousand steps at most. It costs nothing. While
    training still makes much progress, the average lags behind and can cost accuracy: `safe_ema`
    and `auto_ema` then serve the last weights.
    """

    decay: float = 0.999

    grid: ClassVar = {"decay": (0.99, 0.999)}
    fit_class = Averages

    def check(self) -> None:
        if as_fraction(self.decay, "decay") == 1:
            raise InputError("decay must be below 1: at 1 the weights would never be taken in")

    def simplest(self) -> Method:
        return self if self.decay > 0 else Control()

    def trained(self) -> Method:
        return Control()

    def share(self, step: int, n_steps: int) -> float:
        """The share of a step's weights in the average."""
        return 1 - ema_decay(self.decay, step)
