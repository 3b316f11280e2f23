"""Choose what pairs the rows of tables (id column, index or position); check the overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from operator import or_
from typing import TYPE_CHECKING

import numpy as np

from unchurn.comparison.inputs.casting import as_ids
from unchurn.comparison.inputs.columns import (
    Columns,
    has_ids,
    index_column,
    is_called_index,
    is_index,
    said_by_models,
)
from unchurn.comparison.inputs.ids.lookup import ABSENT, alike, find, n_shared, written_otherwise
from unchurn.comparison.inputs.ids.names import check_names_of_ids
from unchurn.comparison.inputs.ids.order import N_COLUMNS, check_order, is_measured
from unchurn.comparison.inputs.predictions import Predictions
from unchurn.comparison.inputs.sources import Source
from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError
from unchurn.core.tables import ID_NAME
from unchurn.report.numbers import percent

if TYPE_CHECKING:
    import polars as pl

MIN_OVERLAP = 0.5  # share of either file's rows that must be in the other
NEARLY_ALL = 0.99  # share of the smaller file's ids that the larger must have
WRITE_IDS = "write a column of ids into every file, or index=False if all are in one order"


def how_joined(sources: Sequence[Source], asked: Columns) -> tuple[Columns, bool]:
    """The options, with the id column if one is found, and whether to join by a pandas index."""
    if asked.id is None:
        asked = replace(asked, id=joining_column(sources, asked))
    by_index = goes_by_index(sources, asked)
    if not by_index:
        check_names_of_ids(sources, asked)
    return asked, by_index


def goes_by_index(sources: Sequence[Source], asked: Columns) -> bool:
    """Whether to join by an index that pandas wrote, as there is no column of ids.

    It is used if every file has one; otherwise rows are paired by position. Either way, files are
    refused if a column shows that other rows belong together.
    """
    have_ids = [has_ids(source, asked) for source in sources]
    if all(have_ids):
        return False
    are_called = [any(map(is_called_index, source.names)) for source in sources]
    if any(have_ids):  # one file may call `id` what another calls `index`
        return all(map(or_, have_ids, are_called))
    if any(are_called) and not all(are_called):
        has, lacks = (sources[are_called.index(there)].name for there in (True, False))
        raise InputError(f"{has} has a column called index, and {lacks} has none: {WRITE_IDS}")
    indexes = {source.name: _index(source) for source in sources}
    there = {name: index for name, index in indexes.items() if index is not None}
    base, *others = sources
    if len(there) == len(sources) and all(_is_unique(index) for index in there.values()):
        # An index 0, 1, 2 … in every file may be new, and carries no more than row position;
        # against any other index, integers are no proof: each model may rank its rows.
        is_anew = all(_counts_up(index) for index in there.values())
        for other in others:
            rows = _rows(there[base.name], there[other.name])
            check_order(base, other, asked, rows, only_text=not is_anew)
        return True
    first = next(iter(there.values()), None)
    are_same = len(there) == len(sources) and all(_same(first, index) for index in there.values())
    for name, index in there.items():
        if not (are_same or _counts_up(index)):
            without = next((other for other in indexes if other not in there), None)
            why = f"{without} has none" if without else "values are there more than once"
            raise InputError(
                f"{name} has the index of a pandas frame whose rows were moved, and {why}: "
                f"{WRITE_IDS}"
            )
    for other in others:
        check_order(base, other, asked)
    return False


def joining_column(sources: Sequence[Source], asked: Columns) -> str | None:
    """A column of ids that all files have, without a usual name of ids, such as `ticket`; or None.

    It is text, or called `…_id`: other numbers and times may be measured by each model. It has a
    different value in every row, and nearly all of a file's values are in every other. If several
    qualify, which must pair the rows alike, it is the first.
    """
    if any(source.is_array or has_ids(source, asked) for source in sources):
        return None
    found = _that_tell_rows(sources, asked)
    for (first, ours), (other, theirs) in pairwise(found.items()):
        if not all(map(_agree_on_rows, ours, theirs)):
            raise InputError(
                f"{first!r} and {other!r} pair the rows differently: name one with id=, or leave "
                "the other out"
            )
    return next(iter(found), None)


def _that_tell_rows(sources: Sequence[Source], asked: Columns) -> dict[str, list[IntArray]]:
    """The columns of ids and, for each, where the rows of the first file are in the others."""
    base, *others = sources
    used = {*said_by_models(sources, asked), *asked.slices, asked.label, asked.cluster}
    shared = [name for name in base.names if all(name in other.names for other in others)]
    candidates = [name for name in shared if name not in used and not is_index(name)][:N_COLUMNS]
    found = {}
    for column in base.columns(candidates):
        ids = _as_own_ids(column, base)
        if ids is None:  # the usual case: the other files need not be read
            continue
        theirs = (_as_own_ids(s.read([column.name])[column.name], s) for s in others)
        rows = [_rows_of_nearly_all(ids, other) for other in theirs]
        if all(one is not None for one in rows):
            found[column.name] = [one for one in rows if one is not None]
    return found


def _as_own_ids(column: pl.Series, source: Source) -> pl.Series | None:
    """The column as ids, if it is unique and cannot be a measurement; else None."""
    try:
        ids = as_ids(column, source.name, is_written=source.is_text)
    except InputError:
        return None
    if not _is_unique(ids):
        return None
    is_called_so = ids.dtype.is_integer() and ID_NAME.search(column.name)
    return ids if is_called_so or not is_measured(ids) else None


def _rows_of_nearly_all(one: pl.Series, two: pl.Series | None) -> IntArray | None:
    """The row in `two` of each value of `one`; None if many are missing."""
    if two is None:
        return None
    rows = _rows(one, two)
    return rows if (rows != ABSENT).sum() >= NEARLY_ALL * min(len(one), len(two)) else None


def _agree_on_rows(one: IntArray, two: IntArray) -> bool:
    """Whether two pairings give no row different partners."""
    return bool(((one == two) | (one == ABSENT) | (two == ABSENT)).all())


def _rows(one: pl.Series, two: pl.Series) -> IntArray:
    """The row in `two` of each value of `one`, or ABSENT."""
    found = find(*alike(one, two))
    return np.arange(len(one)) if found is None else found


def _index(source: Source) -> pl.Series | None:
    """The index that pandas wrote; None if there is none."""
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
    """Whether an index counts the rows in order, and so carries no more than row position."""
    return index.dtype.is_integer() and bool((index.diff().drop_nulls() == 1).all())


def check_overlap(
    base: Predictions, other: Predictions, n_paired: int, min_overlap: float = MIN_OVERLAP
) -> None:
    """Refuse two models that share too small a part of their rows."""
    larger, smaller = sorted((base, other), key=lambda model: -len(model.ids))
    n = len(larger.ids)
    share = n_paired / n
    if share >= min_overlap:
        return
    few = f"only {n_paired:,} of the {n:,} rows of {larger.name} ({percent(share)})"
    meant = f"If that is meant, give min_overlap= {_below(share)}"
    empty = n_shared(smaller.ids_without_prediction, larger.ids)
    if empty > (n - n_paired) / 2:
        raise InputError(
            f"{few} have a prediction in both: of {empty:,}, the prediction is empty in "
            f"{smaller.name}. {meant}"
        )
    otherwise = written_otherwise(base.ids, other.ids, n_paired)
    raise InputError(
        f"{few} are in both: {base.ids[0]!r} is the first id of {base.name}, {other.ids[0]!r} of "
        f"{other.name}{otherwise or f'. {meant}'}"
    )


def check_retrainings(floor_n: int, n: int, min_overlap: float) -> None:
    """Refuse retrainings that share too small a part of the examples."""
    if floor_n < min_overlap * n:
        raise InputError(
            f"only {floor_n:,} of the {n:,} examples ({percent(floor_n / n)}) are in every "
            f"retraining. If that is meant, give min_overlap= {_below(floor_n / n)}"
        )


def _below(share: float) -> str:
    """The share rounded down to three decimals, as text."""
    return f"{math.floor(share * 1000) / 1000:g}"
