"""Ensemble: the average of m independent models. The most stable, at m times the cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unchurn.core.arrays import as_whole
from unchurn.methods.base import Method
from unchurn.methods.control import Control


@dataclass
class Ensemble(Method):
    """m plain fits, each with its own initialisation and batch order; probabilities averaged."""

    m: int = 5

    only_targets: ClassVar[bool] = True
    grid: ClassVar = {"m": (3, 5)}

    def check(self) -> None:
        as_whole(self.m, 1, "m")

    def simplest(self) -> Method:
        return self if self.m > 1 else Control()

    @property
    def n_members(self) -> int:
        return self.m
