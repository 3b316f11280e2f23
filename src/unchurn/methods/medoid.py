"""Medoid (Xie et al. 2021): of several fits, serve the most typical instead of the luckiest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unchurn.core.arrays import Float32, as_fraction
from unchurn.core.errors import InputError
from unchurn.methods.base import Method
from unchurn.methods.control import Control
from unchurn.methods.ensemble import check_size


def nearest_to_mean(probabilities: Sequence[Float32]) -> int:
    """Which of several models is nearest to their mean, by mean squared difference; the first.

    >>> nearest_to_mean([np.array([[0.0]]), np.array([[0.5]]), np.array([[0.9]])])
    1
    """
    every = np.asarray(probabilities, np.float64)
    distances = ((every - every.mean(axis=0)) ** 2).mean(axis=tuple(range(1, every.ndim)))
    return int(distances.argmin())


@dataclass
class Medoid(Method):
    """m fits that all hold out the same `part`; the one nearest to their mean on it serves.

    One model is served, for m trainings. Any learner can train it.
    """

    m: int = 5
    part: float = 0.2

    changes = "targets"
    grid: ClassVar = {"m": (5,)}

    def check(self) -> None:
        check_size(self.m)
        if not 0 < as_fraction(self.part, "part") < 1:
            raise InputError(f"part must be above 0 and below 1, not {self.part}")

    def simplest(self) -> Method:
        return self if self.m > 1 else Control()

    def candidates(self) -> Sequence[Method]:
        return (Control(),) * self.m

    def pick(self, held: Sequence[Float32]) -> int:
        return nearest_to_mean(held)

    def holds_out(self) -> float:
        return self.part if self.m > 1 else 0.0
