"""Columns of a table as labels, probabilities or text: checked, gaps told from values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "<NA>")  # where they are no class
WHOLE = r"^(0|-?[1-9]\d*)(\.0+)?$"  # a whole number, also as pandas writes it beside gaps
BOOLEANS = ("true", "false")
ROUNDING = 1e-6  # by which a probability may lie outside 0 … 1


def as_labels(column: pl.Series, name: str) -> pl.Series:
    """Labels as whole numbers or text: 1, 1.0 and "1" are the same class, and so are True and true.

    Among numbers, or true and false, what stands for a gap is one.
    """
    import polars as pl

    if fits_int64(column.dtype):
        return column.cast(pl.Int64)
    if column.dtype.is_float():
        return _whole(column, name)
    text = as_text(column, name, "labels")
    values = text.unique().drop_nulls()
    given = values.filter(~values.is_in(MISSING))
    if given.is_empty():
        return text
    plain = plain_classes(given)
    numbers = whole_numbers(plain)
    if numbers.dtype == pl.Int64 or plain.is_in(BOOLEANS).all():
        return text.replace_strict(given, numbers, default=None)
    return text if plain.equals(given) else text.replace(given, plain)


def plain_classes(names: pl.Series) -> pl.Series:
    """Names of classes in one spelling, whatever else stands beside them: 1 for 1.0, true for True.

    Each by itself: what one column holds besides must not part its classes from another's.
    """
    lower, plain = names.str.to_lowercase(), names.str.replace(WHOLE, "${1}")
    return lower.zip_with(lower.is_in(BOOLEANS), plain)


def whole_numbers(names: pl.Series) -> pl.Series:
    """Plain names of classes as whole numbers, if all are; else as they are."""
    import polars as pl

    numbers = names.cast(pl.Int64, strict=False)
    return numbers if names.str.contains(WHOLE).all() and not numbers.null_count() else names


def fits_int64(kind: pl.DataType) -> bool:
    """Whether it is a type of whole numbers that 64 bits hold."""
    import polars as pl

    return kind in (pl.Int64, pl.Int32, pl.Int16, pl.Int8, pl.UInt32, pl.UInt16, pl.UInt8)


def _whole(column: pl.Series, name: str) -> pl.Series:
    """Labels from floats, which must be whole."""
    import polars as pl

    column = column.fill_nan(None)
    whole = column.cast(pl.Int64, strict=False)
    if (whole.cast(pl.Float64) != column).any() or whole.null_count() > column.null_count():
        raise InputError(
            f"{name}: {_shown(column)} holds fractions, no labels: of probabilities say "
            "--probabilities"
        )
    return whole


def as_probabilities(column: pl.Series, name: str) -> pl.Series:
    """Numbers from 0 to 1; NaN, and text that stands for it, is a gap."""
    import polars as pl

    if column.dtype == pl.String:
        column = column.set(column.is_in(MISSING), None)
    try:
        numbers = column.cast(pl.Float64).fill_nan(None)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{name}: column {column.name!r} is not all numbers") from error
    if numbers.is_between(0, 1).all():  # gaps do not count
        return numbers
    outside = (numbers < -ROUNDING) | (numbers > 1 + ROUNDING)
    if outside.any():
        row = first(outside)
        raise InputError(
            f"{name}: {column.name!r} has {numbers[row]:g} in row {row}: no probability (of "
            "logits, take the softmax first)"
        )
    return numbers.clip(0, 1)


def as_text(column: pl.Series, name: str, what: str) -> pl.Series:
    """Any column of single values as text; `what` it should be is for the error."""
    import polars as pl

    if not (column.dtype.is_nested() or column.dtype == pl.Object):
        try:
            return column.cast(pl.String)
        except pl.exceptions.PolarsError:  # bytes that are no text, and the like
            pass
    raise InputError(f"{name}: {_shown(column)} is {column.dtype}, no {what}")


def _shown(column: pl.Series) -> str:
    """A column by its name; that of an array has none."""
    return f"column {column.name!r}" if column.name and "\0" not in column.name else "the array"


def first(rows: pl.Series) -> int:
    """The number of the first row that is true."""
    found = rows.fill_null(value=False).arg_max()
    return 0 if found is None else found
