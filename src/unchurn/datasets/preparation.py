"""`Preparation`: how a table's columns become inputs of a network, the same for new rows.

Numbers are standardised by the training part's mean and deviation. A gap is filled with the
training part's median, and one more input of 0 and 1 marks where gaps were. Text, booleans and
categories become one input of 0 and 1 for each value; a gap is one more value.
"""

from __future__ import annotations

import json
import re
import reprlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from unchurn.core.arrays import Float32, Float64
from unchurn.core.errors import InputError, unknown
from unchurn.core.files import reading, write_text
from unchurn.datasets.columns import (
    GAP,
    as_numbers,
    as_spelled,
    as_texts,
    is_category,
    is_number,
    odd_text,
    of_new_rows,
    what_it_has,
)

if TYPE_CHECKING:
    import polars as pl

MAX_EXPONENT = 1100  # larger than any float's
MAX_CATEGORIES = 1000  # a text column with more distinct values is treated as an identifier
DATE = re.compile(  # 2024-01-31, and what spreadsheets write: 2024/1/31, 31.01.2024, 1/31/2024
    r"(\d{4}-\d\d-\d\d|(19|20)\d\d/\d\d?/\d\d?|[0-3]?\d[-/.][0-3]?\d[-/.](19|20)\d\d)"
)
MOST_NAMED = 10  # columns in an error
ASIDE = "give aside="  # how a table's column is left out
Done = TypeVar("Done")


class NoFeatureError(InputError):
    """A column cannot be a feature as it is."""


@dataclass(frozen=True, kw_only=True)
class NumberColumn:
    """How a column of numbers is filled and scaled."""

    name: str
    median: float
    exponent: int  # numbers are first divided by 2**exponent, so that squares do not overflow
    mean: float
    deviation: float  # 0 if the column is constant in training
    has_gaps: bool

    @property
    def width(self) -> int:
        """Number of inputs that it makes."""
        return 1 + self.has_gaps

    def transform(self, column: pl.Series) -> Float64:
        """(n, 1) scaled numbers, or (n, 2) with a mark of gaps."""
        column = of_new_rows(column, "numbers")
        _check_numbers(column)
        numbers = as_numbers(column)
        gaps = np.isnan(numbers)
        if gaps.any() and not self.has_gaps:
            warnings.warn(
                f"column {self.name!r} has gaps, of which training had none: its median, "
                f"{self.median:g}, takes their place",
                stacklevel=2,
            )
        filled = np.where(gaps, self.median, numbers)
        if self.deviation == 0:
            scaled = np.zeros_like(filled)
        else:
            with np.errstate(over="ignore"):
                scaled = (np.ldexp(filled, -self.exponent) - self.mean) / self.deviation
        return np.column_stack([scaled, gaps] if self.has_gaps else [scaled])


@dataclass(frozen=True, kw_only=True, repr=False)
class CategoryColumn:
    """The values of a column of text, booleans or categories; each becomes an input."""

    name: str
    values: tuple[str, ...]

    @property
    def width(self) -> int:
        """Number of inputs that it makes."""
        return len(self.values)

    def __repr__(self) -> str:
        """Only its first values: there may be a thousand."""
        return f"CategoryColumn(name={self.name!r}, values={reprlib.repr(self.values)})"

    def transform(self, column: pl.Series) -> Float64:
        """(n, number of values) of 0 and 1; a row with an unknown value is all 0."""
        texts = as_texts(as_spelled(of_new_rows(column, "text"), self.values))
        return np.asarray(texts[:, None] == np.array(self.values), np.float64)


@dataclass(frozen=True)
class Preparation:
    """How each column of a table becomes inputs of a network; made by `load_table` and models."""

    columns: tuple[NumberColumn | CategoryColumn, ...]

    @property
    def names(self) -> list[str]:
        """The names of the columns that it needs."""
        return [one.name for one in self.columns]

    @property
    def width(self) -> int:
        """Number of network inputs that it makes."""
        return sum(one.width for one in self.columns)

    def transform(self, table: pl.DataFrame) -> Float32:
        """Turn rows of a table into inputs; it must have the same columns, in any order."""
        missing = [name for name in self.names if name not in table.columns]
        if missing:
            raise InputError(unknown("column", missing[0], table.columns))
        x = np.hstack([one.transform(table[one.name]) for one in self.columns])
        with np.errstate(over="ignore"):
            small = x.astype(np.float32)
        if not np.isfinite(small).all():
            row = int((~np.isfinite(small)).any(axis=1).argmax())
            raise InputError(f"row {row} has a number too far from those of the training part")
        return small

    def to_plain(self) -> list[dict[str, Any]]:
        """The preparation as plain lists and dictionaries, for JSON."""
        return [{"kind": type(one).__name__, **asdict(one)} for one in self.columns]

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """The inverse of `to_plain`, with every field checked."""
        return cls(tuple(_column(one) for one in plain))

    def save(self, path: str | Path) -> None:
        """Write it to a JSON file; a model that was fitted to the dataset keeps it anyway."""
        write_text(Path(path), json.dumps({"columns": self.to_plain()}, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a preparation that `save` wrote."""
        with reading(Path(path), "a table's preparation"):
            return cls.from_plain(json.loads(Path(path).read_text("utf-8"))["columns"])


def _column(plain: Any) -> NumberColumn | CategoryColumn:
    """One column from JSON, with every field checked."""
    fields = dict(plain)
    kind = fields.pop("kind")
    types = {"name": str, "exponent": int, "has_gaps": bool, "values": list}
    for name, value in fields.items():
        if type(value) is not types.get(name, float):
            raise InputError(f"{name} of a column is {value!r}")
    if kind == "CategoryColumn":
        values = tuple(str(value) for value in fields.pop("values"))
        return CategoryColumn(**fields, values=values)
    if kind != "NumberColumn":
        raise InputError(f"a column is of kind {kind!r}")
    column = NumberColumn(**fields)
    scale = (column.median, column.mean, column.deviation)
    if abs(column.exponent) > MAX_EXPONENT or not np.isfinite(scale).all():
        raise InputError(f"column {column.name!r} was scaled by what is no number")
    return column


def prepare(
    table: pl.DataFrame,
    train: Sequence[int] | Any,
    check: Callable[[pl.Series], None] = lambda column: None,
    *,
    how_left_out: str = ASIDE,
) -> Preparation:
    """Learn a preparation from a table's training rows; categories from all rows.

    One error names all columns that `check` refuses or that cannot be features, and says how to
    leave a column out.
    """

    def learn(column: pl.Series) -> NumberColumn | CategoryColumn:
        check(column)
        return _learn(column, train)

    return Preparation(tuple(of_each(table, learn, how_left_out)))


def prepare_what_can_be(table: pl.DataFrame) -> tuple[Preparation, str]:
    """Learn a preparation of all columns that can be features, from all rows.

    Also returns a text that names the other columns and says why they cannot.
    """
    rows = np.arange(table.height)

    def learn(column: pl.Series) -> NumberColumn | CategoryColumn | NoFeatureError:
        try:
            return _learn(column, rows)
        except NoFeatureError as error:
            return error

    done = of_each(table, learn)
    left_out: list[InputError] = [one for one in done if isinstance(one, NoFeatureError)]
    learned = Preparation(tuple(one for one in done if not isinstance(one, NoFeatureError)))
    return learned, _named(left_out)


def of_each(
    table: pl.DataFrame, do: Callable[[pl.Series], Done], how_left_out: str = ASIDE
) -> list[Done]:
    """Apply a function to each column; one error names all columns for which it fails."""
    done, problems = [], []
    for column in table:
        try:
            done.append(do(column))
        except InputError as error:
            problems.append(error)
    if problems:
        raise InputError(_in_one_line(problems, how_left_out))
    return done


def _in_one_line(problems: list[InputError], how_left_out: str) -> str:
    """All problems in one line; columns that cannot be features last, then the advice, once."""
    text = _named(sorted(problems, key=lambda problem: isinstance(problem, NoFeatureError)))
    n = sum(isinstance(problem, NoFeatureError) for problem in problems)
    it = "it" if n == 1 else "them"
    how = how_left_out.format(it=it)
    return f"{text}: turn {it} into numbers, or to leave {it} out {how}" if n else text


def _named(problems: Sequence[InputError]) -> str:
    """The problems of columns, one after the other; at most MOST_NAMED of them."""
    shown = problems[:MOST_NAMED]
    more = len(problems) - len(shown)
    return "; ".join(map(str, shown)) + (f"; and {more} columns more" if more else "")


def _learn(column: pl.Series, train: Any) -> NumberColumn | CategoryColumn:
    if (column.fill_nan(None) if column.dtype.is_float() else column).null_count() == len(column):
        raise NoFeatureError(f"column {column.name!r} has no value")
    if is_number(column):
        return _learn_number(column.name, as_numbers(column), train)
    if not is_category(column):
        raise NoFeatureError(f"column {column.name!r} has {what_it_has(column)}")
    values = np.unique(as_texts(column))
    if all(DATE.match(value) for value in values if value != GAP):
        raise NoFeatureError(f"column {column.name!r} has dates")
    if len(values) > MAX_CATEGORIES:
        raise NoFeatureError(
            f"column {column.name!r} has {len(values):,} distinct texts, as an identifier would"
        )
    return CategoryColumn(name=column.name, values=tuple(str(value) for value in values))


def _learn_number(name: str, numbers: Float64, train: Any) -> NumberColumn:
    """The median, scale and deviation of the training rows."""
    if np.isinf(numbers).any():
        row = int(np.isinf(numbers).argmax())
        raise InputError(f"column {name!r} has {numbers[row]} in row {row}")
    gaps = np.isnan(numbers)
    known = numbers[train][~gaps[train]]
    if known.size == 0:
        raise InputError(f"column {name!r} has no number in the training part: drop it")
    median = float(np.median(known))
    filled = np.where(gaps, median, numbers)[train]
    constant = bool(filled.min() == filled.max())  # a computed deviation may be rounding, not 0
    exponent = 0 if constant else int(np.frexp(np.abs(filled).max())[1])
    with np.errstate(over="ignore"):
        scaled = np.ldexp(filled, -exponent)
    return NumberColumn(
        name=name,
        median=median,
        exponent=exponent,
        mean=float(scaled.mean()),
        deviation=0.0 if constant else float(scaled.std()),
        has_gaps=bool(gaps.any()),
    )


def _check_numbers(column: pl.Series) -> None:
    """Refuse text that is neither a number nor a sign of a gap in a column of numbers."""
    if (row := odd_text(column)) is not None:
        raise InputError(f"column {column.name!r} is no number in row {row}: {column[row]!r}")
