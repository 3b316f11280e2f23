"""Soft targets: labels moved towards uniform (label smoothing) or towards their neighbours (k-NN).

All targets are (n, L) float32, and their rows sum to 1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Float32, IntArray, as_array, as_classes, as_fraction
from unchurn.core.errors import InputError

# Below this mean off-label mass, neighbours hardly tell more than the label itself.
MEMORISED = 0.01


def smooth_labels(labels: npt.ArrayLike, a: float, *, n_classes: int) -> Float32:
    """Smooth labels towards the uniform distribution: (1 − a)·y + a/L.

    >>> smooth_labels([0, 1], a=0.5, n_classes=2)
    array([[0.75, 0.25],
           [0.25, 0.75]], dtype=float32)
    """
    return smooth_targets(_one_hot(as_classes(labels, n_classes), n_classes), a)


def smooth_targets(t: Float32, a: float) -> Float32:
    """Smooth one-hot labels, or targets that are soft already: (1 − a)·t + a/L."""
    a = as_fraction(a, "a")
    return t * np.float32(1 - a) + np.float32(a / t.shape[1])


def blend_knn_labels(knn: npt.ArrayLike, labels: npt.ArrayLike, *, a: float, b: float) -> Float32:
    """Smooth labels with given k-NN labels η: (1 − a)·y + a·(b/L + (1 − b)·η).

    `a` is the weight of smoothing against the label, `b` that of global against local smoothing.
    """
    eta = _as_knn(knn)
    classes = as_classes(labels, eta.shape[1], n=len(eta))
    return blend_knn_targets(eta, _one_hot(classes, eta.shape[1]), a=a, b=b)


def blend_knn_targets(eta: Float32, t: Float32, *, a: float, b: float) -> Float32:
    """Like `blend_knn_labels`, for one-hot labels or targets that are soft already."""
    a, b = as_fraction(a, "a"), as_fraction(b, "b")
    targets = eta * np.float32(a * (1 - b))
    targets += np.float32(a * b / eta.shape[1])
    targets += t * np.float32(1 - a)
    return targets


def knn_smooth_labels(
    logits: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    k: int,
    a: float,
    b: float,
    n_classes: int | None = None,
) -> Float32:
    """Smooth labels towards their neighbours': the paper's soft targets, from a model's logits.

    The targets are (1 − a)·y + a·(b/L + (1 − b)·η), where η is the mean label of the k nearest
    neighbours by the logits (`knn_labels`).

    Parameters
    ----------
    logits
        (n, L) logits of the training examples, from a reference model. A single column (the margin
        of a binary model) means two classes.
    labels
        n class numbers, 0 … L − 1.
    k, a, b
        The number of neighbours; the weight of smoothing against the label; the weight of global
        against local smoothing.
    n_classes
        L, if it is not the number of logit columns.

    Examples
    --------
    >>> logits = [[4.0, 0.0], [4.1, 0.0], [4.2, 0.0], [0.0, 4.0], [0.0, 4.1], [0.0, 4.2]]
    >>> knn_smooth_labels(logits, labels=[0, 0, 1, 1, 1, 1], k=3, a=0.75, b=0)  # row 2 is doubtful
    array([[0.75, 0.25],
           [0.75, 0.25],
           [0.5 , 0.5 ],
           [0.  , 1.  ],
           [0.  , 1.  ],
           [0.  , 1.  ]], dtype=float32)
    """
    from unchurn.neighbors import knn_labels

    as_fraction(a, "a"), as_fraction(b, "b")  # before the search, which may take minutes
    array = as_array(logits, "logits")
    if n_classes is None:
        n_classes = max(array.shape[1], 2) if array.ndim == 2 else 2
    return blend_knn_labels(knn_labels(array, labels, k, n_classes=n_classes), labels, a=a, b=b)


@dataclass(frozen=True, kw_only=True)
class OffLabelMass:
    """How much of the k-NN labels lies on classes other than the example's own, over all examples.

    Near 0, the reference has memorised its labels, and neighbours only repeat them.
    """

    mean: float
    median: float
    p90: float
    p99: float
    max: float
    nonzero: float  # fraction of examples with any neighbour of another class

    @property
    def memorised(self) -> bool:
        """Whether k-NN smoothing can do little more here than global smoothing."""
        return self.mean < MEMORISED

    def to_dict(self) -> dict[str, float | bool]:
        """All numbers, as fractions, and `memorised`."""
        return {**asdict(self), "memorised": self.memorised}

    def __str__(self) -> str:
        text = (
            f"off-label mass: mean {self.mean:.2%}, median {self.median:.2%}, "
            f"90th percentile {self.p90:.2%}, 99th {self.p99:.2%}, max {self.max:.2%}; "
            f"{self.nonzero:.2%} of examples have a neighbour of another class"
        )
        if self.memorised:
            text += (
                f"\nbelow {MEMORISED:.0%}: the neighbours all but repeat the labels (the reference "
                "has memorised them, or k is small), so that k-NN smoothing can do little more "
                "here than global smoothing. Try a larger k, or logits of a shorter training or of "
                "held-out folds."
            )
        return text


def off_label_mass(knn: npt.ArrayLike, labels: npt.ArrayLike) -> OffLabelMass:
    """Measure how much k-NN labels add: the mass 1 − η_k(x)[label of x], its mean and quantiles.

    >>> off_label_mass([[1.0, 0.0], [0.25, 0.75]], labels=[0, 1]).mean
    0.125
    """
    eta = _as_knn(knn)
    classes = as_classes(labels, eta.shape[1], n=len(eta))
    mass = 1 - eta[np.arange(classes.size), classes].astype(np.float64)
    median, p90, p99 = (float(q) for q in np.quantile(mass, (0.5, 0.9, 0.99)))
    return OffLabelMass(
        mean=float(mass.mean()),
        median=median,
        p90=p90,
        p99=p99,
        max=float(mass.max()),
        nonzero=float((mass > 0).mean()),
    )


def _one_hot(classes: IntArray, n_classes: int) -> Float32:
    """One-hot rows for class numbers."""
    return np.eye(n_classes, dtype=np.float32)[classes]


def _as_knn(knn: npt.ArrayLike) -> Float32:
    """The k-NN labels as (n, L) float32, checked."""
    eta = as_array(knn, "knn")
    if eta.ndim != 2 or 0 in eta.shape:
        raise InputError(f"k-NN labels must be (n, L), not {eta.shape}")
    return eta.astype(np.float32, copy=False)
