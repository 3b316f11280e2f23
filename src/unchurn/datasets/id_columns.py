"""Recognise columns that are, or may be, ids: unique per row, with nothing to learn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unchurn.core.tables import ID_NAME

if TYPE_CHECKING:
    import polars as pl

NEARLY_ALL = 0.9  # of the rows are told apart by what is called an id, and may be there twice
FEWEST_ROWS = 100  # that are not all distinct by accident in whole numbers of another kind


def is_id(column: pl.Series) -> bool:
    """Whether a column is called as an id is, and has another value in every row."""
    is_called_so = bool(ID_NAME.search(column.name))
    return is_called_so and _may_name_rows(column) and _n_distinct(column) == len(column)


def no_feature(name: str) -> str:
    """Why a column is left out, and how to have it learned from."""
    return (
        f"column {name!r} is an id, by its name and as it tells all rows apart: it is no feature; "
        "rename it if it is to be one"
    )


def _may_name_rows(column: pl.Series) -> bool:
    """Whether it is whole numbers or text: measurements are no ids."""
    import polars as pl

    return column.dtype.is_integer() or column.dtype == pl.String


def _n_distinct(column: pl.Series) -> int:
    return column.drop_nulls().n_unique()


def note_on_id(column: pl.Series) -> str | None:
    """That a feature may be an id, up to what to do then; None if it does not look so.

    Texts that tell nearly all rows apart are as bad: each is an input of its own.
    """
    import polars as pl

    if not _may_name_rows(column):
        return None
    n, distinct = len(column), _n_distinct(column)
    kind = "number" if column.dtype.is_integer() else "text"
    if distinct == n and n >= FEWEST_ROWS:
        found = f"has another {kind} in every row"
    elif column.dtype == pl.String and n >= FEWEST_ROWS and distinct >= NEARLY_ALL * n:
        found = f"has {distinct:,} texts in {n:,} rows, each an input of its own"
    elif ID_NAME.search(column.name) and distinct >= NEARLY_ALL * n:
        found = f"is called as an id is, with {distinct:,} {kind}s in {n:,} rows"
    else:
        return None
    return f"column {column.name!r} {found}: if it is an id"
