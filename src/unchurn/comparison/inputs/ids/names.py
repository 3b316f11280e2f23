"""Find the ids of one file in another file, where their column may have another name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from unchurn.comparison.inputs.casting import as_ids
from unchurn.comparison.inputs.columns import Columns, id_column
from unchurn.comparison.inputs.ids.lookup import ABSENT, alike, find, repeated
from unchurn.comparison.inputs.sources import Source
from unchurn.core.errors import InputError
from unchurn.core.frames import INDEXES

if TYPE_CHECKING:
    import polars as pl

MOST_COLUMNS = 64  # columns that are searched for the ids
NEARLY_ALL = 0.99  # share of the smaller file's ids that the other must have
MOST_TIMES = 2  # ratio of two numbers of ids: any short numbering is part of a much longer one


def check_names_of_ids(sources: Sequence[Source], asked: Columns) -> None:
    """Refuse files if only some have the id column; suggest the column that holds the ids."""
    has = next((one for one in sources if id_column(one, asked) is not None), None)
    lacks = next((one for one in sources if id_column(one, asked) is None), None)
    if has is None or lacks is None or asked.id in INDEXES:
        return
    column = str(id_column(has, asked))
    none = f"{has.name} has ids, {column!r}, and {lacks.name} has none that are called so"
    remove = f"or remove {column!r} from {has.name} if all rows are in one order"
    if lacks.is_array:
        raise InputError(
            f"{has.name} has ids and {lacks.name} has none: give a table with a column {column!r} "
            f"for it, {remove}"
        )
    if asked.id is not None:
        none = f"{lacks.name}: no column {column!r}, which {has.name} has"
    ids = _ids_of(has, column)
    if asked.id is not None and ids is not None and (twice := repeated(ids)):
        raise InputError(
            f"{none}, where it tells no rows apart: {twice:,} values are there more than once. "
            "Join with id= by what each row has of its own; if it is a user or the like, who has "
            "several, name it with cluster="
        )
    holding = [] if ids is None else _that_hold(ids, lacks)
    if len(holding) == 1:
        first, second = (holding[0], column) if lacks is sources[0] else (column, holding[0])
        raise InputError(
            f"{none}: its {holding[0]!r} has the same values, so give {both_names(first, second)}"
        )
    raise InputError(
        f"{none}: give it a column {column!r} of the same ids (rename the one that has them), "
        f"{remove}; there are {', '.join(lacks.names)}"
    )


def both_names(ours: str, theirs: str) -> str:
    """The option id= for a column that two files call differently."""
    named = f"{ours}={theirs}"
    return f"id= {named!r}" if " " in named else f"id= {named}"


def same_by_other_names(
    base: Source, other: Source, used: Collection[str]
) -> list[tuple[str, str]]:
    """Pairs of unique columns of two files with the same values and different names."""
    theirs = [name for name in other.names if name not in used and name not in base.names]
    ours = [name for name in base.names if name not in used and name not in other.names]
    known = _that_tell_rows(base, ours) if theirs else []
    found = _that_tell_rows(other, theirs) if known else []
    return [(one.name, two.name) for one in known for two in found if _have_nearly_all(one, two)]


def _ids_of(source: Source, column: str) -> pl.Series | None:
    """A file's ids without gaps; None if they cannot be compared."""
    try:
        return as_ids(source.read([column])[column], column, is_written=source.is_text).drop_nulls()
    except InputError:
        return None


def _that_hold(ids: pl.Series, lacks: Source) -> list[str]:
    """The columns of a file that hold the ids of another file, each id once in both."""
    if repeated(ids):
        return []
    return [
        one.name
        for one in _that_tell_rows(lacks, lacks.names)
        if max(len(ids), len(one)) <= MOST_TIMES * min(len(ids), len(one))
        and _have_nearly_all(ids, one)
    ]


def _that_tell_rows(source: Source, names: Sequence[str]) -> list[pl.Series]:
    """The named columns, as ids, that have a different value in every row."""
    found = []
    for column in source.columns(names[:MOST_COLUMNS]):
        try:
            ids = as_ids(column, source.name, is_written=source.is_text)
        except InputError:  # numbers that may have lost digits, or no single values
            continue
        if not ids.null_count() and ids.n_unique() == len(ids):
            found.append(ids.alias(column.name))
    return found


def _have_nearly_all(one: pl.Series, two: pl.Series) -> bool:
    """Whether nearly all ids of the smaller of two columns are in the larger."""
    rows = find(*alike(one, two))
    n = len(one) if rows is None else int((rows != ABSENT).sum())
    return n >= NEARLY_ALL * min(len(one), len(two))
