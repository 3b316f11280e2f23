"""Weight decay (Loshchilov & Hutter 2019): every step shrinks the weights a little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unchurn.core.arrays import as_number
from unchurn.methods.base import Method
from unchurn.methods.control import Control


@dataclass
class WeightDecay(Method):
    """Train by AdamW: each step takes away learning rate · strength · weights.

    It costs nothing, and does next to nothing in short trainings.
    """

    strength: float = 0.1

    grid: ClassVar = {"strength": (0.01, 0.1)}

    def check(self) -> None:
        as_number(self.strength, 0, "strength")

    def simplest(self) -> Method:
        return self if self.strength > 0 else Control()

    def weight_decay(self) -> float:
        return self.strength
