"""Find the ids of test rows for files of predictions, so that these join with the user's tables.

The id is a unique column: the one that the user named, else one that is called an id, else the only
unique one aside, else the index that pandas wrote. Without any, rows are numbered from 0 as in the
table. Built-in datasets use the position in the test part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unchurn.comparison.inputs.casting import as_ids
from unchurn.comparison.inputs.columns import NAMES
from unchurn.comparison.inputs.ids.lookup import repeated
from unchurn.core.arrays import Array, IntArray
from unchurn.core.errors import InputError
from unchurn.core.frames import INDEXES
from unchurn.core.tables import ID_NAME
from unchurn.datasets.base import Dataset
from unchurn.datasets.preparation import DATE

if TYPE_CHECKING:
    import polars as pl

NO_ID = rf"\s|^{DATE.pattern}"  # text that is no id: several words, or a date


def check_id(data: Dataset, name: str) -> None:
    """Refuse a column that the user named as the id if it has gaps or repeated values."""
    ids = _read_ids(data.column_aside(name))
    if ids.null_count() or repeated(ids):
        raise InputError(f"column {name!r} of {data.name} has ids that are missing or twice")


def find_ids(
    data: Dataset, named: str | None, others: Sequence[str] = ()
) -> tuple[str, Array | None]:
    """The name of the id column, or "", and the ids of the test rows.

    `named` is the column that the user named; `others` are aside for another purpose. The ids are
    None if rows are identified by their position in the test part.
    """
    if data.order is None:
        return "", None
    n_train = len(data.y_train)
    ids = next(ids_of_rows(data, named, others), None)
    if ids is None:
        return "", data.order[n_train:]
    found = ids[n_train:].to_numpy()
    return ids.name, found if ids.dtype.is_integer() else found.astype(str)


def ids_of_rows(
    data: Dataset, named: str | None, others: Sequence[str] = ()
) -> Iterator[pl.Series]:
    """The columns with a different value in every row of a table, the likeliest id first.

    Training rows first, then test rows, as numbers or text; `named` and `others` as in `find_ids`.
    """
    if data.order is None:
        return
    each = np.unique(data.order, return_index=True)[1]  # a row may be in both parts
    for column in _candidates(data, named, others, each):
        if (ids := _as_ids(column, each)) is not None:
            yield ids


def is_id(name: str) -> bool:
    """Whether a column's name says that it is an id.

    >>> [name for name in ("id", "customer-id", "orderId", "UUID", "paid", "day") if is_id(name)]
    ['id', 'customer-id', 'orderId', 'UUID']
    """
    plain = re.sub("[ -]", "_", name)
    return plain.lower() in NAMES["id"] or bool(ID_NAME.search(name))


def _candidates(
    data: Dataset, named: str | None, others: Sequence[str], each: IntArray
) -> list[pl.Series]:
    """The columns that may be ids, training rows first, then test rows; the likeliest first.

    A feature may be one: if rows were numbered instead, the numbers would be mistaken for its ids.
    """
    aside = [] if data.aside is None else data.aside.get_columns()
    features = []
    if data.train_rows is not None and data.test_rows is not None:
        features = data.train_rows.vstack(data.test_rows).get_columns()
    called = [column for column in (*aside, *features) if is_id(column.name)]
    return [
        *(column for column in aside if column.name == named),
        *sorted(called, key=lambda column: column.name.lower() not in NAMES["id"]),
        *_only_one([c for c in aside if c.name not in (*others, *INDEXES)], each),
        *(column for column in aside if column.name in INDEXES),
    ]


def _only_one(aside: list[pl.Series], each: IntArray) -> list[pl.Series]:
    """The column with a different value in every row, if there is exactly one."""
    found = [c for c in aside if _may_name(c) and _as_ids(c, each) is not None]
    return found if len(found) == 1 else []


def _may_name(column: pl.Series) -> bool:
    """Whether a column holds integers or text, but no dates or notes: nobody joins by these."""
    import polars as pl

    if column.dtype == pl.String:
        return not column.str.contains(NO_ID).any()
    return column.dtype.is_integer()


def _as_ids(column: pl.Series, each: IntArray) -> pl.Series | None:
    """The column as ids, if it has no gaps and differs in each of the rows `each`; else None."""
    try:
        ids = _read_ids(column)
    except InputError:  # of a type that cannot be an id, or with digits lost
        return None
    return None if ids.null_count() or repeated(ids.gather(each)) else ids


def _read_ids(column: pl.Series) -> pl.Series:
    """The column as ids: integers in their own type, all else as text."""
    import polars as pl

    is_text = column.dtype in (pl.String, pl.Categorical, pl.Enum)
    ids = column.cast(pl.String) if is_text else as_ids(column, column.name)
    return ids if ids.dtype.is_integer() else ids.cast(pl.String)
