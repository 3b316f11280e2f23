"""k-NN label smoothing, the paper's own method: move labels towards their neighbours' labels.

For use with any training code, see the functions `unchurn.knn_labels` and
`unchurn.knn_smooth_labels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unchurn.core.arrays import Float32, as_fraction, as_whole
from unchurn.methods.base import Method
from unchurn.methods.label_smoothing import LabelSmoothing
from unchurn.methods.reference import SHARED, Need, Reference
from unchurn.neighbors.soft_labels import blend_knn_targets, smooth_targets


@dataclass
class KnnLS(Method):
    """Move labels towards their neighbours' labels: (1 − a)·y + a·(b/L + (1 − b)·η_k).

    η_k is the mean label of the k nearest neighbours of an example, in the space of the reference's
    logits. In a study, every run trains a reference of its own, as in the paper's Algorithm 1; with
    `fixed_reference=True`, all runs share one. It costs two trainings and serves one model. The
    paper chose a from 0.5 to 1 on its tasks; on other tables that ruins accuracy (docs/beyond.md).
    """

    k: int = 10
    a: float = 0.1
    b: float = 0.1
    fixed_reference: bool = False

    changes = "targets"
    grid: ClassVar = {
        "k": (5, 10, 100, 500),
        "a": (0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 0.8, 0.9, 1.0),
        "b": (0.0, 0.05, 0.1, 0.5, 0.9),
    }

    def check(self) -> None:
        as_whole(self.k, 1, "k")
        as_fraction(self.a, "a")
        as_fraction(self.b, "b")

    def simplest(self) -> Method:
        return self if self.reference() else LabelSmoothing(self.a).simplest()

    def note(self) -> str | None:
        if self.reference() is None or not self.fixed_reference:
            return None
        return SHARED.format("knn_ls")

    def reference(self) -> Need | None:
        if self.a == 0 or self.b == 1:  # the neighbours have no weight
            return None
        return Need(is_fixed=self.fixed_reference, ks=(self.k,))

    def targets(self, t: Float32, reference: Reference) -> Float32:
        if self.reference() is None:
            return smooth_targets(t, self.a)
        knn = reference.knn_labels(self.k, t.shape[1])
        return blend_knn_targets(knn, t, a=self.a, b=self.b)
