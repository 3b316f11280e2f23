"""Find columns that give away the target: a model would learn nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from unchurn.datasets.columns import is_category

if TYPE_CHECKING:
    import polars as pl


def copies_of(target: pl.Series, columns: Iterable[pl.Series]) -> list[str]:
    """The names of columns that equal the target in all rows, compared as text."""
    import polars as pl

    texts = target.cast(pl.String)
    return [
        column.name
        for column in columns
        if (is_category(column) or column.dtype.is_integer())
        and column.cast(pl.String).equals(texts)
    ]
