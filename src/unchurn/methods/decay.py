"""Decay: lower the learning rate along a cosine (Loshchilov & Hutter 2017), so training settles.

At a constant rate the last steps still jump about, and chance decides where they stop.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from unchurn.core.arrays import as_fraction
from unchurn.methods.base import Method
from unchurn.methods.control import Control


def cosine_decay(progress: float, final: float = 0.0) -> float:
    """The factor of the learning rate: from 1 at the start to `final` at the end.

    >>> cosine_decay(0), cosine_decay(0.5), cosine_decay(1)
    (1.0, 0.5, 0.0)
    """
    return final + (1 - final) * (1 + math.cos(math.pi * progress)) / 2


@dataclass
class Decay(Method):
    """Lower the learning rate along a cosine, to `final` times its initial value.

    It costs nothing to train or serve, but short trainings lose accuracy. `final=1` changes
    nothing.
    """

    final: float = 0.0

    grid: ClassVar = {"final": (0.0,)}

    def check(self) -> None:
        as_fraction(self.final, "final")

    def simplest(self) -> Method:
        return self if self.final < 1 else Control()

    def learning_rate(self, progress: float) -> float:
        return cosine_decay(progress, self.final)
