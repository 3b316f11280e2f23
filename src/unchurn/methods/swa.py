"""SWA (Izmailov et al. 2018): serve the plain average of the weights in the last part of training.

The paper's schedule of the learning rate is not part of it: here the rate stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unchurn.core.arrays import as_fraction
from unchurn.methods.averaging import Averages
from unchurn.methods.base import Method
from unchurn.methods.control import Control


@dataclass
class Swa(Method):
    """Serve the mean of the weights after each step of the last `part` of training."""

    part: float = 0.25

    grid: ClassVar = {"part": (0.25, 0.5)}
    fit_class = Averages

    def check(self) -> None:
        as_fraction(self.part, "part")

    def simplest(self) -> Method:
        return self if self.part > 0 else Control()

    def trained(self) -> Method:
        return Control()

    def share(self, step: int, n_steps: int) -> float:
        """A step's weights count as much as each one's before it; the last are always there."""
        first = min(int((1 - self.part) * n_steps), n_steps - 1)
        return 0.0 if step < first else 1 / (1 + step - first)
