"""Ids that one file has under a name that another has not: what to rename there."""

from __future__ import annotations

from collections.abc import Sequence

from unchurn.comparison.inputs.casting import as_ids
from unchurn.comparison.inputs.columns import INDEXES, Columns, id_column
from unchurn.comparison.inputs.ids import ABSENT, alike, find
from unchurn.comparison.inputs.sources import Source
from unchurn.core.errors import InputError

MOST_COLUMNS = 64  # that are looked at for one that holds the ids
NEARLY_ALL = 0.99  # of the smaller file's ids that the other must have


def check_names_of_ids(sources: Sequence[Source], asked: Columns) -> None:
    """Refuse files of which some have the column of ids and some have none of such a name.

    One option names the column in every file, so it cannot help: the files must.
    """
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
    holding = _that_hold(has, column, lacks)
    if len(holding) == 1:
        raise InputError(
            f"{none}: in {lacks.name} rename {holding[0]!r}, which has the same values, to "
            f"{column!r}"
        )
    raise InputError(
        f"{none}: give it a column {column!r} of the same ids (rename the one that has them), "
        f"{remove}; there are {', '.join(lacks.names)}"
    )


def _that_hold(has: Source, column: str, lacks: Source) -> list[str]:
    """The columns of a file that hold nearly all ids of another one, each once."""
    try:
        ids = as_ids(has.read([column])[column], has.name, is_written=has.is_text)
    except InputError:
        return []
    found = []
    for other in lacks.columns(lacks.names[:MOST_COLUMNS]):
        try:
            values = as_ids(other, lacks.name, is_written=lacks.is_text)
        except InputError:  # as numbers that are not whole
            continue
        if values.null_count() or values.n_unique() < len(values):
            continue
        rows = find(*alike(ids, values))
        n = len(ids) if rows is None else int((rows != ABSENT).sum())
        if n >= NEARLY_ALL * min(len(ids), len(values)):
            found.append(other.name)
    return found
