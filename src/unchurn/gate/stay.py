"""Stay: keep the base's answer unless the new model is surer by a ratio (NumPy only).

A model's *doubt* is 1 − p, where p is its probability of its own answer. If two models answer
differently, the new one's answer is taken if the base's doubt is more than `ratio` times the new
one's. Doubts are used rather than odds, p/(1 − p): with few bad flips allowed, they kept more
accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import NUMBER, Array, Float64, IntArray, as_array, as_classes, as_fraction
from unchurn.core.errors import InputError

Mask = npt.NDArray[np.bool_]
SUM = 1e-2  # how far a row's sum may be from 1: probabilities may be rounded
DIGITS = 17  # enough to tell every float from its neighbours
# Ratios of rows stay above 0, which takes all new answers, and below infinity, which takes none.
LEAST, MOST = np.nextafter(0, 1), np.finfo(np.float64).max
NO_BUDGET = "what may change? Give max_bad_flips= or max_churn="


def served_probabilities(base: npt.ArrayLike, new: npt.ArrayLike, ratio: float) -> Float64:
    """The new model's probabilities where it disagrees and is surer by more than the ratio.

    On all other rows, the base's.

    Parameters
    ----------
    base, new
        (n, L) probabilities of the two models, the same classes in the same columns.
    ratio
        The base's doubt must be more than `ratio` times the new model's: at 1 the surer model
        answers; above 1 more of the base's answers are kept, at infinity all, at 0 none.

    Examples
    --------
    >>> base, new = [[0.6, 0.4], [0.9, 0.1], [0.2, 0.8]], [[0.1, 0.9], [0.3, 0.7], [0.1, 0.9]]
    >>> served_probabilities(base, new, 2.0)  # doubts of 0.4 → 0.1, 0.1 → 0.3; the same answer
    array([[0.1, 0.9],
           [0.9, 0.1],
           [0.2, 0.8]])
    """
    one, two = _both(base, new)
    return np.where((_ratios(one, two) > as_ratio(ratio))[:, None], two, one)


def choose_ratio(
    base: npt.ArrayLike,
    new: npt.ArrayLike,
    labels: npt.ArrayLike | None = None,
    *,
    max_bad_flips: float | None = None,
    max_churn: float | None = None,
) -> float:
    """The ratio that gives the most accurate answers within a budget, on the rows given.

    Parameters
    ----------
    base, new
        (n, L) probabilities of the two models, the same classes in the same columns.
    labels
        The true classes, as numbers of columns. Without them, the ratio takes as many of the new
        answers as `max_churn` allows.
    max_bad_flips, max_churn
        The most bad flips, and the most answers other than the base's, as shares of all rows. On
        these rows the budget is kept exactly; on others it may be exceeded, as after any choice.

    Examples
    --------
    >>> base = [[0.6, 0.4], [0.9, 0.1], [0.2, 0.8]]
    >>> new = [[0.1, 0.9], [0.3, 0.7], [0.6, 0.4]]
    >>> choose_ratio(base, new, labels=[1, 0, 0], max_bad_flips=0.0)
    0.4
    >>> choose_ratio(base, new, max_churn=0.5)
    0.5
    """
    one, two = _both(base, new)
    ratios, before, after = _ratios(one, two), one.argmax(axis=1), two.argmax(axis=1)
    differs = before != after
    bad = good = None
    if labels is not None:
        truth = as_classes(labels, one.shape[1], n=len(one))
        bad, good = (before == truth)[differs], (after == truth)[differs]
    switches = Switches(ratios=ratios[differs], bad=bad, good=good, n=len(one), n_judged=len(one))
    return switches.choose(max_bad_flips=max_bad_flips, max_churn=max_churn)


def doubts(probabilities: Float64, answers: IntArray) -> Float64:
    """The probability of all classes but each row's answer.

    It is summed: if p is near 1, computing 1 − p would lose the digits in which rows differ.
    """
    rest = probabilities.copy()
    rest[np.arange(len(rest)), answers] = 0
    return np.asarray(rest.sum(axis=1))


def doubt_ratios(base: Float64, new: Float64) -> Float64:
    """The base's doubts over the new model's, positive and finite; 1 if both are 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = np.where((base == 0) & (new == 0), 1.0, base / new)
    return np.clip(found, LEAST, MOST)


@dataclass(frozen=True, kw_only=True)
class Switches:
    """The rows on which two models differ, with the ratio below which each takes the new answer."""

    ratios: Float64
    bad: Mask | None  # whether the new answer would be a bad flip; None without labels
    good: Mask | None
    n: int  # all rows, including those on which they agree
    n_judged: int  # the rows of which bad flips are a share

    def choose(
        self, *, max_bad_flips: float | None = None, max_churn: float | None = None
    ) -> float:
        """The ratio with the highest accuracy within the budget; of equal ones, the larger.

        Without labels, the ratio with the most new answers. Nothing changes between two rows'
        ratios: the number with the fewest digits between them is taken, to be easy to write down.
        """
        if max_bad_flips is None and max_churn is None:
            raise InputError(NO_BUDGET)
        if max_bad_flips is not None and self.bad is None:
            raise InputError("max_bad_flips needs true labels, and there are none: give labels=")
        order = np.argsort(-self.ratios, kind="stable")
        sorted_ratios = self.ratios[order]
        # Rows with equal ratios switch together: cut where the ratio changes, from none to all.
        ends = np.flatnonzero(np.diff(sorted_ratios, append=0.0))
        switched = np.append(0, ends + 1)
        allowed = np.ones(len(switched), bool)
        if max_churn is not None:
            allowed &= switched / max(self.n, 1) <= as_fraction(max_churn, "max_churn")
        gain = switched
        if self.bad is not None and self.good is not None:
            bad, good = (np.append(0, m[order].cumsum())[switched] for m in (self.bad, self.good))
            gain = good - bad
            if max_bad_flips is not None:
                limit = as_fraction(max_bad_flips, "max_bad_flips")
                allowed &= bad / max(self.n_judged, 1) <= limit
        best = int(np.flatnonzero(allowed)[gain[allowed].argmax()])  # the first is the largest
        if best == 0:
            return math.inf
        above = float(sorted_ratios[ends[best - 1]])
        return _shortest(float(sorted_ratios[ends[best]]), above) if best < len(ends) else 0.0


def as_ratio(value: float) -> float:
    """Check a ratio: a number of 0 or more, or infinity."""
    if not (isinstance(value, NUMBER) and value >= 0):  # also catches NaN
        raise InputError(f"ratio must be a number of 0 or more, not {value!r}")
    return float(value)


def _both(base: npt.ArrayLike, new: npt.ArrayLike) -> tuple[Float64, Float64]:
    """Two models' probabilities, checked to be of one shape."""
    one, two = _as_probabilities(base, "base"), _as_probabilities(new, "new")
    if one.shape != two.shape:
        raise InputError(f"base has probabilities of shape {one.shape}, new of {two.shape}")
    return one, two


def _as_probabilities(values: npt.ArrayLike, name: str) -> Float64:
    """Check probabilities, (n, L): numbers of 0 or more that sum to 1 in every row."""
    array: Array = as_array(values, name)
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "fiu":
        raise InputError(f"{name} must be probabilities (n, L), not {array.shape} {array.dtype}")
    found = array.astype(np.float64)
    # NaN fails both tests.
    good = (found >= 0).all(axis=1) & (np.abs(found.sum(axis=1) - 1) <= SUM)
    if not good.all():
        row = int(good.argmin())
        raise InputError(f"{name}: row {row} is no row of probabilities: {found[row].tolist()}")
    return found


def _ratios(base: Float64, new: Float64) -> Float64:
    """Each row's ratio of doubts; NaN, which is above no ratio, if the models agree."""
    before, after = base.argmax(axis=1), new.argmax(axis=1)
    found = doubt_ratios(doubts(base, before), doubts(new, after))
    found[before == after] = np.nan
    return found


def _shortest(low: float, high: float) -> float:
    """The number of the fewest digits from `low` to below `high`."""
    for digits in range(1, DIGITS):
        context = Context(prec=digits, rounding=ROUND_CEILING)
        found = float(context.create_decimal(Decimal(low)))
        if low <= found < high:
            return found
    return low
