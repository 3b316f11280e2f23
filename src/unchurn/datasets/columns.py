"""Read a table's column as numbers or as text, whatever its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unchurn.core.arrays import Float64
from unchurn.core.class_names import BITS, TRUTH, plain_name
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

GAP = "(missing)"  # the category for missing values
NOT_THERE = ("", "na", "n/a", "nan", "null", "none", "?", "-")  # texts that mean a missing number


def odd_text(column: pl.Series) -> int | None:
    """The first row whose text is neither a number nor a sign of a gap; None if there is none."""
    import polars as pl

    if column.dtype != pl.String:
        return None
    texts = column.str.strip_chars()
    is_number, is_gap = (
        texts.cast(pl.Float64, strict=False).is_not_null(),
        texts.str.to_lowercase().is_in(NOT_THERE) | texts.is_null(),
    )
    odd = ~(is_number | is_gap)
    return odd.arg_max() if odd.any() else None


def is_number(column: pl.Series) -> bool:
    """Whether a column holds numbers, possibly as text with signs of a gap such as NA.

    A text column of only numbers stays text: it often holds codes.
    """
    import polars as pl

    if column.dtype.is_numeric():
        return True
    if column.dtype != pl.String:
        return False
    texts = column.drop_nulls().str.strip_chars()
    is_gap = texts.str.to_lowercase().is_in(NOT_THERE)
    numbers = texts.filter(~is_gap).cast(pl.Float64, strict=False)
    return bool(is_gap.any()) and len(numbers) > 0 and numbers.null_count() == 0


def as_numbers(column: pl.Series) -> Float64:
    """A column's numbers, with NaN for gaps."""
    import polars as pl

    if column.dtype == pl.String:
        column = column.str.strip_chars()
    numbers: Float64 = column.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    return numbers


def is_category(column: pl.Series) -> bool:
    """Whether a column holds text, booleans or categories."""
    import polars as pl

    return column.dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum)


def as_texts(column: pl.Series) -> Any:
    """A column's values as text; a gap becomes a value of its own."""
    import polars as pl

    return column.cast(pl.String).fill_null(GAP).to_numpy().astype(str)


def what_it_has(column: pl.Series) -> str:
    """What a column of neither numbers nor text holds, in words for a message."""
    import polars as pl

    if column.dtype == pl.Duration:
        return "durations"
    if column.dtype.is_temporal():
        return "dates or times"
    if column.dtype in (pl.List, pl.Array):
        return "lists"
    return "neither numbers nor text"


def of_new_rows(column: pl.Series, was: str) -> pl.Series:
    """A column of new rows, checked to be numbers or text like the one that was learned from.

    Dates, times and other types are refused: converted to numbers, they would mean nothing.
    """
    import polars as pl

    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean, pl.Null)):
        found = what_it_has(column)
        raise InputError(f"column {column.name!r} was {was} to learn from, and has {found}")
    return column


def as_spelled(column: pl.Series, values: Sequence[str]) -> pl.Series:
    """A column with values spelled as they were when they were learned.

    Its type may have changed: 1.0 becomes "1", and True becomes "True", or "1" if the learned
    values include "0" and "1". In the same way, 1 may become "True".
    """
    import polars as pl

    column = (column.fill_nan(None) if column.dtype.is_float() else column).cast(pl.String)
    others = set(column.drop_nulls().unique()).difference(values)
    known = {plain_name(value): value for value in values}
    for here, there in ((TRUTH, BITS), (BITS, TRUTH)):
        if all(one in known for one in here):
            known = {other: known[one] for one, other in zip(here, there, strict=True)} | known
    renamed = {text: known[plain_name(text)] for text in others if plain_name(text) in known}
    return column.replace(renamed) if renamed else column
