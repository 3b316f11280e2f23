"""Check predictions against the probabilities beside them: some may differ, but not most.

With two classes, any threshold may have made the predictions, and thresholds that differ by
country, rules for some rows, rounding and ties may have made some of them. All these leave the rows
of a class mostly above the others in its probability: in nearly all pairs of a row of one class and
a row of the other, the first has the higher probability of its class. If predictions are reversed,
that holds in no pair, and if probabilities belong to other rows, in half of them. So a file is
doubted if it surely holds in less than three quarters, which is nearer to chance than to a
threshold. With more classes, a file is doubted if most predictions are not the most probable class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unchurn.report.numbers import percent

if TYPE_CHECKING:
    import polars as pl

TINY = 1e-9  # for sums of floats
ENOUGH = 20  # rows: more than rounding and ties explain
MOST_PAIRS = 0.75  # halfway from chance to a threshold
SURELY = 4  # standard errors: two rows of a class are never enough
WHY = (
    "are predictions turned round, or probabilities of other classes, rows or models? Mend either, "
    "or remove the columns of probabilities"
)
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Contradictions:
    """Notes on predictions that are not the most probable class, or a doubt if most are not."""

    notes: tuple[str, ...] = ()
    doubt: str | None = None


def find_contradictions(
    predicted: pl.Series, by_class: dict[str, pl.Series], name: str
) -> Contradictions:
    """Check a file's predictions against the probabilities beside them, if there are any."""
    import polars as pl

    if not by_class:
        return Contradictions()
    said = predicted.cast(pl.String).cast(pl.Enum(list(by_class)), strict=False)
    at = said.to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
    columns = [values.to_numpy() for values in by_class.values()]
    own, best = np.full(len(at), np.nan), np.full(len(at), -np.inf)
    for place, numbers in enumerate(columns):
        np.maximum(best, numbers, out=best)
        np.copyto(own, numbers, where=at == place)
    n = int((own < best - TINY).sum())  # false where either is unknown
    if n == 0:
        return Contradictions()
    not_most = (
        f"{name}: {n:,} prediction{'s are' if n > 1 else ' is'} not of the most probable class"
    )
    known = ~np.isnan(own)
    against = _against(at[known] == 1, columns[1][known]) if len(columns) == 2 else _most(n, known)
    if n < ENOUGH or against is None:
        return Contradictions((f"{not_most}: taken as they are, by another threshold perhaps",))
    return Contradictions(doubt=f"{not_most}, {against}: {WHY}")


def _most(n: int, known: npt.NDArray[np.bool_]) -> str | None:
    """A phrase for the doubt, if n are most of the known predictions; else None."""
    total = int(known.sum())
    return f"of {total:,}" if 2 * n > total else None


def _against(is_second: npt.NDArray[np.bool_], p: Floats) -> str | None:
    """A phrase for the doubt, if the second class's rows are hardly above the others; else None."""
    ours, theirs = p[is_second], p[~is_second]
    if not (len(ours) and len(theirs)) or ours.min() > theirs.max():  # a threshold made them
        return None
    theirs.sort()
    ends = [np.searchsorted(theirs, ours, side) for side in ("left", "right")]  # ties are halves
    above = float(np.mean(ends[0] + ends[1])) / (2 * len(theirs))
    error = math.sqrt((len(p) + 1) / (12 * len(ours) * len(theirs)))  # of `above`, by chance
    if above + SURELY * error >= MOST_PAIRS:
        return None
    return (
        "and no threshold gives them: a row of one class has the higher probability of it in "
        f"{percent(above)} of all pairs with a row of the other"
    )
