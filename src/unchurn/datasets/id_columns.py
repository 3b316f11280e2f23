"""Recognise columns that are, or may be, ids: unique per row, and useless as features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unchurn.core.tables import ID_NAME

if TYPE_CHECKING:
    import polars as pl

NEARLY_ALL = 0.9  # share of distinct values from which a column looks like an id
FEWEST_ROWS = 100  # with fewer rows, whole numbers that are not ids may all differ by chance


def is_id(column: pl.Series) -> bool:
    """Whether a column is named like an id and has a different value in every row."""
    is_called_so = bool(ID_NAME.search(column.name))
    return is_called_so and _may_name_rows(column) and _n_distinct(column) == len(column)


def no_feature(name: str) -> str:
    """A message: why a column is left out, and how to make it a feature."""
    return (
        f"column {name!r} is an id, by its name and as it tells all rows apart: it is no feature; "
        "rename it if it is to be one"
    )


def _may_name_rows(column: pl.Series) -> bool:
    """Whether a column holds whole numbers or text: measurements are not ids."""
    import polars as pl

    return column.dtype.is_integer() or column.dtype == pl.String


def _n_distinct(column: pl.Series) -> int:
    return column.drop_nulls().n_unique()


def note_on_id(column: pl.Series) -> str | None:
    """A message that a feature may be an id, to be completed by what to do; None if it is not.

    A text column with a different text in nearly every row is as bad: each text is an input.
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
