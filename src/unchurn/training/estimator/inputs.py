"""Inputs of a StableClassifier, checked; and the columns that it remembers, as scikit-learn has it.

Of arrays and of frames of nothing but numbers all of this is scikit-learn's own. What was prepared
from a table takes its columns by name, in any order and beside others, as a ColumnTransformer does:
they are what it remembers, not the inputs that they become.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import validate_data

from unchurn.core.arrays import Array, Float32
from unchurn.core.errors import InputError
from unchurn.datasets.base import Dataset
from unchurn.datasets.preparation import Preparation
from unchurn.training.estimator.frames import check_numbers, prepared

if TYPE_CHECKING:
    from unchurn.training.estimator.stable_classifier import StableClassifier

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
        check_numbers(rows, getattr(model, "feature_names_in_", None))
        inputs = validate_data(model, rows, reset=False, **KIND)
    else:
        inputs = check_array(rows, input_name="X", estimator=model, **KIND)
        hint = f": give a frame with the columns {', '.join(preparation.names)}"
    if inputs.shape[1:] != shape:
        raise InputError(f"X has inputs of shape {inputs.shape[1:]}, the model {shape}{hint}")
    return np.asarray(inputs)


def remember_columns(model: StableClassifier, x: Any, preparation: Preparation | None) -> None:
    """Note what a model was fitted to; where nothing was prepared, `validate_data` has."""
    if preparation is None:
        return
    model.n_features_in_ = len(preparation.names)
    if isinstance(x, Dataset) or all(isinstance(name, str) for name in x.columns):
        model.feature_names_in_ = np.array(preparation.names, object)
    elif hasattr(model, "feature_names_in_"):  # of a fit before
        del model.feature_names_in_
