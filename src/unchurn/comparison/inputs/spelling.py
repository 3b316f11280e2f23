"""Bring the class names of all files to the first model's spelling, such as 1 instead of true.

This comes before all steps that use class names: pairing, probabilities, writing a blend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from unchurn.comparison.inputs.casting import whole_numbers
from unchurn.comparison.inputs.predictions import Labels, Predictions
from unchurn.comparison.inputs.scores import REST
from unchurn.core.class_names import BITS, TRUTH

if TYPE_CHECKING:
    import polars as pl


def in_one_spelling(
    models: Sequence[Predictions], labels: Labels | None = None
) -> tuple[list[Predictions], Labels | None]:
    """Rename the classes of models and labels to the first model's spelling."""
    models = list(models)
    for find in (_truth_values, _rest):
        if names := find(models, labels):
            models = [_renamed(model, names) for model in models]
            if labels is not None:
                labels = replace(labels, labels=_with_names(labels.labels, names))
    return models, labels


def _truth_values(models: Sequence[Predictions], labels: Labels | None) -> dict[str, str]:
    """New names for true and false, or for 1 and 0, as the first model has them; else empty."""
    import polars as pl

    columns = [model.predicted for model in models] + _truths(models, labels)
    scored = {name for model in models for name in model.probabilities}
    are_numbers = {column.dtype == pl.Int64 for column in columns}
    if len(are_numbers) == 1 and not scored & {*(TRUTH if True in are_numbers else BITS)}:
        return {}  # the usual case: no column has to be searched
    rests = {REST + str(model.only_class) for model in models}
    known = [_names(column) - rests for column in columns]
    if not all(names <= {*TRUTH} or names <= {*BITS} for names in known):
        return {}
    ours, theirs = (TRUTH, BITS) if known[0] <= {*TRUTH} else (BITS, TRUTH)
    new = dict(zip(theirs, ours, strict=True))
    return new | {REST + name: REST + new[name] for name in theirs}


def _rest(models: Sequence[Predictions], labels: Labels | None) -> dict[str, str]:
    """The new name of `not fraud`, if a file names the only other class, such as `ok`."""
    one = next((model.only_class for model in models if model.only_class is not None), None)
    if one is None:
        return {}
    true = {name for column in _truths(models, labels) for name in _names(column)}
    if true and one not in true:  # no label is of this class, which is refused later
        return {}
    said = {name for model in models for name in _names(model.predicted)}
    others = (true | said) - {one, REST + one}
    return {REST + one: others.pop()} if len(others) == 1 else {}


def _truths(models: Sequence[Predictions], labels: Labels | None) -> list[pl.Series]:
    """All columns of true labels."""
    own = [model.labels for model in models if model.labels is not None]
    return own if labels is None else [*own, labels.labels]


def _names(column: pl.Series) -> set[str]:
    """The names of all classes of a column."""
    return {str(value) for value in column.unique().drop_nulls()}


def _renamed(model: Predictions, names: dict[str, str]) -> Predictions:
    """The model with classes renamed as in `names`; others stay."""
    return replace(
        model,
        predicted=_with_names(model.predicted, names),
        labels=None if model.labels is None else _with_names(model.labels, names),
        probabilities={names.get(name, name): p for name, p in model.probabilities.items()},
        positive=None if model.positive is None else names.get(model.positive, model.positive),
    )


def _with_names(column: pl.Series, names: dict[str, str]) -> pl.Series:
    """A column with classes renamed, as integers if all are."""
    import polars as pl

    values = column.unique().drop_nulls()
    old = values.cast(pl.String)
    if not set(old) & set(names):
        return column
    new = whole_numbers(old.replace(names))
    return column.replace_strict(values, new, default=None, return_dtype=new.dtype)
