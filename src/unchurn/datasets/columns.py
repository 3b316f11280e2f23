"""Read a table's column as numbers or as text, whatever its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unchurn.core.arrays import Float64
from unchurn.core.class_names import BITS, TRUTH, plain_name
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

GAP = "(missing)"  # the category of what is not there
NOT_THERE = ("", "na", "n/a", "nan", "null", "none", "?", "-")  # in texts among numbers


def odd_text(column: pl.Series) -> int | None:
    """The first row of a text that is neither a number nor a sign of a gap, if there is one."""
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
    """Whether a column is of numbers; also text that is, but for signs of a gap such as NA.

    Text that is numbers throughout stays text: codes are often written so.
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
    """A column's numbers, NaN where there is none."""
    import polars as pl

    if column.dtype == pl.String:
        column = column.str.strip_chars()
    numbers: Float64 = column.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    return numbers


def is_category(column: pl.Series) -> bool:
    """Whether a column is of text, booleans or categories."""
    import polars as pl

    return column.dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum)


def as_texts(column: pl.Series) -> Any:
    """A column's values as text; a gap is a value of its own."""
    import polars as pl

    return column.cast(pl.String).fill_null(GAP).to_numpy().astype(str)


def what_it_has(column: pl.Series) -> str:
    """What is in a column of neither numbers nor text, in a reader's words."""
    import polars as pl

    if column.dtype == pl.Duration:
        return "durations"
    if column.dtype.is_temporal():
        return "dates or times"
    if column.dtype in (pl.List, pl.Array):
        return "lists"
    return "neither numbers nor text"


def of_new_rows(column: pl.Series, was: str) -> pl.Series:
    """A column of new rows as numbers or text, which it was when it was learned from.

    As a number a time would be one that means nothing.
    """
    import polars as pl

    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean, pl.Null)):
        found = what_it_has(column)
        raise InputError(f"column {column.name!r} was {was} to learn from, and has {found}")
    return column


def as_spelled(column: pl.Series, values: Sequence[str]) -> pl.Series:
    """A column with the spelling of values that were learned, where it has them otherwise.

    Its type may be another one than it was: 1.0 is "1", True is "True", and 1 where there is 0.
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
