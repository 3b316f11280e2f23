"""Weight decay (Loshchilov & Hutter 2019): every step takes a little off the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unchurn.core.arrays import as_number
from unchurn.methods.base import Method
from unchurn.methods.control import Control


@dataclass
class WeightDecay(Method):
    """AdamW: each step takes learning rate · strength · weights away."""

    strength: float = 0.1

    grid: ClassVar = {"strength": (0.01, 0.1)}

    def check(self) -> None:
        as_number(self.strength, 0, "strength")

    def simplest(self) -> Method:
        return self if self.strength > 0 else Control()

    def weight_decay(self) -> float:
        return self.strength
