"""Detect tables whose rows are in different order, though paired by position or by an index.

A nearly unique column then has nearly the same values in both, in rows that are not paired. A
feature that was corrected in some rows does not look so, as its other values stay in place, nor do
measurements of each model, as their values differ. Ranks are the exception: nothing in the files
shows whether a model ranked its rows or the rows were moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unchurn.comparison.inputs.casting import as_ids
from unchurn.comparison.inputs.columns import (
    Columns,
    by_plain_name,
    is_index,
    plain_name,
    said_by_models,
)
from unchurn.comparison.inputs.ids.lookup import ABSENT, alike
from unchurn.comparison.inputs.ids.names import both_names, same_by_other_names
from unchurn.comparison.inputs.sources import Source
from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError
from unchurn.core.frames import INDEXES

if TYPE_CHECKING:
    import polars as pl

N_COLUMNS = 64  # shared columns that are searched for ids
MOST = 0.9  # share of a column's values that the other must have
# Text that may be a measurement rather than a name: a number, a date or a time.
MEASURED = r"^\s*([-+]?[\d.,]+([eE][-+]?\d+)?|\d{4}-\d\d-\d\d.*|\d{1,2}:\d\d.*)\s*$"


def check_order(
    base: Source,
    other: Source,
    asked: Columns,
    rows: IntArray | None = None,
    *,
    only_text: bool = False,
) -> None:
    """Refuse to pair rows if a column has the same values in both sources, but in other rows.

    `rows` are base's rows in the other source, by an index; None if paired by position. With
    `only_text`, columns that may be measurements do not count.
    """
    import polars as pl

    if base.is_array or other.is_array:
        return
    said = said_by_models([base, other], asked)
    shared = _shared(base, other, said)
    used = {*said, *(name for pair in shared for name in pair), *INDEXES}
    shared += same_by_other_names(base, other, used)
    ours, theirs = ([pair[side] for pair in shared] for side in (0, 1))
    for left, right in zip(base.columns(ours), other.columns(theirs), strict=True):
        if rows is None and len(left) != len(right):
            return
        if any(column.dtype.is_nested() or column.dtype == pl.Object for column in (left, right)):
            continue
        if _agree(left, right, rows) or not _tell_most(left.n_unique(), left):
            continue
        ids = _as_ids(left, base), _as_ids(right, other)
        if only_text and is_measured(ids[0]):
            continue
        if _are_elsewhere(*_comparable(*ids), rows):
            raise _refusal(base, other, left.name, right.name, rows, can_join=_can_join(*ids))


def _shared(base: Source, other: Source, said: set[str]) -> list[tuple[str, str]]:
    """Names in each source of the columns that both have, ignoring case etc., except `said`."""
    theirs = by_plain_name(other.names) | {name: name for name in other.names}
    named = [(name, theirs.get(name) or theirs.get(plain_name(name))) for name in base.names]
    return [
        (ours, its)
        for ours, its in named
        if its is not None
        and (its == ours or its not in base.names)  # an equal name goes before a similar one
        and not {ours, its} & said
        and not is_index(ours)
    ][:N_COLUMNS]


def is_measured(ids: pl.Series) -> bool:
    """Whether values may be measurements (numbers, dates or times) rather than names."""
    import polars as pl

    return ids.dtype != pl.String or bool(ids.str.contains(MEASURED).all())


def _agree(left: pl.Series, right: pl.Series, rows: IntArray | None) -> bool:
    """Whether all paired rows have equal values."""
    if rows is None:
        return left.equals(right)
    there = rows != ABSENT
    return left.filter(there).equals(right.gather(rows[there]))


def _tell_most(n_values: int, column: pl.Series) -> bool:
    """Whether the number of distinct values is more than half the number of rows.

    Few values may be equally frequent in both by chance, such as whether a prediction is right.
    """
    return n_values > len(column) / 2


def _as_ids(column: pl.Series, source: Source) -> pl.Series:
    """Values as ids; floats that may have lost digits, which ids must not, stay floats."""
    import polars as pl

    try:
        return as_ids(column, source.name, is_written=source.is_text)
    except InputError:
        return column.cast(pl.Float64, strict=False).fill_nan(None)


def _comparable(left: pl.Series, right: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Ids of one type, ignoring case, spaces around them and, in numbers, leading zeros."""
    import polars as pl

    left, right = (
        ids.str.strip_chars().str.to_lowercase() if ids.dtype == pl.String else ids
        for ids in (left, right)
    )
    is_whole = [ids.dtype.is_integer() for ids in (left, right)]
    is_number = [ids.dtype.is_numeric() for ids in (left, right)]
    if any(is_number) and not all(is_whole):
        return left.cast(pl.Float64, strict=False), right.cast(pl.Float64, strict=False)
    return alike(left, right)


def _are_elsewhere(left: pl.Series, right: pl.Series, rows: IntArray | None) -> bool:
    """Whether two columns have nearly the same values, many of them in rows that are not paired.

    Values that occur once in each column show whether rows moved. Values that differ in frequency
    count against it: in a feature that was corrected in some rows, only these change.
    """
    import polars as pl

    n_left, n_right, n_all = (
        ids.drop_nulls().n_unique() for ids in (left, right, pl.concat([left, right]))
    )
    if not (_tell_most(n_left, left) and _tell_most(n_right, right)):
        return False
    n_values, n_shared = min(n_left, n_right), n_left + n_right - n_all
    if n_shared < MOST * n_values:
        return False
    if n_shared < n_values and _are_sorted(left, right):  # clocks, one of which started later
        return False
    both = _counted(left).join(_counted(right), on="value", suffix="_there")
    as_often = both.filter(pl.col("n") == pl.col("n_there"))
    once = as_often.filter(pl.col("n") == 1)
    at = once["row"].to_numpy()
    n_moved = ((at if rows is None else rows[at]) != once["row_there"].to_numpy()).sum()
    n_changed = n_values - as_often.height
    # Twice as many: coarse measurements of few rows may move as often as they change, by chance.
    return bool(n_moved >= max(2 * n_changed, 1))


def _counted(column: pl.Series) -> pl.DataFrame:
    """The values of a column, with the frequency and the first row of each."""
    import polars as pl

    table = pl.DataFrame({"value": column}).with_row_index("row").drop_nulls()
    return table.group_by("value").agg(pl.len().alias("n"), pl.col("row").first())


def _are_sorted(left: pl.Series, right: pl.Series) -> bool:
    """Whether both columns rise, or both fall."""
    pair = left.drop_nulls(), right.drop_nulls()
    return any(all(ids.is_sorted(descending=down) for ids in pair) for down in (False, True))


def _can_join(left: pl.Series, right: pl.Series) -> bool:
    """Whether ids are unique in both tables and mostly spelled alike."""
    left, right = alike(left, right)
    is_own = all(not ids.null_count() and ids.n_unique() == len(ids) for ids in (left, right))
    return is_own and bool(left.is_in(right.implode()).sum() >= MOST * min(len(left), len(right)))


def _refusal(
    base: Source, other: Source, ours: str, theirs: str, rows: IntArray | None, *, can_join: bool
) -> InputError:
    """The error that a column contradicts the pairing, with ways to resolve it."""
    how, no_id = "not paired by their index", f"{INDEXES[1]!r} if the index is right"
    if rows is None:
        how, no_id = "not in one order", "leave it out if it is no id"
    column, join, by = f"{ours!r}", "Join them", f"id= {ours!r}"
    if not can_join:
        join = "Mend what is missing, there twice or written otherwise, and join them"
    if ours != theirs:
        column, by = f"{ours!r} ({theirs!r} in {other.name})", both_names(ours, theirs)
    return InputError(
        f"{base.name} and {other.name} are {how}: {column} has the same values in other rows. "
        f"{join} with {by}, or {no_id}"
    )
