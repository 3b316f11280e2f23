"""SWA (Izmailov et al. 2018): serve the mean of the weights in the last part of training.

The paper's schedule of the learning rate is left out: here the rate stays as it is.
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
    """Serve the mean of the weights over all steps of the last `part` of training.

    It costs nothing. As with `ema`, the mean lags behind a training that still makes progress, and
    a long part averages in weights that had not learned yet.
    """

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
        """The share that makes all steps count equally; the last step is always included."""
        first = min(int((1 - self.part) * n_steps), n_steps - 1)
        return 0.0 if step < first else 1 / (1 + step - first)
