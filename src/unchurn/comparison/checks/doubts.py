"""Problems with the inputs so serious that the gate must not promote; also shown as warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unchurn.comparison.checks.doubtful_order import doubt_order
from unchurn.comparison.checks.shifted_classes import doubt_numbers
from unchurn.comparison.inputs.casting import MISSING
from unchurn.comparison.read import Inputs

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """A reason why a comparison may be meaningless."""

    check: str  # its name in a gate's verdict
    reason: str  # in a few words
    warning: str


def find_doubts(given: Inputs) -> tuple[Doubt, ...]:
    """All doubts about the inputs: row order, missing values, numbering of classes."""
    order, gaps, numbers = doubt_order(given), _doubt_gaps(given), doubt_numbers(given.paired)
    found = []
    if order is not None:
        reason = "rows paired by their place hardly agree"
        found.append(Doubt(check="order", reason=reason, warning=order))
    if gaps is not None:
        reason = "a class is spelled as missing values are"
        found.append(Doubt(check="gaps", reason=reason, warning=gaps))
    if numbers is not None:
        reason = "classes seem to be numbered from another start"
        found.append(Doubt(check="numbers", reason=reason, warning=numbers))
    return tuple(found)


def _doubt_gaps(given: Inputs) -> str | None:
    """Warn that a class on one side only is spelled as a missing value, such as "NA".

    A real class of that name, as "None" may be, is on at least two sides: models and labels.
    """
    sides = {given.base.name: given.base.predicted, given.candidate.name: given.candidate.predicted}
    if given.labels is not None:
        sides[given.labels.name] = given.labels.labels
    for model in (given.candidate, given.base) if given.labels is None else ():
        if model.labels is not None:
            sides["the labels"] = model.labels
    columns = sides | {one.name: one.predicted for one in given.retrains}
    times = {name: _spelled_as_gaps(column) for name, column in columns.items()}
    for spelled in MISSING:
        there = {name: counts[spelled] for name, counts in times.items() if spelled in counts}
        if there and len(there.keys() & sides) < 2:
            n = sum(there.values())
            return (
                f"{spelled!r} counts as a class, and is in {', '.join(there)} alone "
                f"({n:,} row{'s' * (n != 1)}): is it a missing value? Leave such cells empty; if "
                "it is a class, rename it"
            )
    return None


def _spelled_as_gaps(column: pl.Series) -> dict[str, int]:
    """Count each value of a column that is spelled as a missing one."""
    import polars as pl

    if column.dtype != pl.String:
        return {}
    found = column.cast(pl.Enum(MISSING), strict=False).drop_nulls()  # faster than `is_in`
    return dict(found.alias("").value_counts().iter_rows())  # a column may be called count
