"""RCP (Fard et al. 2016): move labels towards an older model's predictions where it is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unchurn.core.arrays import Float32, as_fraction
from unchurn.methods.anchor import anchor_labels
from unchurn.methods.base import Method
from unchurn.methods.control import Control
from unchurn.methods.reference import SHARED, Need, Reference


@dataclass
class Rcp(Method):
    """Move labels towards the reference's predictions, but only where it is right.

    Where the reference is right, the targets are (1 − a)·y + a·softmax(reference). Where it is
    wrong, the labels stay, and the example gets the weight `wrong`. The reference is the model in
    production: the base of an upgrade, or the given one. Examples of a class that it does not know
    stay as they are. It keeps less of the reference's behaviour than `anchor`.
    """

    a: float = 0.5
    wrong: float = 0.5

    changes = "targets"
    grid: ClassVar = {"a": (0.2, 0.5, 0.8), "wrong": (0.5, 1.0)}

    def check(self) -> None:
        as_fraction(self.a, "a")
        as_fraction(self.wrong, "wrong")

    def simplest(self) -> Method:
        return Control() if self._is_idle else self

    @property
    def _is_idle(self) -> bool:
        return self.a == 0 and self.wrong == 1

    def note(self) -> str | None:
        return None if self._is_idle else SHARED.format(type(self).__name__)

    def reference(self) -> Need | None:
        return None if self._is_idle else Need(is_fixed=True)

    def targets(self, t: Float32, reference: Reference) -> Float32:
        if self.a == 0:
            return t
        anchored = anchor_labels(t, reference.logits, self.a)
        return np.where(reference.is_right[:, None], anchored, t)

    def weights(self, w: Float32, reference: Reference) -> Float32:
        if self.wrong == 1:
            return w
        is_wrong = ~reference.is_right & reference.may_know
        return np.where(is_wrong, np.float32(self.wrong) * w, w)
