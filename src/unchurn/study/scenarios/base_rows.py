"""Match the rows of a base's predictions to the rows of the data, by id or by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unchurn.comparison.inputs.casting import as_ids, first
from unchurn.comparison.inputs.columns import BY_INDEX, Columns, is_index
from unchurn.comparison.inputs.ids.lookup import alike, find, n_shared, repeated
from unchurn.comparison.inputs.ids.order import check_order
from unchurn.comparison.inputs.predictions import Predictions
from unchurn.comparison.inputs.sources import Source, open_source
from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError
from unchurn.core.frames import INDEXES
from unchurn.datasets.base import Dataset
from unchurn.study.results.ids import check_id, ids_of_rows

if TYPE_CHECKING:
    import polars as pl

NAME = "base"  # its name in errors
BY_PLACE = "rows of the base and of the table were joined by their place"


@dataclass(frozen=True, kw_only=True)
class Named:
    """The columns that the user named: the id, and others with another purpose."""

    id: str | None = None
    others: tuple[str, ...] = ()


def by_id(column: str) -> str:
    """A note that rows were joined by a column."""
    shown = BY_INDEX if column in INDEXES else f"column {column!r}"
    return f"rows of the base and of the table were joined by {shown}"


def ids_to_join(base: Source, data: Dataset, by: Named) -> pl.Series | None:
    """The data's ids by which to join a base, training rows first; None to join by position.

    The column is the one that the user named, else the likeliest id that the base has, too.
    """
    if by.id is not None:
        check_id(data, by.id)
        return as_ids(data.column_aside(by.id), data.name)
    there = (ids for ids in ids_of_rows(data, None, by.others) if ids.name in base.names)
    return next((ids for ids in there if not _is_made_anew(base, ids.name)), None)


def check_repeated(base: Source, column: str) -> None:
    """Refuse a base with several rows for one id."""
    if column not in base.names:  # of which the readers tell
        return
    ids = _ids_of(base, column)
    if twice := repeated(ids.drop_nulls()):
        raise InputError(
            f"{base.name}: {twice:,} ids in column {column!r} are there more than once, such as "
            f"{ids[first(ids.is_duplicated() & ids.is_not_null())]!r}: keep one row of each"
        )


def rows_by_id(predictions: Predictions, ids: pl.Series, data: Dataset) -> IntArray:
    """The base's row for every row of the data, by id; InputError if one is missing or empty."""
    found = find(*alike(ids, predictions.ids))
    if found is None:
        return np.arange(len(ids))
    if (found < 0).any():
        missing, gone = ids.filter(found < 0), predictions.ids_without_prediction
        what = "probabilities" if len(gone) and n_shared(missing, gone) else "row"
        raise InputError(
            f"{predictions.name} has no {what} for {len(missing):,} of the {len(ids):,} ids of "
            f"{data.name}, such as {missing[0]!r} in column {ids.name!r}"
        )
    return found


def rows_by_place(predictions: Predictions, base: Source, data: Dataset) -> IntArray:
    """The base's row for every row of the data, by position.

    InputError if the numbers of rows differ, or if a column shows that the order does.
    """
    n, name = len(data.y_train) + len(data.y_test), predictions.name
    table = _as_it_was(data)
    if (column := predictions.id_column) is not None:
        how = f"and {data.name} has none: drop it if the rows are in one order"
        if table is not None and column in table.columns:
            how = f"and those of {data.name} are missing or twice"
        raise InputError(f"{name} has ids in its column {column!r}, {how}")
    if predictions.excluded:
        raise InputError(f"{name}: rows without a prediction, and no id= to join by")
    if len(predictions.ids) != n:
        is_own = data.order is not None
        hint = "or join them with id=" if is_own else "training rows first, then test rows"
        raise InputError(
            f"{name} has {len(predictions.ids):,} rows and {data.name} {n:,}: give all, {hint}"
        )
    if table is not None:
        check_order(open_source(table, data.name), base, Columns())
    return np.arange(n) if data.order is None else data.order


def _as_it_was(data: Dataset) -> pl.DataFrame | None:
    """The table in its original order, columns aside included; None for a built-in dataset."""
    import polars as pl

    if data.order is None or data.train_rows is None or data.test_rows is None:
        return None
    table = pl.concat([data.train_rows, data.test_rows])
    if data.aside is not None:
        table = table.hstack(data.aside.get_columns())
    return table[np.argsort(data.order)]


def _is_made_anew(base: Source, column: str) -> bool:
    """Whether the column is a pandas index 0, 1, 2 …, which carries no more than row position."""
    if not is_index(column):
        return False
    ids = _ids_of(base, column)
    return ids.dtype.is_integer() and bool((ids == np.arange(len(ids))).all())


def _ids_of(base: Source, column: str) -> pl.Series:
    """A base's ids as the readers take them."""
    return as_ids(base.read([column])[column], base.name, is_written=base.is_text)
