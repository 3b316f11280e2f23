"""Anchor (after Fard et al. 2016): move labels towards an older model's predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unchurn.core.arrays import Float32, as_fraction
from unchurn.methods.base import Method
from unchurn.methods.control import Control
from unchurn.methods.reference import SHARED, Need, Reference


def anchor_labels(t: Float32, reference_logits: Float32, a: float) -> Float32:
    """(1 − a)·t + a·softmax(reference logits), where t are one-hot labels or targets so far."""
    from scipy.special import softmax

    a = as_fraction(a, "a")
    before = softmax(reference_logits.astype(np.float64), axis=1)
    return np.asarray((1 - a) * t + a * before, np.float32)


@dataclass
class Anchor(Method):
    """Move labels towards the reference's predictions: (1 − a)·y + a·softmax(reference).

    The new model answers more like the reference, even where the reference is wrong. In an upgrade
    the reference is the base. In any other study, one reference is trained for all runs, as in the
    paper; with `fixed_reference=False`, every run trains its own. Give a `StableClassifier` your
    production model as `reference`; if you do not, each fit trains a plain one first, at the cost
    of a second training. Without a warm start, short trainings lose accuracy.
    """

    a: float = 0.5  # docs/upgrade.md found that it costs no accuracy
    fixed_reference: bool = True

    changes = "targets"
    grid: ClassVar = {"a": (0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 0.8, 0.9, 1.0)}

    def check(self) -> None:
        as_fraction(self.a, "a")

    def simplest(self) -> Method:
        return self if self.a > 0 else Control()

    def note(self) -> str | None:
        if self.a == 0 or not self.fixed_reference:
            return None
        return SHARED.format("Anchor")

    def reference(self) -> Need | None:
        return Need(is_fixed=self.fixed_reference) if self.a > 0 else None

    def targets(self, t: Float32, reference: Reference) -> Float32:
        if self.a == 0:
            return t
        # Examples of a class that the reference does not know keep their targets.
        anchored = anchor_labels(t, reference.logits, self.a)
        return np.where(reference.may_know[:, None], anchored, t)
