"""Stay: train plainly, but serve the base's answer unless the new model is surer by a ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unchurn.core.arrays import Float32
from unchurn.gate.stay import as_ratio, served_probabilities
from unchurn.methods.base import Method
from unchurn.methods.control import Control
from unchurn.methods.reference import SHARED, Need


@dataclass
class Stay(Method):
    """Keep the base's answer, unless its doubt is more than `ratio` times the new model's.

    A model's doubt is 1 minus the probability of its own answer. The base is that of an upgrade.
    Training costs no more, but two models must serve. Outside of a study, `unchurn.Stay(base, new)`
    does the same for any two models; its default ratio of 2, unlike 1 here, puts few bad flips
    before accuracy (docs/upgrade.md has both).
    """

    ratio: float = 1.0

    changes = "targets"
    grid: ClassVar = {"ratio": (0.5, 1.0, 2.0)}

    def check(self) -> None:
        as_ratio(self.ratio)

    def simplest(self) -> Method:
        return self if self.ratio > 0 else Control()

    def note(self) -> str | None:
        return SHARED.format("Stay") if self.ratio > 0 else None

    def trained(self) -> Method:
        return Control()

    def reference(self) -> Need | None:
        return Need(is_fixed=True, serves=True) if self.ratio > 0 else None

    def serve(self, new: Float32, base: Float32) -> Float32:
        if self.ratio == 0:
            return new
        return np.asarray(served_probabilities(base, new, self.ratio), np.float32)
