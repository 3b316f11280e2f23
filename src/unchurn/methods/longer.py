"""Longer: train for more epochs, for a fair comparison with a warm start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unchurn.core.arrays import as_number
from unchurn.methods.base import Method
from unchurn.methods.control import Control


@dataclass
class Longer(Method):
    """Train for `times` as many epochs, rounded; the training costs that much more.

    Compare a warm start with this: a warm-started model has in effect been trained for longer, and
    longer plain training may gain the same.
    """

    times: float = 1.5

    grid: ClassVar = {"times": (1.5, 2.0)}

    def check(self) -> None:
        as_number(self.times, 1, "times")

    def simplest(self) -> Method:
        return self if self.times > 1 else Control()

    def epochs(self, epochs: int) -> int:
        return round(self.times * epochs)
