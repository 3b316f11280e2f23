"""Labels of several columns as the numbers of their classes, in as few bytes as they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unchurn.comparison.rowblocks import count
from unchurn.core.arrays import IntArray

if TYPE_CHECKING:
    import polars as pl

UNLABELLED = -1
NARROW = 1 << 15  # whole numbers within this range are numbered without a search


def number(columns: list[pl.Series]) -> tuple[pl.Series, list[IntArray]]:
    """The classes in order, and each column as their numbers; a missing label is UNLABELLED.

    Of whole numbers that lie close together, those between are taken for classes too.
    """
    import polars as pl

    columns = _alike(columns)
    if columns[0].dtype != pl.Int64:
        classes = pl.concat([c.unique() for c in columns]).unique().drop_nulls().sort()
        kind = pl.Enum(classes)
        return classes, [_narrowed(c.cast(kind).to_physical(), 0, len(classes)) for c in columns]
    ends = [int(end) for c in columns for end in (c.min(), c.max()) if end is not None]  # type: ignore[arg-type]
    low, size = min(ends), max(ends) - min(ends) + 1
    if size <= NARROW:
        classes = pl.int_range(low, low + size, eager=True)
        return classes, [_narrowed(c, low, size) for c in columns]
    classes = pl.concat([c.unique() for c in columns]).unique().drop_nulls().sort()
    found = [pl.Series(classes.search_sorted(c)) for c in columns]
    found = [f.set(c.is_null(), None) for f, c in zip(found, columns, strict=True)]
    return classes, [_narrowed(f, 0, len(classes)) for f in found]


def without_unused(classes: pl.Series, numbers: list[IntArray]) -> tuple[pl.Series, list[IntArray]]:
    """Leave out classes that no row has: of rows left out, or between whole numbers."""
    import polars as pl

    used = np.sum([count(n, len(classes)) for n in numbers], axis=0) > 0
    if used.all():
        return classes, numbers
    new = np.append(np.cumsum(used) - 1, UNLABELLED).astype(_kind(int(used.sum())))
    return classes.filter(pl.Series(used)), [new[n] for n in numbers]  # new[UNLABELLED] is itself


def against_rest(classes: tuple[str, ...], numbers: list[IntArray], one: str) -> list[IntArray]:
    """Number the class `one` as 1 and all others as 0."""
    new = np.array([*(name == one for name in classes), UNLABELLED], np.int8)
    return [new[n] for n in numbers]


def _alike(columns: list[pl.Series]) -> list[pl.Series]:
    """Labels of one type: whole numbers if all are, else text."""
    import polars as pl

    if all(column.dtype == pl.Int64 for column in columns):
        return columns
    return [column.cast(pl.String) for column in columns]


def _narrowed(column: pl.Series, low: int, size: int) -> IntArray:
    """Whole numbers less the lowest, in as few bytes as they need; a gap is UNLABELLED."""
    numbers, start = np.empty(len(column), _kind(size)), 0
    for chunk in column.fill_null(low).get_chunks():  # as it lies in memory: nothing is copied
        end = start + len(chunk)
        np.subtract(chunk.to_numpy(), low, out=numbers[start:end], casting="unsafe")
        start = end
    if column.null_count():
        numbers[column.is_null().to_numpy()] = UNLABELLED
    return numbers


def _kind(size: int) -> np.dtype[np.signedinteger]:
    """The smallest type for numbers up to size − 1, and UNLABELLED."""
    return np.min_scalar_type(-max(size, 2))
