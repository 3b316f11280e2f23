"""Do the rows of two tables belong together: by an index, in one order, enough of them?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from unchurn.comparison.inputs.casting import as_ids
from unchurn.comparison.inputs.columns import (
    INDEXES,
    Columns,
    has_ids,
    index_column,
    told_by_model,
)
from unchurn.comparison.inputs.ids import ABSENT, alike, find
from unchurn.comparison.inputs.predictions import Predictions
from unchurn.comparison.inputs.sources import Source
from unchurn.core.errors import InputError
from unchurn.report.numbers import percent

if TYPE_CHECKING:
    import polars as pl

MIN_OVERLAP = 0.5  # of either file's rows that must be in the other
N_COLUMNS = 8  # that two files share and that are looked at for their order


def goes_by_index(sources: Sequence[Source], asked: Columns) -> bool:
    """Whether an index that pandas wrote tells the rows, where no column of ids does.

    It does where every file has one. Otherwise rows go by their place; then files that show to be
    in another order are refused.
    """
    if any(has_ids(source, asked) for source in sources):
        return False
    indexes = {source.name: _index(source) for source in sources}
    there = {name: index for name, index in indexes.items() if index is not None}
    if len(there) == len(sources) and all(_is_unique(index) for index in there.values()):
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
    base, *others = sources
    for other in others:
        _check_order(base, other, asked)
    return False


def joining_column(sources: Sequence[Source], asked: Columns) -> str | None:
    """The one column that all files have and that tells their rows apart, whatever it is called.

    It is looked for where no column is named, or called, as ids are: `ticket`, say. Its values must
    be mostly the same in all files; values that count the rows say no more than their place.
    """
    if any(source.is_array or has_ids(source, asked) for source in sources):
        return None
    base, *others = sources
    said = {column for source in sources for column in told_by_model(source, asked)}
    used = {*said, *INDEXES, *asked.slices, asked.label, asked.cluster}
    shared = [name for name in base.names if all(name in other.names for other in others)]
    candidates = [name for name in shared if name not in used][:N_COLUMNS]
    found = [name for name in candidates if _tells_rows(name, sources)]
    return found[0] if len(found) == 1 else None


def _tells_rows(column: str, sources: Sequence[Source]) -> bool:
    """Whether a column has another value in every row, and mostly the same ones in all files."""
    try:
        each = [as_ids(s.read([column])[column], s.name, is_written=s.is_text) for s in sources]
    except InputError:  # of a kind that no id is
        return False
    if not all(_is_unique(ids) for ids in each) or all(_counts_up(ids) for ids in each):
        return False
    return all(_overlap(each[0], other) >= MIN_OVERLAP for other in each[1:])


def _overlap(one: pl.Series, two: pl.Series) -> float:
    """The share of the smaller column's values that the other has."""
    small, large = sorted(alike(one, two), key=len)
    places = find(small, large)
    return 1.0 if places is None else float((places != ABSENT).mean())


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


def _check_order(base: Source, other: Source, asked: Columns) -> None:
    """Refuse to go by place where a column holds the same values in both, in another order."""
    import polars as pl

    said = told_by_model(base, asked) | told_by_model(other, asked)
    shared = [name for name in base.names if name in other.names and name not in said][:N_COLUMNS]
    if base.is_array or not shared:
        return
    one, two = base.read(shared), other.read(shared)
    if one.height != two.height:
        return
    for name in shared:
        left, right = one[name], two[name]
        if left.dtype != right.dtype or left.dtype.is_nested() or left.dtype == pl.Object:
            continue
        # Few values may be as often in both by chance: whether each prediction is right, say.
        if left.equals(right) or left.n_unique() <= len(left) / 2:
            continue
        if left.sort().equals(right.sort()):
            raise InputError(
                f"{base.name} and {other.name} are not in one order: {name!r} has the same values "
                "in other rows. Join them with id="
            )


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
