"""Medoid (Xie et al. 2021): train several models, and serve the most typical one."""

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
    """The position of the model nearest to the mean of all, by mean squared difference.

    If several are equally near, the first.

    >>> nearest_to_mean([np.array([[0.0]]), np.array([[0.5]]), np.array([[0.9]])])
    1
    """
    every = np.asarray(probabilities, np.float64)
    distances = ((every - every.mean(axis=0)) ** 2).mean(axis=tuple(range(1, every.ndim)))
    return int(distances.argmin())


@dataclass
class Medoid(Method):
    """Train m fits, and serve the one whose predictions are nearest to the mean of all.

    All fits hold out the same share `part` of the examples, on which they are compared; these
    examples are missed in training. It costs m trainings and serves one model. Any learner can
    train it.
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
