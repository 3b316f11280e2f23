"""Check the inputs of a StableClassifier, and remember the columns that it was fitted to.

Arrays are checked by scikit-learn. A frame's columns are selected by name: they may come in any
order and beside others, as for a ColumnTransformer. For a prepared table, the model remembers the
table's columns, not the inputs that they become.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import validate_data

from unchurn.core.arrays import Array, Float32
from unchurn.core.errors import InputError, naming
from unchurn.core.frames import is_frame, n_rows, taken
from unchurn.datasets.preparation import Preparation
from unchurn.training.estimator.frames import check_numbers, prepared
from unchurn.training.learners.base import RemarkWarning, levels_up

if TYPE_CHECKING:
    from unchurn.training.estimator.stable_classifier import StableClassifier

FAR = 5.0  # a column whose median is farther from 0 cannot have been standardised
FEWEST = 10  # rows needed to judge a column's size
KIND = {"dtype": np.float32, "order": "C", "allow_nd": True}


def checked_examples(
    model: StableClassifier, x: Any, y: Any, preparation: Preparation | None
) -> tuple[Float32, Array]:
    """Inputs (already prepared if there is a preparation) and labels to fit, checked."""
    if preparation is None:
        with _naming_gaps():  # a copy: if the fit fails, the model keeps the columns it has
            inputs, labels = validate_data(copy(model), x, y, **KIND)
    else:
        inputs, labels = check_X_y(x, y, estimator=model, **KIND)
    return inputs, labels


@contextmanager
def _naming_gaps() -> Iterator[None]:
    """Replace scikit-learn's error on gaps, which recommends its own estimators, by our advice."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith("Input X contains NaN"):
            raise
        raise InputError(
            "Input X contains NaN: give it as a frame, such as pd.DataFrame(X), whose gaps are "
            "learned from, or fill them before"
        ) from error


def checked_inputs(
    model: StableClassifier, x: Any, preparation: Preparation | None, shape: tuple[int, ...]
) -> Float32:
    """Inputs for a model that takes this shape, checked; rows of a table are prepared first."""
    rows, hint = prepared(x, preparation), ""
    if is_frame(x) and not n_rows(rows):
        raise InputError("X has no rows")
    if preparation is None:
        names = getattr(model, "feature_names_in_", None)
        check_numbers(rows, names)
        inputs = validate_data(model, _by_name(rows, names), reset=False, **KIND)
    else:
        hint = f": give a frame with the columns {', '.join(preparation.names)}"
        try:
            inputs = check_array(rows, input_name="X", estimator=model, **KIND)
        except ValueError as error:  # scikit-learn's message on text or gaps offers no way out
            raise InputError(f"{str(error).partition(chr(10))[0].rstrip('.')}{hint}") from error
    if inputs.shape[1:] != shape:
        raise InputError(f"X has inputs of shape {inputs.shape[1:]}, the model {shape}{hint}")
    if preparation is not None and not is_frame(x) and _are_raw(inputs):
        warnings.warn(
            f"X has numbers that look raw, up to {np.abs(inputs).max():.3g}, and an array is taken "
            f"for rows as they were prepared{hint}",
            RemarkWarning,
            stacklevel=levels_up(),
        )
    return np.asarray(inputs)


def check_more_rows(given: Mapping[str, Any], x: Any, preparation: Preparation | None) -> None:
    """Refuse rows, by name, that a network which was fitted to x could not predict."""
    from unchurn.training.estimator.stable_classifier import StableClassifier

    if not n_rows(x):
        raise InputError("X has no rows")
    shape = np.shape(prepared(taken(x, np.arange(1)), preparation))[1:]
    if not shape:  # which is refused when it is fitted
        return
    model = StableClassifier()
    remember_columns(model, x, preparation)
    for name, rows in given.items():
        if rows is not None:
            with naming(name), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # shown when they are predicted
                try:
                    checked_inputs(model, rows, preparation, shape)
                except TypeError as error:  # scikit-learn's, such as of a sparse matrix
                    raise InputError(str(error)) from error


def _by_name(rows: Any, names: Array | None) -> Any:
    """A frame's columns that a model was fitted to, in its order; all if any of them is missing."""
    if names is None or not is_frame(rows) or not set(names) <= set(rows.columns):
        return rows
    return rows[list(names)]


def _are_raw(inputs: Float32) -> bool:
    """Whether some column of inputs is too far from 0 to have been prepared."""
    return len(inputs) >= FEWEST and bool((np.abs(np.median(inputs, axis=0)) > FAR).any())


def remember_columns(model: StableClassifier, x: Any, preparation: Preparation | None) -> None:
    """Record the columns of a table before it was prepared, or of other inputs as they are."""
    if preparation is None:
        validate_data(model, x, skip_check_array=True)
        return
    model.n_features_in_ = len(preparation.names)
    if not is_frame(x) or all(isinstance(name, str) for name in x.columns):
        model.feature_names_in_ = np.array(preparation.names, object)
    elif hasattr(model, "feature_names_in_"):  # left from an earlier fit
        del model.feature_names_in_
