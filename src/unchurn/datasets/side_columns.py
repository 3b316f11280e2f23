"""Read columns aside: flags (yes or no), times, and whether a time is before a date.

Errors give the row number in the table, from 0, which may differ from the example's number.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unchurn.core.errors import InputError
from unchurn.datasets.base import Dataset

if TYPE_CHECKING:
    import polars as pl

Mask = npt.NDArray[np.bool_]
Times = npt.NDArray[Any]  # NumPy's datetimes in microseconds, or numbers
FLAGS = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False}


def flags(data: Dataset, name: str) -> Mask:
    """Mask of the rows where a column is true: booleans, 0 and 1, or yes, no, true, false."""
    import polars as pl

    column = data.column_aside(name)
    is_number = column.dtype.is_numeric()
    written = column.cast(pl.Float64).cast(pl.Int64, strict=False) if is_number else column
    if is_number:  # 0.5 is neither
        written = written.set(written.cast(pl.Float64) != column.cast(pl.Float64), None)
    texts = written.cast(pl.String, strict=False).str.strip_chars().str.to_lowercase()
    found = texts.replace_strict(FLAGS, default=None, return_dtype=pl.Boolean)
    _refuse_first(data, column, found.is_null(), "neither yes nor no (write true or false, 0 or 1)")
    return found.to_numpy()


def is_before(data: Dataset, name: str, split: Any) -> Mask:
    """Mask of the rows where a column of dates, times or numbers is less than `split`."""
    times = times_of(data, name)
    at = _as_time(split) if times.dtype.kind == "M" else _as_number(split)
    if at is None:
        kind, how = ("date", ": write 2024-01-31") if times.dtype.kind == "M" else ("number", "")
        raise InputError(f"split {split!r} is no {kind}, and column {name!r} has {kind}s{how}")
    return np.asarray(times < (at if isinstance(at, float) else np.datetime64(at, "us")))


def times_of(data: Dataset, name: str) -> Times:
    """The values of a column of dates, times or numbers; InputError if a row has none."""
    import polars as pl

    column = data.column_aside(name)
    if not column.dtype.is_numeric():
        return np.array(_as_times(data, column), "datetime64[us]")
    numbers = column.cast(pl.Float64)
    is_bad = numbers.is_null() | ~numbers.is_finite().fill_null(value=True)
    _refuse_first(data, column, is_bad, "no number")
    return numbers.to_numpy()


def _as_times(data: Dataset, column: pl.Series) -> list[datetime]:
    """The times in a column of dates, times or ISO text; each distinct text is parsed once."""
    import polars as pl

    kind = column.dtype
    if kind not in (pl.Date, pl.Datetime, pl.String, pl.Categorical, pl.Enum):
        raise InputError(f"column {column.name!r} is {kind}: it must be dates, times or numbers")
    values = column.to_list()
    by_value = {value: _as_time(value) for value in set(values)}
    is_bad = pl.Series([by_value[value] is None for value in values])
    _refuse_first(data, column, is_bad, "no date (write 2024-01-31)")
    return [time for value in values if (time := by_value[value]) is not None]


def _as_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _as_time(value: Any) -> datetime | None:
    """A date, a time or ISO text as a time without zone, in UTC; None if it is neither."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


def _refuse_first(data: Dataset, column: pl.Series, is_bad: pl.Series, what: str) -> None:
    """Raise an error that names the first bad value and its row in the table."""
    if not is_bad.any():
        return
    bad = np.flatnonzero(is_bad.to_numpy())
    rows = bad if data.order is None else data.order[bad]
    first = bad[rows.argmin()]
    value = column[int(first)]
    has = "nothing" if value is None else repr(value)
    raise InputError(f"column {column.name!r} has {has} in row {rows.min()}: {what}")
