"""What a test row is called in files of predictions, so that they join with their owner's tables.

It is the column that was named for it, or that is called an id and tells all rows apart; else the
index that pandas wrote; else the number of its row in the table, from 0. Of data by name, it is the
place in the test part.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from unchurn.comparison.inputs.casting import as_ids
from unchurn.comparison.inputs.columns import INDEXES, NAMES
from unchurn.comparison.inputs.ids import repeated
from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.datasets.base import Dataset
from unchurn.datasets.table import ID

if TYPE_CHECKING:
    import polars as pl


def check_id(data: Dataset, name: str) -> None:
    """Refuse a column that was named as the id, and is none."""
    ids = _read_ids(data.column_aside(name))
    if ids.null_count() or repeated(ids):
        raise InputError(f"column {name!r} of {data.name} has ids that are missing or twice")


def find_ids(data: Dataset, named: str | None) -> tuple[str, Array | None]:
    """The column of ids, empty if there is none, and what each test row is called.

    `named` is a column that was named for it. None: by the place in the test part.
    """
    if data.order is None:
        return "", None
    n_train = len(data.y_train)
    each = np.unique(data.order, return_index=True)[1]  # a row may be trained and tested on
    for column in _candidates(data, named):
        ids = _as_ids(column)
        if ids is not None and not repeated(ids.gather(each)):
            found = ids[n_train:].to_numpy()
            return column.name, found if ids.dtype.is_integer() else found.astype(str)
    return "", data.order[n_train:]


def is_id(name: str) -> bool:
    """Whether a column's name says that it is an id.

    >>> [name for name in ("id", "customer-id", "orderId", "UUID", "paid", "day") if is_id(name)]
    ['id', 'customer-id', 'orderId', 'UUID']
    """
    plain = re.sub("[ -]", "_", name)
    return plain.lower() in NAMES["id"] or bool(ID.search(name))


def _candidates(data: Dataset, named: str | None) -> list[pl.Series]:
    """The columns that may be ids, of training rows and then test rows, the likeliest first.

    Also one that is a feature: were rows numbered beside it, numbers would be taken for its ids.
    """
    aside = [] if data.aside is None else data.aside.get_columns()
    features = []
    if data.train_rows is not None and data.test_rows is not None:
        features = data.train_rows.vstack(data.test_rows).get_columns()
    called = [column for column in (*aside, *features) if is_id(column.name)]
    return [
        *(column for column in aside if column.name == named),
        *sorted(called, key=lambda column: column.name.lower() not in NAMES["id"]),
        *(column for column in aside if column.name in INDEXES),
    ]


def _as_ids(column: pl.Series) -> pl.Series | None:
    """Ids, if the column has one of every row; else None."""
    try:
        ids = _read_ids(column)
    except InputError:  # of a kind that no id is, or with digits lost
        return None
    return None if ids.null_count() else ids


def _read_ids(column: pl.Series) -> pl.Series:
    """Ids of the column's own type if that is whole numbers, else as text."""
    import polars as pl

    is_text = column.dtype in (pl.String, pl.Categorical, pl.Enum)
    ids = column.cast(pl.String) if is_text else as_ids(column, column.name)
    return ids if ids.dtype.is_integer() else ids.cast(pl.String)
