"""What a fitted model is asked with: a table's rows as their owner knows them, or as prepared.

A model that was fitted to a frame knows its columns by name. Of one that was fitted to arrays only
their number is known: where that does not tell raw numbers from prepared ones, as these are often
as many, the training rows do. A model knows their labels far worse by numbers of other scales.
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
LEAST = 1e-3  # a probability that counts: single rows should not decide
CLEARLY = 1.1  # how much greater a loss is that tells: on scikit-learn's tables, it is 7 and more
MOST_NAMED = 5  # columns in an error


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a model says of every part, by its own classes."""

    said: Mapping[str, FloatArray]
    raw: Mapping[str, Any] | None  # the rows as it takes them; None: it takes prepared ones
    notes: tuple[str, ...] = ()


def ask(model: Any, data: Dataset, parts: Parts, places: IntArray) -> Asked:
    """Ask a model of the rows as it takes them; `places`: of the data's classes among its own."""
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
    """The inputs that a model may have been fitted to, all that is known of it considered."""
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
    """Of two ways, the one by which the model knows the training rows better."""
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
        losses[RAW] *= CLEARLY  # in doubt, inputs are the data's own
    best = min(losses, key=lambda way: losses[way])
    why = "it refuses others" if errors else "it knows the training rows better so, or as well"
    notes = [
        f"nothing says which inputs the base was fitted to: it is given rows {best}, as {why}; "
        "of one that was fitted to a frame it is known"
    ]
    return best, found[best], notes


def _loss(said: FloatArray, parts: Parts, places: IntArray) -> float:
    """Minus the mean logarithm of what is said of the true classes, of those that it knows."""
    rows = np.flatnonzero((places >= 0)[parts.y_train])
    true = in_places(said, places)[rows, parts.y_train[rows]]
    return -float(np.log(true.clip(min=LEAST)).mean()) if len(rows) else 0.0


def _said(model: Any, inputs: Mapping[str, Any], data: Dataset) -> dict[str, FloatArray]:
    """What a model says of inputs; whatever it refuses them with, the way out is named."""
    try:
        return {part: asked_probabilities(model, own, "base") for part, own in inputs.items()}
    except Exception as error:  # whatever a model of any framework raises
        text = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InputError(f"base fails on rows of {data.name}: {text}: {INSTEAD}") from error


def _prepares(model: Any) -> Any:
    """How a model of ours prepares a table, where it was fitted to one."""
    return getattr(model, "preparation_", None) if is_ours(model) else None


def _names(model: Any) -> list[str] | None:
    """The columns of the frame that a model was fitted to; None if it was none."""
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    # As LightGBM calls those of an array.
    return None if names in ([], [f"Column_{i}" for i in range(len(names))]) else names


def _with_columns(table: pl.DataFrame, names: list[str], model: Any, where: str) -> Any:
    """The columns that a model was fitted to, by its own names for them: LightGBM's lack spaces."""
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
    """All features as their owner knows them, training rows first."""
    import polars as pl

    if data.train_rows is None or data.test_rows is None:
        raise InputError(f"base takes rows of a table, and {data.name} has none")
    return pl.concat([data.train_rows, data.test_rows])


def _table(data: Dataset) -> pl.DataFrame:
    """The same, with the columns aside, which may have been features of the base."""
    features = _features(data)
    return features if data.aside is None else features.hstack(data.aside)


def _numbers(data: Dataset) -> Float64 | None:
    """The features as an array has them; None if some are no numbers."""
    import polars as pl

    features = _features(data)
    if not all(column.dtype.is_numeric() or column.dtype == pl.Boolean for column in features):
        return None
    return features.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _as_pandas(table: pl.DataFrame) -> Any:
    """A frame as most models were fitted to it; a Polars one where pandas is not there."""
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
