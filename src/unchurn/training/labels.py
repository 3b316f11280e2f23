"""True labels that a model is scored against: the values of its classes, not their numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.datasets.base import Dataset
from unchurn.training.learners.base import RemarkWarning


def labels_of_test_part(data: Dataset, classes: Array) -> Array:
    """The true labels of a dataset's test part, as a model with these classes tells them.

    They are class numbers if it was fitted to these.
    """
    is_text = classes.dtype.kind == "U"
    labels = np.array(data.classes) if is_text else data.labels
    is_known = is_text or set(classes.tolist()) <= set(labels.tolist())
    return labels[data.y_test] if is_known else data.y_test


def check_true_labels(y: Any, classes: Array, *, is_of_table: bool) -> None:
    """Refuse class numbers where the classes are text; warn where they may be mistaken for them."""
    given = np.asarray(y)
    if given.dtype.kind not in "iu":
        return
    if classes.dtype.kind == "U":
        raise InputError("y has numbers, and the classes have names: give a dataset alone")
    unknown = np.setdiff1d(given, classes)
    if is_of_table and unknown.size and given.max() < len(classes):
        warnings.warn(
            f"y has {unknown[0]}, which is none of the classes {classes.tolist()}: of class "
            "numbers, as y_test of a dataset has them, give the dataset alone",
            RemarkWarning,
            stacklevel=3,
        )
