"""Read the rows of `upgrade`: rows to train on, and rows to compare the two models on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unchurn.core.arrays import Array, Float32, IntArray
from unchurn.core.errors import InputError, unknown
from unchurn.core.frames import as_frame, is_frame, taken
from unchurn.datasets.base import Dataset, split
from unchurn.methods.reference import Mask
from unchurn.training.estimator.budget import earlier
from unchurn.training.estimator.checks import as_mask, as_weights
from unchurn.training.estimator.labels import given_labels
from unchurn.training.learners.base import RemarkWarning, levels_up

TEST_SIZE = 0.25  # share of the rows held out for testing if no test rows are given


@dataclass(frozen=True, kw_only=True)
class UpgradeRows:
    """Rows to train on, their labels, and what is known of them."""

    x: Any
    labels: Array
    saw: Mask | None  # true for rows that the base was trained on; None if unknown
    weights: Float32 | None
    data: Dataset | None = None  # the dataset whose training part they are
    is_warned: bool = False  # the user, that the base may have seen the rows it is judged on

    @property
    def classes(self) -> Array:
        """The classes that a model can learn from these rows."""
        if self.data is None:
            return np.unique(self.labels)
        return self.data.labels[np.unique(self.data.y_train)]  # in the data's order: 2 before 10

    def take(self, rows: IntArray) -> UpgradeRows:
        """Some of the rows."""
        return replace(
            self,
            x=taken(self.x, rows),
            labels=self.labels[rows],
            saw=None if self.saw is None else self.saw[rows],
            weights=None if self.weights is None else self.weights[rows],
            data=None if self.data is None else self.data.trained_on(rows),
        )

    @property
    def examples(self) -> tuple[Any, Array | None]:
        """The arguments of `StableClassifier.fit`: X and y, or a dataset alone."""
        return (self.x, self.labels) if self.data is None else (self.data, None)


def given_rows(
    x: Any, y: Any, x_test: Any, y_test: Any, *, saw: Any, weights: Any
) -> tuple[UpgradeRows, tuple[Any, Array]]:
    """Rows to train on, and rows and labels to compare on, from arrays, frames or a dataset."""
    if not isinstance(x, Dataset):
        return _of_rows(x, y, x_test, y_test, saw=saw, weights=weights)
    if any(given is not None for given in (y, x_test, y_test, saw)):
        raise InputError("a dataset has labels and a test part of its own: give X and y")
    return _of_dataset(x, weights)


def _of_dataset(data: Dataset, weights: Any) -> tuple[UpgradeRows, tuple[Array, Array]]:
    """A dataset's training part, and its test part: inputs and labels."""
    saw = None
    if data.order is not None:  # a table's rows were shuffled; those that came last are new
        _warn_of_seen("X and y with base_saw")
        saw = earlier(data.y_train, data.order[: len(data.y_train)])
    train = UpgradeRows(
        x=data.x_train,
        labels=data.labels[data.y_train],
        saw=saw,
        weights=None if weights is None else as_weights(weights, len(data.y_train)),
        data=data,
        is_warned=saw is not None,
    )
    return train, (data.x_test, data.labels[data.y_test])


def _of_rows(
    x: Any, y: Any, x_test: Any, y_test: Any, *, saw: Any, weights: Any
) -> tuple[UpgradeRows, tuple[Any, Array]]:
    """Rows to train on, and rows and labels to compare on.

    If no test rows are given, a quarter of the rows that the base has not seen is held out.
    """
    if y is None or isinstance(y, str):
        raise InputError("which are the labels? Give y, or a frame and target= of a column")
    if (x_test is None) != (y_test is None):
        raise InputError("give X_test and y_test, or neither")
    labels = given_labels(y, "y", x, "X")
    every = UpgradeRows(
        x=x,
        labels=labels,
        saw=None if saw is None else as_mask(saw, len(labels), "base_saw"),
        weights=None if weights is None else as_weights(weights, len(labels)),
        is_warned=saw is None and x_test is None,
    )
    if x_test is not None:
        return every, (x_test, given_labels(y_test, "y_test", x_test, "X_test"))
    unseen = np.arange(len(labels)) if every.saw is None else np.flatnonzero(~every.saw)
    if len(unseen) == 0:
        raise InputError("the base has seen every row: give X_test and y_test")
    if every.is_warned:
        _warn_of_seen("base_saw")
    try:
        _, test, _, held = split(unseen, labels[unseen], test_size=TEST_SIZE, stratify=True)
    except ValueError as error:  # too few rows for every class to be in both parts
        raise InputError(
            f"give X_test and y_test: too few rows to hold some out ({error})"
        ) from error
    return every.take(np.setdiff1d(np.arange(len(labels)), test)), (taken(x, test), held)


def without_target(frame: Any, target: str, y: Any) -> tuple[Any, Array]:
    """The frame without its column of labels, and the labels."""
    if not is_frame(frame):
        raise InputError(
            f"target= is a column of a frame, and X is {type(frame).__name__}: a file is read "
            "before, as by pandas.read_csv"
        )
    if y is not None:
        raise InputError("give y, or target= of a column, not both")
    if target not in frame.columns:
        raise InputError(unknown("column", target, map(str, frame.columns)))
    labels = as_frame(frame)[str(target)]
    if gaps := labels.null_count():
        raise InputError(f"target {target!r} has {gaps} missing value(s): drop these rows")
    rest = frame.drop(columns=target) if hasattr(frame, "iloc") else frame.drop(target)
    return rest, np.array(labels.to_list())  # with a proper type even if pandas' is object


def _warn_of_seen(how: str) -> None:
    """Warn that the comparison may flatter the base, and how to say which rows it has seen."""
    warnings.warn(
        "the base may have seen the rows that it is judged on, and then gets too many of them "
        f"right: give {how}, or X_test and y_test",
        RemarkWarning,
        stacklevel=levels_up(),
    )
