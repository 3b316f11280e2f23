"""`Preparation`: how a table's columns became a network's inputs, so that new rows can follow.

Numbers are standardised by the training part's mean and deviation; a gap takes its median, and a
column of 0 and 1 says where gaps were. Text, booleans and categories become a column of 0 and 1 for
each value; a gap is one more value.
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

MAX_EXPONENT = 1100  # beyond those of all floats
MAX_CATEGORIES = 1000  # a text column with more distinct values is taken for an identifier
DATE = re.compile(  # 2024-01-31, and what spreadsheets write: 2024/1/31, 31.01.2024, 1/31/2024
    r"(\d{4}-\d\d-\d\d|(19|20)\d\d/\d\d?/\d\d?|[0-3]?\d[-/.][0-3]?\d[-/.](19|20)\d\d)"
)
MOST_NAMED = 10  # columns in an error
ASIDE = "give aside="  # how a table's column is left out
Done = TypeVar("Done")


class NoFeatureError(InputError):
    """A column from which nothing can be learned as it is."""


@dataclass(frozen=True, kw_only=True)
class NumberColumn:
    """How numbers are filled and scaled."""

    name: str
    median: float
    exponent: int  # of two, by which numbers are divided first: the largest squares must fit
    mean: float
    deviation: float  # 0: a column that is constant in training
    has_gaps: bool

    @property
    def width(self) -> int:
        """How many inputs it gives."""
        return 1 + self.has_gaps

    def transform(self, column: pl.Series) -> Float64:
        """(n, 1) numbers, or (n, 2) with where gaps were."""
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
    """The values that have a column each."""

    name: str
    values: tuple[str, ...]

    @property
    def width(self) -> int:
        """How many inputs it gives."""
        return len(self.values)

    def __repr__(self) -> str:
        """Its first values only: there may be a thousand."""
        return f"CategoryColumn(name={self.name!r}, values={reprlib.repr(self.values)})"

    def transform(self, column: pl.Series) -> Float64:
        """(n, values) of 0 and 1; a value that was never learned has no 1."""
        texts = as_texts(as_spelled(of_new_rows(column, "text"), self.values))
        return np.asarray(texts[:, None] == np.array(self.values), np.float64)


@dataclass(frozen=True)
class Preparation:
    """What was learned of each column, in order."""

    columns: tuple[NumberColumn | CategoryColumn, ...]

    @property
    def names(self) -> list[str]:
        """The columns that it takes."""
        return [one.name for one in self.columns]

    @property
    def width(self) -> int:
        """How many inputs of a network it gives."""
        return sum(one.width for one in self.columns)

    def transform(self, table: pl.DataFrame) -> Float32:
        """Rows of a table with the same columns, in any order, as inputs of the network."""
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
        """What JSON holds of it."""
        return [{"kind": type(one).__name__, **asdict(one)} for one in self.columns]

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """Make it of what `to_plain` gave, and JSON held meanwhile."""
        return cls(tuple(_column(one) for one in plain))

    def save(self, path: str | Path) -> None:
        """Write it as JSON; a model that was fitted to a dataset keeps it anyway."""
        write_text(Path(path), json.dumps({"columns": self.to_plain()}, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        with reading(Path(path), "a table's preparation"):
            return cls.from_plain(json.loads(Path(path).read_text("utf-8"))["columns"])


def _column(plain: Any) -> NumberColumn | CategoryColumn:
    """One column of JSON, each of its fields checked."""
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
    """Learn from a table's training rows; categories from all rows, so that each has a column.

    What `check` refuses, and what cannot be learned from, is said of all columns at once, and how
    the caller leaves a column out.
    """

    def learn(column: pl.Series) -> NumberColumn | CategoryColumn:
        check(column)
        return _learn(column, train)

    return Preparation(tuple(of_each(table, learn, how_left_out)))


def prepare_what_can_be(table: pl.DataFrame) -> tuple[Preparation, str]:
    """The same of all rows, of the columns that can be learned from; and why the others cannot."""
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
    """What is done to each column; one error names all those that it cannot be done to."""
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
    """What is wrong with columns; what is no feature comes last, and what to do about it once."""
    text = _named(sorted(problems, key=lambda problem: isinstance(problem, NoFeatureError)))
    n = sum(isinstance(problem, NoFeatureError) for problem in problems)
    it = "it" if n == 1 else "them"
    how = how_left_out.format(it=it)
    return f"{text}: turn {it} into numbers, or to leave {it} out {how}" if n else text


def _named(problems: Sequence[InputError]) -> str:
    """What is wrong with columns, one after the other; of many, with the first of them."""
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
    """Median, scale and deviation of the training rows."""
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
    """Refuse text that is neither a number nor a sign of a gap, where numbers were learned from."""
    if (row := odd_text(column)) is not None:
        raise InputError(f"column {column.name!r} is no number in row {row}: {column[row]!r}")
