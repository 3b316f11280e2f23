"""Label smoothing (Szegedy et al. 2016): every label moves the same way towards uniform.

The pure function is `unchurn.smooth_labels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unchurn.core.arrays import Float32, as_fraction
from unchurn.methods.base import Method
from unchurn.methods.control import Control
from unchurn.methods.reference import Reference
from unchurn.neighbors.soft_labels import smooth_targets


@dataclass
class LabelSmoothing(Method):
    """Train on (1 − a)·y + a/L.

    The paper chose a = 0.8 or 0.9 on its tasks; on other tables that is ruinous (docs/beyond.md).
    """

    a: float = 0.1

    changes = "targets"
    # The paper gives no grid for label smoothing; it is anchor's.
    grid: ClassVar = {"a": (0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 0.8, 0.9, 1.0)}

    def check(self) -> None:
        as_fraction(self.a, "a")

    def simplest(self) -> Method:
        return self if self.a > 0 else Control()

    def targets(self, t: Float32, reference: Reference) -> Float32:
        return smooth_targets(t, self.a)
