"""Do the rows of two tables belong together: by an index, in one order, enough of them?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unchurn.comparison.inputs.casting import NUMBER, WHOLE, as_ids
from unchurn.comparison.inputs.columns import (
    BY_INDEX,
    Columns,
    has_ids,
    index_column,
    is_index,
    told_by_model,
)
from unchurn.comparison.inputs.ids import ABSENT, alike, find
from unchurn.comparison.inputs.predictions import Predictions
from unchurn.comparison.inputs.sources import Source
from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError
from unchurn.report.numbers import percent

if TYPE_CHECKING:
    import polars as pl

MIN_OVERLAP = 0.5  # of either file's rows that must be in the other
N_COLUMNS = 64  # that files share and that are looked at for one that tells the rows
N_AT_ONCE = 8  # of them


def how_joined(sources: Sequence[Source], asked: Columns) -> tuple[Columns, bool]:
    """What was asked for, with the column to join by if one is found; whether an index is it."""
    asked = replace(asked, id=asked.id or joining_column(sources, asked))
    return asked, goes_by_index(sources, asked)


def goes_by_index(sources: Sequence[Source], asked: Columns) -> bool:
    """Whether an index that pandas wrote tells the rows, where no column of ids does.

    It does where every file has one. Otherwise rows go by their place; either way, files in which
    a column shows that others belong together are refused.
    """
    if any(has_ids(source, asked) for source in sources):
        return False
    indexes = {source.name: _index(source) for source in sources}
    there = {name: index for name, index in indexes.items() if index is not None}
    base, *others = sources
    if len(there) == len(sources) and all(_is_unique(index) for index in there.values()):
        for other in others:
            _check_order(base, other, asked, _rows(there[base.name], there[other.name]))
        return True
    first = next(iter(there.values()), None)
    are_same = len(there) == len(sources) and all(_same(first, index) for index in there.values())
    for name, index in there.items():
        if not (are_same or _counts_up(index)):
            without = next((other for other in indexes if other not in there), None)
            why = f"{without} has none" if without else "values are there more than once"
            raise InputError(
                f"{name} has the index of a pandas frame whose rows were moved, and {why}: write a "
                "column of ids into every file, or index=False if all are in one order"
            )
    for other in others:
        _check_order(base, other, asked)
    return False


def joining_column(sources: Sequence[Source], asked: Columns) -> str | None:
    """A column that all files have and that tells their rows apart, whatever it is called.

    It is looked for where no column is named, or called, as ids are: `ticket`, say. Its values must
    be mostly the same in all files. Of several, which must pair the rows alike, it is the first.
    The numbers of the rows in another order join nothing: they may be ranks that each model gave.
    """
    if any(source.is_array or has_ids(source, asked) for source in sources):
        return None
    found = _that_tell_rows(sources, asked)
    ids = {name: pairing for name, pairing in found.items() if not pairing.only_numbers}
    index = _pairing([_index(source) for source in sources])
    if not ids and found and index is not None:  # which was not made anew, and tells such a rank
        _check_alike({**found, BY_INDEX: index})
    _check_alike(ids)
    return next(iter(ids), None)


def _check_alike(found: dict[str, _Pairing]) -> None:
    """Refuse columns that pair the rows differently."""
    for first, other in pairwise(found):
        if not found[first].agrees(found[other]):
            shown = f"{first!r} and {other if other == BY_INDEX else repr(other)}"
            raise InputError(
                f"{shown} pair the rows differently: name one with id=, or leave the other out"
            )


@dataclass(frozen=True)
class _Pairing:
    """Where each row of the first file is in every other one, by a column; ABSENT: nowhere."""

    rows: tuple[IntArray, ...]
    only_numbers: bool  # of the rows, in some order

    def agrees(self, other: _Pairing) -> bool:
        """Whether no row has one partner by this column and another one by the other."""
        return all(
            ((one == two) | (one == ABSENT) | (two == ABSENT)).all()
            for one, two in zip(self.rows, other.rows, strict=True)
        )


def _that_tell_rows(sources: Sequence[Source], asked: Columns) -> dict[str, _Pairing]:
    """The columns of all files that tell their rows apart, and how each pairs them."""
    base, *others = sources
    said = {column for source in sources for column in told_by_model(source, asked)}
    used = {*said, *asked.slices, asked.label, asked.cluster}
    shared = [name for name in base.names if all(name in other.names for other in others)]
    candidates = [name for name in shared if name not in used and not is_index(name)][:N_COLUMNS]
    found = {}
    for column in _some_at_once(base, candidates):
        ids = _as_plain_ids(column, base)
        if ids is None or not _is_unique(ids):  # few are: the other files need not be read
            continue
        theirs = (_as_plain_ids(s.read([column.name])[column.name], s) for s in others)
        pairing = _pairing([ids, *theirs])
        if pairing is not None:
            found[column.name] = pairing
    return found


def _some_at_once(source: Source, names: Sequence[str]) -> Iterator[pl.Series]:
    """Columns of a file, read some at a time: a large one's must not fill the memory."""
    for start in range(0, len(names), N_AT_ONCE):
        yield from source.read(names[start : start + N_AT_ONCE])


def _as_plain_ids(column: pl.Series, source: Source) -> pl.Series | None:
    """Ids; None of what no id is: fractions are measured, or what a model said."""
    import polars as pl

    try:
        ids = as_ids(column, source.name, is_written=source.is_text)
    except InputError:
        return None
    if ids.dtype != pl.String:
        return None if ids.dtype.is_float() else ids
    numbers = ids.drop_nulls()
    are_fractions = numbers.str.contains(NUMBER).all() and not numbers.str.contains(WHOLE).all()
    return None if are_fractions else ids


def _pairing(each: Sequence[pl.Series | None]) -> _Pairing | None:
    """How a column pairs the rows of all files; None if it does not tell them."""
    given = [ids for ids in each if ids is not None and _is_unique(ids)]
    if len(given) < len(each) or all(_counts_up(ids) for ids in given):
        return None
    first, *others = given
    rows = tuple(_rows(first, other) for other in others)
    for other, found in zip(others, rows, strict=True):
        if (found != ABSENT).sum() < MIN_OVERLAP * min(len(first), len(other)):
            return None
    return _Pairing(rows, all(_is_numbering(ids) for ids in given))


def _rows(one: pl.Series, two: pl.Series) -> IntArray:
    """The row of each of one's values in two, or ABSENT."""
    found = find(*alike(one, two))
    return np.arange(len(one)) if found is None else found


def _index(source: Source) -> pl.Series | None:
    """The index that pandas wrote, if it did."""
    column = index_column(source)
    if column is None:
        return None
    return as_ids(source.read([column])[column], source.name, is_written=source.is_text)


def _is_unique(index: pl.Series) -> bool:
    return not index.null_count() and index.n_unique() == len(index)


def _same(one: pl.Series | None, two: pl.Series) -> bool:
    if one is None:
        return False
    left, right = alike(one, two)
    return left.equals(right)


def _counts_up(index: pl.Series) -> bool:
    """Whether it numbers the rows in their order, and so says no more than their place."""
    return index.dtype.is_integer() and bool((index.diff().drop_nulls() == 1).all())


def _is_numbering(ids: pl.Series) -> bool:
    """Whether distinct values are the numbers of rows, in any order."""
    return ids.dtype.is_integer() and int(ids.max()) - int(ids.min()) == len(ids) - 1  # type: ignore[arg-type]


def _check_order(base: Source, other: Source, asked: Columns, rows: IntArray | None = None) -> None:
    """Refuse to pair rows where a column holds the same values in both, in other rows.

    `rows` are base's rows in the other, by an index; None: by their place.
    """
    import polars as pl

    said = told_by_model(base, asked) | told_by_model(other, asked)
    shared = [name for name in base.names if name in other.names and name not in said]
    shared = [name for name in shared if not is_index(name)][:N_COLUMNS]
    if base.is_array:
        return
    both = zip(_some_at_once(base, shared), _some_at_once(other, shared), strict=True)
    for left, right in both:
        if rows is None and len(left) != len(right):
            return
        if left.dtype != right.dtype or left.dtype.is_nested() or left.dtype == pl.Object:
            continue
        # Few values may be as often in both by chance: whether each prediction is right, say.
        if _agree(left, right, rows) or left.n_unique() <= len(left) / 2:
            continue
        if _has_same(left, right):
            how = "not in one order" if rows is None else "not paired by their index"
            raise InputError(
                f"{base.name} and {other.name} are {how}: {left.name!r} has the same values in "
                "other rows. Join them with id="
            )


def _agree(left: pl.Series, right: pl.Series, rows: IntArray | None) -> bool:
    """Whether rows that are paired have the same value."""
    if rows is None:
        return left.equals(right)
    there = rows != ABSENT
    return left.filter(there).equals(right.gather(rows[there]))


def _has_same(left: pl.Series, right: pl.Series) -> bool:
    """Whether two columns have the same values; of different lengths, one all of the other's."""
    if len(left) == len(right):
        return left.sort().equals(right.sort())
    small, large = sorted((left, right), key=len)
    return bool(small.is_in(large.implode()).all())


def check_overlap(
    base: Predictions, other: Predictions, n_paired: int, min_overlap: float = MIN_OVERLAP
) -> None:
    """Refuse two models of which only a small part belongs together."""
    larger = max((base, other), key=lambda model: len(model.ids))
    share = n_paired / len(larger.ids)
    if share < min_overlap:
        raise InputError(
            f"only {n_paired:,} of the {len(larger.ids):,} rows of {larger.name} "
            f"({percent(share)}) are in both: {base.ids[0]!r} is the first id of {base.name}, "
            f"{other.ids[0]!r} of {other.name}. If that is meant, give min_overlap= {_below(share)}"
        )


def check_retrainings(floor_n: int, n: int, min_overlap: float) -> None:
    """Refuse retrainings that have only a small part of the examples."""
    if floor_n < min_overlap * n:
        raise InputError(
            f"only {floor_n:,} of the {n:,} examples ({percent(floor_n / n)}) are in every "
            f"retraining. If that is meant, give min_overlap= {_below(floor_n / n)}"
        )


def _below(share: float) -> str:
    """A round number that is no larger."""
    return f"{math.floor(share * 1000) / 1000:g}"
