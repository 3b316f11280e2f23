"""Cast a column to labels, ids, probabilities or text, so that its type makes no difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from unchurn.comparison.inputs.sources import ARRAY
from unchurn.core.class_names import TRUTH, WHOLE, plain_names
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "<NA>")  # unless they are classes
# A number as text files write it; 007 is not a number, but a name.
NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
ROUNDING = 1e-6  # by which a probability may lie outside 0 … 1
# Whole numbers up to these are exact in a float of that type.
EXACT = {"Float16": 2**11, "Float32": 2**24, "Float64": 2**53}


def as_labels(column: pl.Series, name: str, *, is_written: bool = False) -> pl.Series:
    """Labels as integers or text: 1, 1.0 and "1" are the same class, and so are True and true.

    In a column of numbers or booleans, NA, NaN and the like are missing values; spaces around a
    class's name are ignored. With `is_written`, the column is of a text file: text that looks like
    a number is one.
    """
    import polars as pl

    if fits_int64(column.dtype):
        return column.cast(pl.Int64)
    if column.dtype.is_float():
        return _from_floats(column, name)
    text = as_text(column, name, "labels")
    values = text.unique().drop_nulls()
    names = values.str.strip_chars()
    is_gap = names.is_in(MISSING)
    given, names = values.filter(~is_gap), names.filter(~is_gap)
    if given.is_empty():
        return text
    if is_written and names.str.contains(NUMBER).all() and not names.str.contains(WHOLE).all():
        numbers = text.replace_strict(given, names, default=None).cast(pl.Float64)
        return _from_floats(numbers.alias(column.name), name)
    plain = pl.Series(plain_names(names), dtype=pl.String)
    numbers = whole_numbers(plain)
    if numbers.dtype == pl.Int64 or plain.is_in(TRUTH).all():
        return text.replace_strict(given, numbers, default=None)
    return text if plain.equals(given) else text.replace(given, plain)


def with_spaces(column: pl.Series) -> str | None:
    """A class of a column with spaces around its name; None if there is none."""
    import polars as pl

    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return None
    values = column.cast(pl.String).unique().drop_nulls()
    odd = values.filter(values != values.str.strip_chars()).sort()
    return None if odd.is_empty() else str(odd[0])


def whole_numbers(names: pl.Series) -> pl.Series:
    """Plain names of classes as integers, if all are; else unchanged."""
    import polars as pl

    numbers = names.cast(pl.Int64, strict=False)
    return numbers if names.str.contains(WHOLE).all() and not numbers.null_count() else names


def fits_int64(kind: pl.DataType) -> bool:
    """Whether all values of an integer type fit into Int64."""
    import polars as pl

    return kind in (pl.Int64, pl.Int32, pl.Int16, pl.Int8, pl.UInt32, pl.UInt16, pl.UInt8)


def _from_floats(column: pl.Series, name: str) -> pl.Series:
    """Labels from floats, which must be whole and small enough to be exact."""
    import polars as pl

    column = column.fill_nan(None)
    whole = column.cast(pl.Int64, strict=False)
    if (whole.cast(column.dtype) != column).any() or whole.null_count() > column.null_count():
        instead = "say probabilities="
        if shown(column) == ARRAY:
            instead = "give an array (n, 2) of both classes, np.column_stack([1 - p, p])"
        raise InputError(
            f"{name}: {shown(column)} holds fractions, no labels: of probabilities {instead}"
        )
    _check_exact(column, name, "labels")
    return whole


def as_ids(column: pl.Series, name: str, *, is_written: bool = False) -> pl.Series:
    """Ids as integers if all are, else as text; NaN is no id.

    1, 1.0, "1" and a decimal 1.00 are one id; 001 is another. Text that is not all plain numbers
    stays as it is; so do dates, and floats if some are fractions. Bytes, as UUIDs may be stored,
    become hexadecimal digits. Floats that may have lost their last digits are refused: they would
    pair the wrong rows.
    """
    import polars as pl

    if fits_int64(column.dtype) or column.dtype in (pl.UInt64, pl.Date):
        return column
    if column.dtype.is_float():  # pandas turns integers with gaps into floats
        return _whole_ids(column.fill_nan(None), name)
    if column.dtype == pl.Binary:
        return column.bin.encode("hex")
    text = as_text(column, name, "ids")
    numbers = text.cast(pl.Int64, strict=False)
    if numbers.null_count() == text.null_count() and numbers.cast(pl.String).equals(text):
        return numbers  # much faster than the pattern below
    given = text.set(text.is_in(MISSING), None)
    if given.null_count() == len(given) or not given.str.contains(NUMBER).all():
        return text
    if given.str.contains(WHOLE).all():
        plain = given.str.replace(WHOLE, "${1}")
        if is_written and given.str.contains(".", literal=True).any():  # written from floats
            _check_exact(given.cast(pl.Float64), name, "ids")
        return whole_numbers(plain)
    if is_written and given.str.contains("(?i)e").any():  # written from large floats
        return _whole_ids(given.cast(pl.Float64), name)
    return text


def _whole_ids(column: pl.Series, name: str) -> pl.Series:
    """Ids from floats: as integers if all are whole, else as they are."""
    import polars as pl

    _check_exact(column, name, "ids")
    whole = column.cast(pl.Int64, strict=False)
    return whole if whole.cast(column.dtype).equals(column) else column.cast(pl.Float64)


def _check_exact(column: pl.Series, name: str, what: str) -> None:
    """Refuse numbers so large that a float does not hold every integer of that size."""
    limit = EXACT[str(column.dtype)]
    large = column.abs() >= limit
    if large.any():
        row = first(large)
        raise InputError(
            f"{name}: {what} in {shown(column)} are {column.dtype}, which is exact only up to "
            f"{limit:,}, and row {row} has {column[row]:.0f}: write them as integers or text"
        )


def as_probabilities(column: pl.Series, name: str, hint: Callable[[], str]) -> pl.Series:
    """Numbers from 0 to 1; NaN, and text that stands for it, is a missing value.

    `hint` says in an error what other numbers may be.
    """
    import polars as pl

    if column.dtype == pl.String:
        column = column.str.strip_chars()
        column = column.set(column.is_in(MISSING), None)
    try:
        numbers = column.cast(pl.Float64).fill_nan(None)
    except pl.exceptions.PolarsError as error:
        is_comma = column.dtype == pl.String and column.str.contains("^-?[0-9]*,[0-9]+$").any()
        comma = ": of decimal commas say decimal= ," if is_comma else ""
        raise InputError(f"{name}: column {column.name!r} is not all numbers{comma}") from error
    if numbers.is_between(0, 1).all():  # missing values do not count
        return numbers
    outside = (numbers < -ROUNDING) | (numbers > 1 + ROUNDING)
    if outside.any():
        row = first(outside)
        raise InputError(
            f"{name}: {column.name!r} has {numbers[row]:g} in row {row}: no probability ({hint()})"
        )
    return numbers.clip(0, 1)


def as_text(column: pl.Series, name: str, what: str) -> pl.Series:
    """A column of scalar values as text; errors call the values `what`.

    Equal instants give equal text in any unit and time zone, equal integers in any type.
    """
    import polars as pl

    kind = column.dtype
    if isinstance(kind, pl.Datetime):
        if kind.time_zone is None:
            return column.dt.to_string("%Y-%m-%d %H:%M:%S%.f")
        return column.dt.convert_time_zone("UTC").dt.to_string("%Y-%m-%d %H:%M:%S%.f%:z")
    if kind.is_float():
        column = column.fill_nan(None)
        whole = column.cast(pl.Int64, strict=False)
        column = whole if whole.cast(kind).equals(column) else column
    if not (kind.is_nested() or kind == pl.Object):
        try:
            return column.cast(pl.String)
        except pl.exceptions.PolarsError:  # bytes that are no text, and the like
            pass
    raise InputError(f"{name}: {shown(column)} is {kind}, no {what}")


def shown(column: pl.Series) -> str:
    """A column's name for an error; ARRAY for the nameless column of an array."""
    return ARRAY if column.name in ("", ARRAY) else f"column {column.name!r}"


def first(rows: pl.Series) -> int:
    """The number of the first row that is true."""
    found = rows.fill_null(value=False).arg_max()
    return 0 if found is None else found
