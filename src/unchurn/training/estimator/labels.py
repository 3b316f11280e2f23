"""Check the labels that a model is fitted to, and the true labels that it is scored against."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from unchurn.core.arrays import Array, is_gap
from unchurn.core.errors import InputError
from unchurn.core.frames import as_frame, is_frame, n_rows
from unchurn.datasets.base import Dataset
from unchurn.datasets.leaks import copies_of
from unchurn.training.learners.base import RemarkWarning, levels_up


def given_labels(y: Any, name: str, x: Any, of: str) -> Array:
    """The labels of rows as an array (n,), checked to be classes; a column (n, 1) warns."""
    check_no_gaps(y, name)
    labels: Array = column_or_1d(np.asarray(y), warn=True)
    if len(labels) != (n := n_rows(x)):
        raise InputError(f"{of} has {n:,} rows and {name} {len(labels):,} labels")
    if not len(labels):
        raise InputError(f"{of} has no rows")
    check_classes(labels)
    return labels


def check_classes(labels: Array) -> None:
    """Refuse labels that are not classes, such as numbers with fractions, or of several kinds."""
    if labels.dtype.kind == "O" and len({isinstance(label, str) for label in labels}) > 1:
        named = " and ".join(sorted({type(label).__name__ for label in labels}))
        raise InputError(f"y has labels of several types, {named}: give one, as by y.astype(str)")
    try:
        check_classification_targets(labels)
    except ValueError as error:
        raise InputError(
            f"{error} Classes are whole numbers, text or booleans: y.astype(str)"
        ) from error


def warn_of_labels_in(x: Any, labels: Array) -> None:
    """Warn if a column of the frame to learn from is a copy of the labels."""
    import polars as pl

    if not is_frame(x):
        return
    target = pl.Series(labels if labels.dtype.kind == "b" else labels.astype(str))
    for name in copies_of(target, as_frame(x)):
        warnings.warn(
            f"column {name!r} of X is y itself: drop it, or the model learns nothing else",
            RemarkWarning,
            stacklevel=levels_up(),
        )


def check_no_gaps(y: Any, name: str = "y") -> None:
    """Refuse missing labels (None, NaN, pandas' NA and NaT); `y=None` itself passes."""
    if y is None:  # scikit-learn refuses that
        return
    array = np.atleast_1d(np.asarray(y))
    if array.dtype.kind in "biuUS":
        return
    if array.dtype.kind == "O":
        gaps = np.array([is_gap(value) for value in array.ravel()]).reshape(array.shape)
    else:
        gaps = np.isnan(array)
    if gaps.any():
        rows = gaps.reshape(len(gaps), -1).any(axis=1)
        n, first = int(rows.sum()), int(rows.argmax())
        raise InputError(f"{name} has {n} missing value(s), first in row {first}: drop these rows")


def labels_of_test_part(data: Dataset, classes: Array) -> Array:
    """The true labels of a dataset's test part, written as a model with these classes writes them.

    They are class numbers if the model was fitted to class numbers.
    """
    is_text = _are_text(classes)
    labels = np.array(data.classes) if is_text else data.labels
    is_known = is_text or set(classes.tolist()) <= set(labels.tolist())
    return labels[data.y_test] if is_known else data.y_test


def _are_text(classes: Array) -> bool:
    """Whether all classes are text, also in an array of objects, as pandas gives it."""
    return all(isinstance(name, str) for name in classes.tolist())


def check_true_labels(y: Any, classes: Array, *, is_of_table: bool) -> None:
    """Refuse gaps, and numbers for classes that are text; warn of probable class numbers."""
    check_no_gaps(y)
    given = np.asarray(y)
    if given.dtype.kind not in "iu":
        return
    if _are_text(classes):
        raise InputError("y has numbers, and the classes have names: give a dataset alone")
    unknown = np.setdiff1d(given, classes)
    if is_of_table and unknown.size and given.max() < len(classes):
        warnings.warn(
            f"y has {unknown[0]}, which is none of the classes {classes.tolist()}: of class "
            "numbers, as y_test of a dataset has them, give the dataset alone",
            RemarkWarning,
            stacklevel=levels_up(),
        )
