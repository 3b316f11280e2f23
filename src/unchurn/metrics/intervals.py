"""Intervals and tests: of rates and of paired differences, over examples or clusters of them.

Everything is a fraction, every interval 95 % unless asked otherwise. How often the intervals cover
what they estimate: docs/statistics.md, simulated by `benchmarks/interval_coverage/simulate.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from unchurn.core.arrays import Array, Float64

LEVEL = 0.95
FEW = 5  # events; below it an interval is exact, and says so
FEW_EVENTS = "few events"
FEW_CLUSTERS = "few clusters"
NAN = float("nan")


@dataclass(frozen=True)
class Interval:
    """An estimate with a 95 % interval, as fractions; `note` says what is special about it."""

    value: float
    low: float
    high: float
    note: str = ""
    freedom: float = field(default=math.inf, repr=False, compare=False)  # of Student's t, if used

    def at(self, level: float) -> Interval:
        """The interval at another level: its ends are moved by the ratio of Student's quantiles.

        For differences over runs, when several are tested and the level is corrected for it.
        """
        from scipy.special import stdtrit

        far, near = (float(stdtrit(self.freedom, (1 + one) / 2)) for one in (level, LEVEL))
        low, high = (
            min(max(self.value + far / near * (end - self.value), -1.0), 1.0)
            for end in (self.low, self.high)
        )
        return replace(self, low=low, high=high)

    def to_dict(self) -> dict[str, float | str | None]:
        """The interval for JSON: NaN is null, an empty note is left out."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        plain = {k: None if math.isnan(v) else v for k, v in numbers.items()}
        return {**plain, **({"note": self.note} if self.note else {})}


def level_of_all(found: Sequence[Interval]) -> float:
    """Benjamini–Hochberg level for several differences; 95 % for one alone.

    Among differences declared below zero at this level, at most 1/40 are expected to be false; if
    none is truly below zero, any is declared so with at most this probability.
    """
    count = len(found)
    for k in range(count, 1, -1):
        level = 1 - (1 - LEVEL) * k / count
        if sum(one.at(level).high < 0 for one in found) >= k:
            return level
    return 1 - (1 - LEVEL) / max(count, 1)


def proportion(events: int, n: int, level: float = LEVEL) -> Interval:
    """A rate: Wilson's interval; Clopper and Pearson's, which is exact, under five events.

    Above 95 %, as in a correction for many slices, it is always exact: there, the far tail of
    Wilson's interval would be exceeded twice as often as it should be.

    >>> proportion(30, 1000)
    Interval(value=0.03, low=0.0210..., high=0.0425..., note='')
    >>> proportion(0, 100)
    Interval(value=0.0, low=0.0, high=0.0362..., note='few events')
    """
    if n == 0:
        return Interval(NAN, NAN, NAN, "no such examples")
    few = min(events, n - events) < FEW
    ends = _exact if few or level > LEVEL else _wilson
    return Interval(events / n, *ends(int(events), int(n), level), FEW_EVENTS if few else "")


def _wilson(events: int, n: int, level: float) -> tuple[float, float]:
    """The ends of Wilson's interval."""
    from scipy.special import ndtri

    rate, z = events / n, float(ndtri((1 + level) / 2))
    whole = 2 * (n + z**2)
    centre = (2 * n * rate + z**2) / whole
    half = z / whole * math.sqrt(4 * n * rate * (1 - rate) + z**2)
    return centre - half, centre + half


def clustered_proportion(events: Array, sizes: Array, level: float = LEVEL) -> Interval:
    """A rate of examples in clusters, from the events and examples of each cluster.

    Clusters are left out one at a time (jackknife); the interval is Student's on the logit scale,
    with fewer degrees of freedom if few clusters have most of the events. With events in fewer than
    five clusters it is Korn and Graubard's.
    """
    clusters = sizes > 0
    events, sizes = events[clusters].astype(np.float64), sizes[clusters].astype(np.float64)
    total, n, count = float(events.sum()), float(sizes.sum()), len(sizes)
    if count < 2:
        return Interval(total / n if n else NAN, NAN, NAN, "a single cluster")
    without = (total - events) / (n - sizes)
    few = bool(min(np.count_nonzero(events), np.count_nonzero(sizes - events)) < FEW)
    spread = Spread(jackknife(without), _freedom(without), count)
    return _over_clusters(spread.rate(total / n, n, few, level), count)


def paired_difference(gained: float, lost: float, n: float, level: float = LEVEL) -> Interval:
    """The difference of two rates on the same n examples, from the numbers gained and lost.

    Tango's score interval; with fewer than five events, that of `_exact_manner`.

    >>> paired_difference(12, 5, 100)
    Interval(value=0.07, low=-0.0118..., high=0.1574..., note='')
    >>> paired_difference(0, 4, 1000)
    Interval(value=-0.004, low=-0.0102..., high=0.0006..., note='few events')
    """
    if n == 0:
        return Interval(NAN, NAN, NAN, "no such examples")
    few = gained + lost < FEW
    value, ends = (gained - lost) / n, _exact_manner if few else _tango
    return Interval(value, *ends(gained, lost, n, level), FEW_EVENTS if few else "")


def _exact_manner(gained: float, lost: float, n: float, level: float) -> tuple[float, float]:
    """The ends of a paired difference, from the exact intervals of gains and of losses.

    The distances of their ends from the two rates are added like standard errors of correlated
    rates (Zou and Donner). Tango's score would take four losses and no gain for a certain loss.
    """
    up, down = gained / n, lost / n
    (up_low, up_high), (down_low, down_high) = (_exact(k, n, level) for k in (gained, lost))
    # Gains cannot be losses, so they correlate; half an event more keeps odds positive and finite.
    odds = ((k + 0.5) / (n - k + 0.5) for k in (gained, lost))
    correlation = math.sqrt(math.prod(odds))

    def distance(one: float, two: float) -> float:
        return math.sqrt(one**2 + 2 * correlation * one * two + two**2)

    value = up - down
    low = value - distance(up - up_low, down_high - down)
    high = value + distance(up_high - up, down - down_low)
    return max(low, -1.0), min(high, 1.0)


@lru_cache(maxsize=4096)  # a gate asks for the same ones many times, slice by slice
def _exact(events: float, n: float, level: float) -> tuple[float, float]:
    """The ends of Clopper and Pearson's interval; numbers need not be whole."""
    from scipy.stats import beta  # betaincinv is wrong at high levels before SciPy 1.12

    low = float(beta.ppf((1 - level) / 2, events, n - events + 1)) if events > 0 else 0.0
    high = float(beta.ppf((1 + level) / 2, events + 1, n - events)) if events < n else 1.0
    return low, high


def _tango(gained: float, lost: float, n: float, level: float) -> tuple[float, float]:
    """The ends of Tango's score interval of a paired difference."""
    from scipy.optimize import brentq
    from scipy.special import ndtri

    quantile = float(ndtri((1 + level) / 2))

    def score(delta: float) -> float:
        """How many standard errors the data lie from a true difference of delta."""
        b = -gained - lost + (2 * n - gained + lost) * delta
        c = -lost * delta * (1 - delta)
        q = (math.sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
        variance = n * (2 * q + delta * (1 - delta))
        distance = gained - lost - n * delta
        if variance <= 0:
            return math.copysign(math.inf, distance) if distance else 0.0
        return distance / math.sqrt(variance)

    value = (gained - lost) / n
    edge = 1 - 1e-12
    ends = []
    for side in (1, -1):  # the score falls with delta
        far = -edge if side > 0 else edge
        inside = side * (score(far) - side * quantile) < 0
        ends.append(
            math.copysign(1.0, far)
            if inside
            else float(brentq(lambda d, s=side: score(d) - s * quantile, *sorted((far, value))))
        )
    return ends[0], ends[1]


def clustered_difference(
    gained: Array, lost: Array, sizes: Array, level: float = LEVEL
) -> Interval:
    """A paired difference of examples in clusters, which are left out one at a time.

    The interval is that of `paired_difference` for as many independent examples as would vary as
    much.
    """
    clusters = sizes > 0
    gained, lost, sizes = gained[clusters], lost[clusters], sizes[clusters]
    up, down, n, count = float(gained.sum()), float(lost.sum()), float(sizes.sum()), len(sizes)
    if count < 2:
        return Interval((up - down) / n if n else NAN, NAN, NAN, "a single cluster")
    without = (up - down - (gained.astype(np.float64) - lost)) / (n - sizes)
    few = bool(np.count_nonzero(gained + lost) < FEW)
    spread = Spread(jackknife(without), _freedom(without), count)
    return _over_clusters(spread.difference(up, down, n, few, level), count)


def _over_clusters(found: Interval, count: int) -> Interval:
    """Note few clusters instead of few events, if there are fewer than FEW clusters."""
    return replace(found, note=FEW_CLUSTERS) if found.note and count < FEW else found


def clustered_p_value(events: Array, sizes: Array, others: Array, other_sizes: Array) -> float:
    """The p-value that two groups have the same rate, from events and examples by cluster.

    Student's t of the difference of logits, by leaving out clusters one at a time, with no more
    degrees of freedom than the group with fewer clusters; Fisher's exact test of whole clusters if
    few have events.
    """
    from scipy.stats import fisher_exact, t

    groups = ((events, sizes), (others, other_sizes))
    clusters = [int(np.count_nonzero(size)) for _, size in groups]
    if min(clusters) < 2:
        return 1.0
    eventful = [int(np.count_nonzero(event)) for event, _ in groups]
    if any(some < min(FEW, n) for some, n in zip(eventful, clusters, strict=True)):
        table = [[some, n - some] for some, n in zip(eventful, clusters, strict=True)]
        return float(fisher_exact(table).pvalue)
    first, second = (_logit(event.sum(), size.sum()) for event, size in groups)
    difference = first - second
    first, second = (_logit(event.sum() - event, size.sum() - size) for event, size in groups)
    without = first - second  # the difference with each cluster left out
    variance = jackknife(without)
    if variance == 0:
        return 1.0
    freedom = min(float(min(clusters) - 1), _freedom(without))
    return float(2 * t.sf(abs(difference) / math.sqrt(variance), freedom))


def _logit(events: Array, sizes: Array) -> Float64:
    """The logit of a rate, with half an event added on either side."""
    return np.asarray(np.log((events + 0.5) / (sizes - events + 0.5)))


def mcnemar(gained: int, lost: int) -> tuple[float, float]:
    """Exact and mid p-values for "as many gained as lost"; 1 if there are none of either."""
    from scipy.stats import binom

    n, fewer = gained + lost, min(gained, lost)
    if n == 0:  # the mid p-value would be 0.5, by half of a certainty
        return 1.0, 1.0
    exact = min(1.0, 2 * float(binom.cdf(fewer, n, 0.5)))
    if gained == lost:
        return exact, 1 - float(binom.pmf(fewer, n, 0.5)) / 2
    return exact, 2 * float(binom.cdf(fewer, n, 0.5)) - float(binom.pmf(fewer, n, 0.5))


@dataclass(frozen=True)
class Spread:
    """The variance of an estimate, its degrees of freedom, and how many units were drawn."""

    variance: float
    freedom: float
    units: int

    def quantile(self, level: float = LEVEL) -> float:
        """Student's quantile for an interval of this level."""
        from scipy.special import stdtrit

        return float(stdtrit(self.freedom, (1 + level) / 2))

    def around(self, value: float) -> Interval:
        """Student's interval of a difference of rates."""
        half = self.quantile() * math.sqrt(self.variance)
        low, high = max(value - half, -1.0), min(value + half, 1.0)
        return Interval(value, low, high, freedom=self.freedom)

    def effective(self, variance_of_one: float, n: float, level: float) -> float:
        """Number of independent examples that would vary as much; fewer if that is uncertain.

        After Korn and Graubard; the number of units if nothing varies.
        """
        from scipy.special import ndtri

        if self.variance == 0:
            return float(self.units)
        certain = float(ndtri((1 + level) / 2)) / self.quantile(level)
        return min(variance_of_one / self.variance * certain**2, n)

    def rate(self, value: float, n: float, few: bool, level: float = LEVEL) -> Interval:
        """The interval of a rate: on the logit scale; if few, exact for `effective` examples."""
        from scipy.special import expit

        if few or self.variance == 0:
            effective = self.effective(value * (1 - value), n, level)
            return Interval(value, *_exact(value * effective, effective, level), FEW_EVENTS)
        half = self.quantile(level) * math.sqrt(self.variance) / (value * (1 - value))
        centre = math.log(value / (1 - value))
        low, high = (float(expit(centre + side * half)) for side in (-1, 1))
        return Interval(value, low, high)

    def difference(
        self, gained: float, lost: float, n: float, few: bool, level: float = LEVEL
    ) -> Interval:
        """The interval of a paired difference, for `effective` examples: Tango's, or exact."""
        value = (gained - lost) / n
        effective = self.effective((gained + lost) / n - value**2, n, level)
        scale, ends = effective / n, _exact_manner if few else _tango
        low, high = ends(gained * scale, lost * scale, effective, level)
        return Interval(value, low, high, FEW_EVENTS if few else "")


def jackknife(without: Float64) -> float:
    """The variance of an estimate, from its values with each unit left out."""
    count = len(without)
    if _is_constant(without):
        return 0.0
    return float((count - 1) / count * np.sum((without - without.mean()) ** 2))


def _freedom(without: Float64) -> float:
    """Degrees of freedom of the jackknife's variance (Satterthwaite).

    There are fewer if a few units make up most of the variance.
    """
    count = len(without)
    if _is_constant(without):
        return count - 1
    squares = (without - without.mean()) ** 2
    share = float((squares**2).sum()) / float(squares.sum()) ** 2
    return min(max(2 / (share - 1 / count), 1.0), count - 1) if share > 1 / count else count - 1


def _is_constant(values: Float64) -> bool:
    """Whether values differ by rounding alone."""
    return bool(np.ptp(values) <= 1e-13 * np.abs(values).max())
