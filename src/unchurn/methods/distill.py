"""Distil: train one model on the mean predictions of several plain fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unchurn.core.arrays import Float32, as_fraction
from unchurn.methods.base import Method
from unchurn.methods.control import Control
from unchurn.methods.ensemble import check_size
from unchurn.methods.reference import Need, Reference


def distill_labels(t: Float32, teachers: Sequence[Float32], a: float) -> Float32:
    """(1 − a)·t + a·(mean of the teachers' softmax), where t are labels or targets so far."""
    from scipy.special import softmax

    a = as_fraction(a, "a")
    taught = np.mean([softmax(z.astype(np.float64), axis=1) for z in teachers], axis=0)
    return np.asarray((1 - a) * t + a * taught, np.float32)


@dataclass
class Distill(Method):
    """Move labels towards an ensemble's predictions: (1 − a)·y + a·(mean probabilities of m fits).

    The m fits are plain ones of the same run. It costs m + 1 trainings and serves one model. If
    plain fits memorise their training labels, their mean adds little to the labels. Any learner can
    train it. If a reference is given in their place, examples of a class that it does not know keep
    their labels.
    """

    m: int = 5
    a: float = 1.0

    changes = "targets"
    grid: ClassVar = {"m": (5,), "a": (0.5, 1.0)}

    def check(self) -> None:
        check_size(self.m)
        as_fraction(self.a, "a")

    def simplest(self) -> Method:
        return self if self.a > 0 else Control()

    def reference(self) -> Need | None:
        return Need(m=self.m) if self.a > 0 else None

    def targets(self, t: Float32, reference: Reference) -> Float32:
        if self.a == 0:
            return t
        # Examples of a class that the reference does not know keep their targets.
        taught = distill_labels(t, reference.every(self.m), self.a)
        return np.where(reference.may_know[:, None], taught, t)
