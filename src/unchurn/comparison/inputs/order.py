"""Does a column contradict how rows of two tables are paired: by their place, or by an index?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unchurn.comparison.inputs.columns import INDEXES, Columns, is_index, told_by_model
from unchurn.comparison.inputs.ids import ABSENT
from unchurn.comparison.inputs.sources import Source
from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

N_COLUMNS = 64  # that files share and that are looked at for one that tells the rows
# What a text is that may be measured rather than given: a number, a date or a time.
MEASURED = r"^\s*([-+]?[\d.,]+([eE][-+]?\d+)?|\d{4}-\d\d-\d\d.*|\d{1,2}:\d\d.*)\s*$"


def check_order(
    base: Source,
    other: Source,
    asked: Columns,
    rows: IntArray | None = None,
    *,
    only_text: bool = False,
) -> None:
    """Refuse to pair rows where a column holds the same values in both, in other rows.

    `rows` are base's rows in the other, by an index; None: by their place.
    """
    import polars as pl

    said = told_by_model(base, asked) | told_by_model(other, asked)
    shared = [name for name in base.names if name in other.names and name not in said]
    shared = [name for name in shared if not is_index(name)][:N_COLUMNS]
    if base.is_array:
        return
    both = zip(base.columns(shared), other.columns(shared), strict=True)
    for left, right in both:
        if rows is None and len(left) != len(right):
            return
        if left.dtype != right.dtype or left.dtype.is_nested() or left.dtype == pl.Object:
            continue
        if only_text and left.cast(pl.String).str.contains(MEASURED).all():
            continue
        # Few values may be as often in both by chance: whether each prediction is right, say.
        if _agree(left, right, rows) or left.n_unique() <= len(left) / 2:
            continue
        if _has_same(left, right):
            how = "not in one order" if rows is None else "not paired by their index"
            which = "" if rows is None else f" that column, or {INDEXES[1]!r} if the index is right"
            raise InputError(
                f"{base.name} and {other.name} are {how}: {left.name!r} has the same values in "
                f"other rows. Join them with id={which}"
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
