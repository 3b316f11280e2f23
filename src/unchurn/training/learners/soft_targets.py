"""Fit estimators with scikit-learn's interface to soft targets, as weighted copies of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from unchurn.core.arrays import Array, Float32, IntArray
from unchurn.core.errors import InputError
from unchurn.core.frames import taken
from unchurn.training.learners.class_weights import (
    are_alike,
    class_weights,
    without_class_weights,
)

STOPS_EARLY_ABOVE = 10_000  # rows, by scikit-learn's early_stopping="auto"


def fit_to_targets(model: Any, x: Any, targets: Float32, classes: Array) -> None:
    """Fit an estimator to rows, of an array or a frame, whose (n, L) targets may be soft."""
    is_hard = (targets.max(axis=1) == 1).all() and (np.count_nonzero(targets, axis=1) == 1).all()
    if not is_hard and (reason := why_no_weights(model)):
        raise InputError(f"{reason}, which weights and rows without labels need: leave them out")
    try:
        if is_hard:  # fit as without unchurn
            model.fit(x, classes[targets.argmax(axis=1)])
        else:  # with weights of rows in the targets, those of classes among them
            with without_class_weights(model):
                _fit_to_weighted_rows(model, x, targets, classes)
    except (ValueError, TypeError) as error:  # the estimator rejects its parameters or data
        what = " ".join(str(error).split())
        raise InputError(f"{type(model).__name__}: {what}") from error


def _fit_to_weighted_rows(model: Any, x: Any, targets: Float32, classes: Array) -> None:
    """Fit to a row for every class with a nonzero target, as `weighted_rows`; X may be a frame.

    Steps of a pipeline before the last take no weights, so they are fitted to each row once, with
    its likeliest class. A row for every class would hide from them what tells classes apart.
    """
    if isinstance(model, Pipeline):
        if len(model.steps) > 1:
            used = np.flatnonzero(targets.any(axis=1))
            steps, targets = model[:-1], targets[used]
            x = steps.fit_transform(taken(x, used), classes[targets.argmax(axis=1)])
            model.steps[:-1] = steps.steps  # others than the model's if the pipeline has a memory
        _fit_to_weighted_rows(model.steps[-1][1], x, targets, classes)
        return
    rows = np.flatnonzero(targets.any(axis=1))
    if isinstance(model, HistGradientBoostingClassifier):
        _fit_boosting(model, x, targets, classes, rows)
        return
    x, labels, weights = _copies(x, targets, classes, rows)
    model.fit(x, labels, sample_weight=weights)


def _copies(x: Any, targets: Float32, classes: Array, rows: IntArray) -> tuple[Any, Array, Float32]:
    """Some rows, each once for every class with a nonzero target; their labels and weights."""
    place, label = np.nonzero(targets[rows])
    row = rows[place]
    return taken(x, row), classes[label], targets[row, label]


def _fit_boosting(
    model: HistGradientBoostingClassifier, x: Any, targets: Float32, classes: Array, rows: IntArray
) -> None:
    """Fit scikit-learn's histogram boosting, which may stop early by the loss on a part of them.

    Left to itself, it would take copies of a row for rows: it would stop early from half as many on
    as users expect, and, with copies of one row in both parts, too soon.
    """
    asked, held = model.early_stopping, {}
    stops = len(rows) > STOPS_EARLY_ABOVE if asked == "auto" else asked
    if stops and model.validation_fraction is not None and has_fit_parameter(model, "X_val"):
        rows, others = train_test_split(
            rows, test_size=model.validation_fraction, random_state=model.random_state
        )
        known = np.where(targets[rows].any(axis=0), targets, np.float32(0))
        names = ("X_val", "y_val", "sample_weight_val")
        held = dict(zip(names, _copies(x, known, classes, others), strict=True))
    x, labels, weights = _copies(x, targets, classes, rows)
    try:
        model.early_stopping = stops
        model.fit(x, labels, sample_weight=weights, **held)
    finally:
        model.early_stopping = asked


def why_no_weights(estimator: Any) -> str | None:
    """Why an estimator cannot be fitted to weighted copies of rows; None if it can.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> why_no_weights(make_pipeline(KNeighborsClassifier()))
    'KNeighborsClassifier.fit takes no sample_weight'
    """
    if not are_alike(class_weights(estimator)):
        return f"the parts of {type(estimator).__name__} have different class weights"
    if isinstance(estimator, Pipeline):
        return why_no_weights(estimator.steps[-1][1])
    if isinstance(estimator, StackingClassifier):
        return "StackingClassifier would cross-validate with copies of a row on both sides"
    given = [estimator]
    if isinstance(estimator, VotingClassifier):  # hands them on to its members
        given = [member for _, member in estimator.estimators if member != "drop"]
    elif isinstance(estimator, CalibratedClassifierCV) and estimator.estimator is not None:
        # It takes them in any case, but then trains what it calibrates without them.
        given = [estimator.estimator]
    without = [type(one).__name__ for one in given if not has_fit_parameter(one, "sample_weight")]
    return f"{without[0]}.fit takes no sample_weight" if without else None
