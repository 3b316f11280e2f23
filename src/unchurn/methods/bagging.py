"""Bagging (Breiman 1996): an ensemble whose members each see a bootstrap of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unchurn.core.arrays import as_whole
from unchurn.methods.base import Method, Rows
from unchurn.methods.ensemble import Ensemble


@dataclass
class Bootstrap(Method):
    """One fit on as many examples as there are, drawn with replacement."""

    changes = "targets"

    def sample(self, rng: np.random.Generator, n: int) -> Rows | None:
        return rng.integers(n, size=n)


@dataclass
class Bagging(Ensemble):
    """m fits, each on a bootstrap of its own; their probabilities are averaged.

    Others found that it helps against churn that comes from the data rather than the seed, where an
    ensemble of fits on the same data does not. Any learner can train it.
    """

    def check(self) -> None:
        super().check()
        as_whole(self.m, 2, "m")  # one bootstrap is no bag

    def simplest(self) -> Method:
        return self

    def members(self) -> Sequence[Method]:
        return (Bootstrap(),) * self.m
