"""Find out which inputs a fitted base takes, raw or prepared rows of the table, and ask it.

A model that was fitted to a frame knows its columns by name. Of a model that was fitted to arrays,
only the number of columns is known, and raw and prepared rows often have equally many. Then the
training rows decide: with inputs on the wrong scale, a model predicts their labels far worse.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn.core.arrays import Float64, FloatArray, IntArray
from unchurn.core.errors import InputError
from unchurn.datasets.base import Dataset
from unchurn.study.design.parts import Parts
from unchurn.training.estimator.references import asked_probabilities, in_places, is_ours

if TYPE_CHECKING:
    import polars as pl

RAW, PREPARED = "as the table has them", "as they are prepared for new models"
INSTEAD = "give what it says of every row instead, as a file or an array"
LEAST = 1e-3  # smaller probabilities count as this: single rows should not decide
# Factor by which the loss must differ to prefer raw rows; on scikit-learn's tables it is 7 or more.
CLEARLY = 1.1
MOST_NAMED = 5  # columns in an error


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A model's probabilities for every part, with a column for each of its own classes."""

    said: Mapping[str, FloatArray]
    raw: Mapping[str, Any] | None  # the raw rows by part; None if it takes prepared ones
    notes: tuple[str, ...] = ()


def ask(model: Any, data: Dataset, parts: Parts, places: IntArray) -> Asked:
    """Ask a model for its probabilities, with the inputs that it takes.

    `places` has the position of each of the data's classes among the model's own.
    """
    ways, notes = _ways(model, data, parts), []
    if len(ways) == 1:
        ((way, inputs),) = ways.items()
        said = _said(model, inputs, data)
        if way == PREPARED and _has_rows(data) and _prepares(model) is None:
            notes.append(f"the base is given rows {PREPARED}: only these fit its number of inputs")
    else:
        way, said, notes = _better(model, ways, parts, places, data)
        inputs = ways[way]
    return Asked(said=said, raw=None if way == PREPARED else inputs, notes=tuple(notes))


def _ways(model: Any, data: Dataset, parts: Parts) -> dict[str, Mapping[str, Any]]:
    """The inputs that a model may have been fitted to, by all that is known of it."""
    prepared = {"train": parts.x_train, **parts.x}
    own, shape = _prepares(model), data.x_train.shape[1:]
    if own is not None and data.preparation is not None and own != data.preparation:
        return {RAW: in_parts(_table(data), parts)}
    if own is not None or not _has_rows(data):
        if is_ours(model) and model.shape_ != shape:
            raise InputError(f"base takes inputs of {model.shape_}, {data.name} has {shape}")
        return {PREPARED: prepared}
    names = _names(model)
    if names is not None:
        return {RAW: in_parts(_with_columns(_table(data), names, model, data.name), parts)}
    n, numbers = getattr(model, "n_features_in_", None), _numbers(data)
    ways: dict[str, Mapping[str, Any]] = {}
    if numbers is not None and n in (None, numbers.shape[1]):
        ways[RAW] = in_parts(numbers, parts)
    elif n is None:
        ways[RAW] = in_parts(_as_pandas(_table(data)), parts)
    if n is None or shape == (n,):
        ways[PREPARED] = prepared
    if not ways:
        has = f"{data.name} has {len(_features(data).columns)} columns, {shape[0]} when prepared"
        raise InputError(f"base takes {n} inputs, {has}: {INSTEAD}")
    return ways


def _better(
    model: Any,
    ways: Mapping[str, Mapping[str, Any]],
    parts: Parts,
    places: IntArray,
    data: Dataset,
) -> tuple[str, dict[str, FloatArray], list[str]]:
    """Of two ways, the one with which the model predicts the training rows better."""
    found, errors = {}, []
    for way, inputs in ways.items():
        try:
            found[way] = _said(model, inputs, data)
        except InputError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    losses = {way: _loss(said["train"], parts, places) for way, said in found.items()}
    if not errors:
        losses[RAW] *= CLEARLY  # in doubt, it takes prepared rows
    best = min(losses, key=lambda way: losses[way])
    why = "it refuses others" if errors else "it knows the training rows better so, or as well"
    notes = [
        f"nothing says which inputs the base was fitted to: it is given rows {best}, as {why}; "
        "of one that was fitted to a frame it is known"
    ]
    return best, found[best], notes


def _loss(said: FloatArray, parts: Parts, places: IntArray) -> float:
    """The mean log loss on the training rows whose class the model knows; 0 if there are none."""
    rows = np.flatnonzero((places >= 0)[parts.y_train])
    true = in_places(said, places)[rows, parts.y_train[rows]]
    return -float(np.log(true.clip(min=LEAST)).mean()) if len(rows) else 0.0


def _said(model: Any, inputs: Mapping[str, Any], data: Dataset) -> dict[str, FloatArray]:
    """A model's probabilities for inputs; if it fails, the InputError says what to give instead."""
    try:
        return {part: asked_probabilities(model, own, "base") for part, own in inputs.items()}
    except Exception as error:  # whatever a model of any framework raises
        text = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InputError(f"base fails on rows of {data.name}: {text}: {INSTEAD}") from error


def _prepares(model: Any) -> Any:
    """How a StableClassifier prepares its table; None if it has none, and for other models."""
    return getattr(model, "preparation_", None) if is_ours(model) else None


def _names(model: Any) -> list[str] | None:
    """The columns of the frame that a model was fitted to; None if it was not a frame."""
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    # LightGBM gives these names to the columns of an array.
    return None if names in ([], [f"Column_{i}" for i in range(len(names))]) else names


def _with_columns(table: pl.DataFrame, names: list[str], model: Any, where: str) -> Any:
    """The columns that a model was fitted to, by its names; LightGBM's have _ for spaces."""
    own = {re.sub(r"\s", "_", name): name for name in table.columns}
    found = {name: name if name in table.columns else own.get(name) for name in names}
    lacking = [name for name, column in found.items() if column is None]
    if lacking:
        more = ", …" if len(lacking) > MOST_NAMED else ""
        raise InputError(
            f"base was fitted to columns that {where} lacks, {', '.join(lacking[:MOST_NAMED])}"
            f"{more}: {INSTEAD}"
        )
    chosen = table.select(**{name: column for name, column in found.items() if column})
    return chosen if is_ours(model) else _as_pandas(chosen)


def _has_rows(data: Dataset) -> bool:
    return data.train_rows is not None and data.test_rows is not None


def _features(data: Dataset) -> pl.DataFrame:
    """All features before preparation, training rows first."""
    import polars as pl

    if data.train_rows is None or data.test_rows is None:
        raise InputError(f"base takes rows of a table, and {data.name} has none")
    return pl.concat([data.train_rows, data.test_rows])


def _table(data: Dataset) -> pl.DataFrame:
    """These features and the columns aside, which may have been features of the base."""
    features = _features(data)
    return features if data.aside is None else features.hstack(data.aside)


def _numbers(data: Dataset) -> Float64 | None:
    """The features before preparation as an array; None if some are not numbers."""
    import polars as pl

    features = _features(data)
    if not all(column.dtype.is_numeric() or column.dtype == pl.Boolean for column in features):
        return None
    return features.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _as_pandas(table: pl.DataFrame) -> Any:
    """The table as a pandas frame, which most models were fitted to; unchanged without pandas."""
    try:
        import pandas as pd
    except ImportError:
        return table
    columns = {column.name: column.to_numpy() for column in table}
    for array in columns.values():
        if array.dtype.kind == "O":
            array[[value is None for value in array]] = np.nan  # as pandas reads gaps in text
    return pd.DataFrame(columns)


def in_parts(rows: Any, parts: Parts) -> dict[str, Any]:
    """Rows of a frame or an array by part."""
    take = rows.iloc if hasattr(rows, "iloc") else rows
    return {part: take[own] for part, own in parts.rows.items()}
