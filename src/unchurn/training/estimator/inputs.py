"""Inputs of a StableClassifier, checked; and the columns that it remembers, as scikit-learn has it.

Of arrays all of this is scikit-learn's own. A frame's columns are taken by name, in any order and
beside others, as a ColumnTransformer does. Of a table that was prepared, they are what is
remembered, not the inputs that they become.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import validate_data

from unchurn.core.arrays import Array, Float32
from unchurn.core.errors import InputError
from unchurn.core.frames import is_frame
from unchurn.datasets.base import Dataset
from unchurn.datasets.preparation import Preparation
from unchurn.training.estimator.frames import check_numbers, prepared
from unchurn.training.learners.base import RemarkWarning

if TYPE_CHECKING:
    from unchurn.training.estimator.stable_classifier import StableClassifier

FAR = 5.0  # from 0, the median of a column that was standardised; of a normal one it is 0
FEWEST = 10  # rows that tell of a column's size
KIND = {"dtype": np.float32, "order": "C", "allow_nd": True}


def checked_examples(
    model: StableClassifier, x: Any, y: Any, preparation: Preparation | None
) -> tuple[Float32, Array]:
    """Inputs, prepared where they are a table's, and labels, to fit a model to."""
    if preparation is None:
        with _naming_gaps():
            inputs, labels = validate_data(model, x, y, **KIND)
    else:
        inputs, labels = check_X_y(x, y, estimator=model, **KIND)
    return inputs, labels


@contextmanager
def _naming_gaps() -> Iterator[None]:
    """Say of gaps in an array what takes them; scikit-learn names estimators that are not ours."""
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
    """Inputs of this shape for a model that has one: of rows of a table, as it prepares them."""
    rows, hint = prepared(x, preparation), ""
    if preparation is None:
        names = getattr(model, "feature_names_in_", None)
        check_numbers(rows, names)
        inputs = validate_data(model, _by_name(rows, names), reset=False, **KIND)
    else:
        hint = f": give a frame with the columns {', '.join(preparation.names)}"
        try:
            inputs = check_array(rows, input_name="X", estimator=model, **KIND)
        except ValueError as error:  # of text or gaps among numbers, scikit-learn knows no way out
            raise InputError(f"{str(error).partition(chr(10))[0].rstrip('.')}{hint}") from error
    if inputs.shape[1:] != shape:
        raise InputError(f"X has inputs of shape {inputs.shape[1:]}, the model {shape}{hint}")
    if preparation is not None and not is_frame(x) and _are_raw(inputs):
        warnings.warn(
            f"X has numbers that look raw, up to {np.abs(inputs).max():.3g}, and an array is taken "
            f"for rows as they were prepared{hint}",
            RemarkWarning,
            stacklevel=4,
        )
    return np.asarray(inputs)


def _by_name(rows: Any, names: Array | None) -> Any:
    """The columns of a frame that a model was fitted to, in its order; all, where some lack."""
    if names is None or not is_frame(rows) or not set(names) <= set(rows.columns):
        return rows
    return rows[list(names)]


def _are_raw(inputs: Float32) -> bool:
    """Whether some column of inputs is far from what a preparation makes of it."""
    return len(inputs) >= FEWEST and bool((np.abs(np.median(inputs, axis=0)) > FAR).any())


def remember_columns(model: StableClassifier, x: Any, preparation: Preparation | None) -> None:
    """Note what a model was fitted to; where nothing was prepared, `validate_data` has."""
    if preparation is None:
        return
    model.n_features_in_ = len(preparation.names)
    if isinstance(x, Dataset) or all(isinstance(name, str) for name in x.columns):
        model.feature_names_in_ = np.array(preparation.names, object)
    elif hasattr(model, "feature_names_in_"):  # of a fit before
        del model.feature_names_in_
