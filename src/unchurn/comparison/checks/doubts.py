"""Problems with the inputs so serious that the gate must not promote; also shown as warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unchurn.comparison.checks.doubtful_order import doubt_order
from unchurn.comparison.checks.renamed_classes import doubt_names, doubt_writing
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
    """All reasons why the comparison may be meaningless."""
    found = (
        ("itself", "base and candidate are one file", _doubt_itself(given)),
        ("order", "rows paired by their place hardly agree", doubt_order(given)),
        ("gaps", "a class is spelled as missing values are", _doubt_gaps(given)),
        ("numbers", "classes seem to be numbered from another start", doubt_numbers(given.paired)),
        ("writing", "classes differ only in how they are written", doubt_writing(given)),
        ("names", "one class seems to have two names", doubt_names(given)),
        *(
            ("probabilities", "predictions go against their own probabilities", one.contradiction)
            for one in (given.base, given.candidate, *given.retrains)
        ),
    )
    return tuple(
        Doubt(check=check, reason=reason, warning=warning)
        for check, reason, warning in found
        if warning is not None
    )


def _doubt_itself(given: Inputs) -> str | None:
    """Warn that a file is compared with itself, perhaps because a path was copied."""
    if not given.is_one_file:
        return None
    name = given.base.taken["prediction"]
    return f"base and candidate are one file, and one column of it ({name}): nothing can flip"


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
