"""Split rows by time into periods, of a length such as 30d or of a number of rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from unchurn.core.arrays import IntArray, as_whole
from unchurn.core.errors import InputError
from unchurn.datasets.side_columns import Times
from unchurn.study.results.history import Time

LENGTH = re.compile(r"(\d{1,6}) ?([hdw])")
HOURS = {"h": 1, "d": 24, "w": 168}
HOW = "a length such as 30d, 12h or 2w, or a number of rows"
FEWEST, MOST = 3, 52  # periods: two releases and a test need 3; over 52 come from a mistyped length


@dataclass(frozen=True, eq=False, kw_only=True)
class Periods:
    """The period of every row, numbered from 0 without empty ones, and when each begins."""

    numbers: IntArray
    begins: tuple[Time, ...]
    n_empty: int  # empty periods that were left out

    def __len__(self) -> int:
        return len(self.begins)


def as_every(every: Any) -> str | int:
    """Parse the length of a period: a text such as "30d", or a number of rows."""
    text = str(every).strip().lower()
    if text.isdecimal():
        return as_whole(int(text), 1, "every")
    found = LENGTH.fullmatch(text)
    if found is None or int(found[1]) == 0:
        raise InputError(f"every is {HOW}, not {every!r}")
    return f"{int(found[1])}{found[2]}"


def make_periods(times: Times, every: str | int, column: str) -> Periods:
    """Split rows by time, from the earliest on; rows of equal time stay in one period."""
    if isinstance(every, int):
        found = _by_rows(times, every)
    elif times.dtype.kind == "M":
        found = _by_length(times, every)
    else:
        raise InputError(
            f"every {every!r} is a length of time, and column {column!r} has numbers: give every= "
            "a number of rows"
        )
    n = len(found)
    if n < FEWEST:
        raise InputError(
            f"column {column!r} has {n} period{'s' * (n > 1)} of {in_words(every)}, and it takes "
            f"{FEWEST}, for two releases and what comes after them: give every= less"
        )
    if n > MOST:
        more = _times_as_long(every, -(-(n + found.n_empty) // MOST))
        raise InputError(
            f"column {column!r} has {n:,} periods of {in_words(every)}, a release each, and {MOST} "
            f"are the most: give every= more, such as {more}"
        )
    return found


def in_words(every: str | int) -> str:
    """The length of a period as text, such as "30d" or "500 rows"."""
    return every if isinstance(every, str) else f"{every:,} row{'s' * (every > 1)}"


def _by_length(times: Times, every: str) -> Periods:
    first = times.min()
    length = np.timedelta64(int(every[:-1]) * HOURS[every[-1]], "h").astype("timedelta64[us]")
    whole, numbers = np.unique((times - first) // length, return_inverse=True)
    begins = tuple(_written(first + int(number) * length) for number in whole)
    return Periods(numbers=numbers, begins=begins, n_empty=int(whole[-1]) + 1 - len(whole))


def _by_rows(times: Times, every: int) -> Periods:
    distinct, which, counts = np.unique(times, return_inverse=True, return_counts=True)
    numbers = np.zeros(len(distinct), np.int64)
    number = n_rows = 0
    for place, count in enumerate(counts.tolist()):
        numbers[place] = number
        n_rows += count
        if n_rows >= every:
            number, n_rows = number + 1, 0
    begins = [_written(distinct[place]) for place in np.unique(numbers, return_index=True)[1]]
    return Periods(numbers=numbers[which], begins=tuple(begins), n_empty=0)


def _times_as_long(every: str | int, factor: int) -> str:
    if isinstance(every, int):
        return str(factor * every)
    return f"{factor * int(every[:-1])}{every[-1]}"


def _written(time: Any) -> Time:
    """A time as JSON stores it."""
    if isinstance(time, np.datetime64):
        return str(time.astype("datetime64[s]"))
    return float(time)
