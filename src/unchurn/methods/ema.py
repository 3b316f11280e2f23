"""EMA: the weights that serve are a moving average over the steps of training. It costs nothing.

Averaging what the last steps jump about takes out much of what one seed does otherwise than the
next. Decay with warm-up as Martín Abadi et al. (TensorFlow, 2016) have it; that it lowers churn:
Morales-Brotons et al. (2024).
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
    """The share of the average that a step keeps (the first step is 0): less in early steps."""
    return min(decay, (1 + step) / (10 + step))


@dataclass
class Ema(Method):
    """Serve the exponential moving average of the weights: decay·average + (1 − decay)·weights.

    After step t the decay is min(decay, (1 + t)/(10 + t)): the average reaches back a tenth of the
    steps so far, at 0.999 a thousand steps at most.
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
