"""Do predictions go with the probabilities beside them? Some need not; most against them are wrong.

Of two classes any threshold may have made the predictions; thresholds that differ by country, rules
for some rows, roundings and ties made some of them. All these leave the rows of a class mostly
above the others in its probability: of pairs of a row of either, in nearly all. In none it is
where predictions are turned round, and in half where probabilities are of other rows. So a file
that is surely nearer to chance than to a threshold, below three quarters, is doubted. Of more
classes it is one of whose predictions most are not of the most probable class.
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
ENOUGH = 20  # rows that are more than roundings and ties
MOST_PAIRS = 0.75  # half of the way from chance to a threshold
SURELY = 4  # standard errors: two rows of a class are never enough
WHY = (
    "are predictions turned round, or probabilities of other classes, rows or models? Mend either, "
    "or remove the columns of probabilities"
)
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Contradictions:
    """A note on predictions that are not of the most probable class; or that most are not."""

    notes: tuple[str, ...] = ()
    doubt: str | None = None


def find_contradictions(
    predicted: pl.Series, by_class: dict[str, pl.Series], name: str
) -> Contradictions:
    """Hold a file's predictions against the probabilities beside them, if there are any."""
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
    n = int((own < best - TINY).sum())  # not where either is unknown
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
    """That so many are most of those that are known."""
    total = int(known.sum())
    return f"of {total:,}" if 2 * n > total else None


def _against(is_second: npt.NDArray[np.bool_], p: Floats) -> str | None:
    """That rows of the second class are hardly above the others in its probability."""
    ours, theirs = p[is_second], p[~is_second]
    if not (len(ours) and len(theirs)) or ours.min() > theirs.max():  # a threshold made them
        return None
    theirs.sort()
    ends = [np.searchsorted(theirs, ours, side) for side in ("left", "right")]  # ties are halves
    above = float(np.mean(ends[0] + ends[1])) / (2 * len(theirs))
    error = math.sqrt((len(p) + 1) / (12 * len(ours) * len(theirs)))  # of what is by chance
    if above + SURELY * error >= MOST_PAIRS:
        return None
    return (
        "and no threshold gives them: a row of one class has the higher probability of it in "
        f"{percent(above)} of all pairs with a row of the other"
    )
