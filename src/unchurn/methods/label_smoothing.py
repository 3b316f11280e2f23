"""Label smoothing (Szegedy et al. 2016): move every label towards the uniform distribution.

For use with any training code, see the function `unchurn.smooth_labels`.
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
    """Move labels towards the uniform distribution: (1 − a)·y + a/L.

    It costs nothing. The paper chose a = 0.8 or 0.9 on its tasks; on other tables that ruins
    accuracy (docs/beyond.md).
    """

    a: float = 0.1

    changes = "targets"
    # The paper gives no grid for label smoothing; this is anchor's.
    grid: ClassVar = {"a": (0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 0.8, 0.9, 1.0)}

    def check(self) -> None:
        as_fraction(self.a, "a")

    def simplest(self) -> Method:
        return self if self.a > 0 else Control()

    def targets(self, t: Float32, reference: Reference) -> Float32:
        return smooth_targets(t, self.a)
