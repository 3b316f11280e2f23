"""Anchor (after Fard et al. 2016): labels move towards an older model's predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unchurn.core.arrays import Float32, as_fraction
from unchurn.methods.base import Method
from unchurn.methods.control import Control
from unchurn.methods.reference import Need, Reference


def anchor_labels(t: Float32, reference_logits: Float32, a: float) -> Float32:
    """(1 − a)·t + a·softmax(reference logits), where t are labels or targets so far."""
    from scipy.special import softmax

    a = as_fraction(a, "a")
    before = softmax(reference_logits.astype(np.float64), axis=1)
    return np.asarray((1 - a) * t + a * before, np.float32)


@dataclass
class Anchor(Method):
    """Train on (1 − a)·y + a·softmax(reference).

    In an experiment, one reference is trained and serves all runs, as in the paper, unless
    `fixed_reference` is off; in an upgrade it is the base. On its own, a fit trains its own: to fix
    it, give the model that is live in production as the reference.
    """

    a: float = 0.5  # what docs/upgrade.md found to cost no accuracy
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
        return "Anchor's runs share one reference, as in the paper: not quite independent."

    def reference(self) -> Need | None:
        return Need(is_fixed=self.fixed_reference) if self.a > 0 else None

    def targets(self, t: Float32, reference: Reference) -> Float32:
        if self.a == 0:
            return t
        # Of a class that the reference does not know, it has nothing to say.
        anchored = anchor_labels(t, reference.logits, self.a)
        return np.where(reference.may_know[:, None], anchored, t)
