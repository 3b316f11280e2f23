"""k-NN label smoothing, the paper's own method: labels move towards their neighbours' labels.

The pure functions are `unchurn.knn_labels` and `unchurn.knn_smooth_labels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unchurn.core.arrays import as_fraction, as_whole
from unchurn.methods.base import Float32, Method, Reference
from unchurn.methods.label_smoothing import LabelSmoothing
from unchurn.neighbors.soft_labels import blend_knn_labels, smooth_labels


@dataclass
class KnnLS(Method):
    """Train on (1 − a)·y + a·(b/L + (1 − b)·η_k), neighbours taken among the reference's logits.

    In an experiment, the reference is trained anew in every run (the paper's Algorithm 1 contains
    it), unless `fixed_reference`.
    """

    k: int = 10
    a: float = 0.9
    b: float = 0.9
    fixed_reference: bool = False

    only_targets: ClassVar[bool] = True
    grid: ClassVar = {
        "k": (5, 10, 100, 500),
        "a": (0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 0.8, 0.9, 1.0),
        "b": (0.0, 0.05, 0.1, 0.5, 0.9),
    }

    def check(self) -> None:
        as_whole(self.k, 1, "k")
        as_fraction(self.a, "a")
        as_fraction(self.b, "b")

    @property
    def uses_reference(self) -> bool:
        return self.a > 0 and self.b < 1  # else the neighbours have no weight

    @property
    def reference_k(self) -> int | None:
        return self.k if self.uses_reference else None

    @property
    def reference_is_fixed(self) -> bool:
        return self.fixed_reference

    def simplest(self) -> Method:
        return self if self.uses_reference else LabelSmoothing(self.a).simplest()

    def targets(self, y: Float32, reference: Reference) -> Float32:
        labels, n_classes = y.argmax(axis=1), y.shape[1]
        if not self.uses_reference:
            return smooth_labels(labels, self.a, n_classes=n_classes)
        knn = reference.knn_labels(self.k, n_classes)
        return blend_knn_labels(knn, labels, a=self.a, b=self.b)
