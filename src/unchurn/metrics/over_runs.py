"""Intervals over retrainings: of churn, of differences between settings, and for one run more.

Runs and examples are both drawn at random. See `intervals.py` for those over examples alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, Float64
from unchurn.metrics.intervals import (
    FEW,
    LEVEL,
    NAN,
    Interval,
    Spread,
    jackknife,
)

FEWEST_RUNS = 3  # that give churn an interval: without one of two runs there is no pair left

ROUNDING = 1e-12  # of a variance that is taken off another


def churn_difference(first: Array, second: Array) -> Interval:
    """Churn of the first setting's runs less that of the second's; both (R, n), paired by run.

    The variance is that of leaving out one run at a time (jackknife) plus that of the examples.
    Runs are never drawn with replacement: a run paired with itself has no churn.
    """
    each = _pairwise(first) - _pairwise(second)
    pairs = list(combinations(range(len(first)), 2))
    without = [[run not in pair for pair in pairs] for run in range(len(first))]
    return _student(each, without, same=np.array_equal(first, second), pairs=True)


def accuracy_difference(first: Array, second: Array, labels: Array) -> Interval:
    """Accuracy of the first setting's runs less that of the second's, as `churn_difference`."""
    each = (first == labels).astype(np.int8) - (second == labels).astype(np.int8)
    return _student(each, _others(len(each)), same=np.array_equal(first, second))


def rate_difference(
    first: Array, second: Array, groups: Array | None = None, *, same: bool = False
) -> Interval:
    """The share of the first setting's mask less that of the second's; both (R, n), paired by run.

    Runs of one group, as of one older model, are not independent: groups are then left out one at a
    time, if there are several. `same`: all that the runs predict is the same. Two masks can be
    alike, as where neither has an event, of runs that are not.
    """
    each = first.astype(np.int8) - second.astype(np.int8)
    numbers = np.unique(groups) if groups is not None else ()
    if groups is None or len(numbers) < 2:
        return _student(each, _others(len(each)), same=same)
    return _student(each, [(groups != number).tolist() for number in numbers], same=same)


def churn_over_runs(moved: Array, clusters: Array | None = None) -> Interval:
    """The mean churn of R retrainings, from what each of them moved, (R, n): on the logit scale.

    `clusters` has the number of each example's cluster, where examples are not independent.
    """
    units = moved if clusters is None else _by_cluster(moved, clusters)
    value, variances = _over_runs(units, _others(len(moved)))
    if variances is None:
        return Interval(value, NAN, NAN)
    often = moved.sum(axis=0)
    few = min(_units(often > 0, clusters), _units(often < len(moved), clusters)) < FEW
    return variances.spread().rate(value, moved.shape[1], few)


@dataclass(frozen=True, kw_only=True)
class Excess:
    """How far one model, (n,), lies from the mean of R retrainings, (R, n), and how surely.

    Masks are of what moved, or of what is right.
    """

    value: float
    variances: Variances | None
    gained: float  # examples, by the mean retraining, that the one model has and these have not
    lost: float
    n: int
    few: bool  # examples, or clusters, in which they differ

    @classmethod
    def of(cls, one: Array, runs: Array, clusters: Array | None = None) -> Excess:
        """Measure it; `clusters` are as for `churn_over_runs`."""
        each = one.astype(np.int8) - runs.astype(np.int8)
        units = each if clusters is None else _by_cluster(each, clusters)
        value, variances = _over_runs(units, _others(len(each)))
        gained, lost = (np.count_nonzero(each == sign) / len(each) for sign in (1, -1))
        few = _units(np.count_nonzero(each, axis=0) > 0, clusters) < FEW
        return cls(
            value=value, variances=variances, gained=gained, lost=lost, n=each.shape[1], few=few
        )

    @property
    def units(self) -> int:
        """How many examples, or clusters of them, there are."""
        return self.n if self.variances is None else self.variances.n

    def reversed(self) -> Excess:
        """How far the retrainings' mean lies from the one model."""
        return replace(self, value=-self.value, gained=self.lost, lost=self.gained)

    def interval(self, examples: float = 1.0, runs: float = 1.0) -> Interval:
        """Student's, or of few examples that differ the paired difference's.

        Or what it would be with so many times as many examples, or retrainings, like these.
        """
        if self.variances is None:
            return Interval(self.value, NAN, NAN)
        spread = self.variances.spread(examples, runs)
        if not self.few:
            return spread.around(self.value)
        gained, lost, n = (examples * number for number in (self.gained, self.lost, self.n))
        return spread.difference(gained, lost, n, few=True)


def churn_standard_error(runs: Array) -> float:
    """Of the mean churn of (R, n) runs, by leaving out one run at a time: pairs share runs."""
    n_runs = len(runs)
    if n_runs < FEWEST_RUNS:
        return NAN
    means = _pairwise(runs).mean(axis=1)
    pairs = list(combinations(range(n_runs), 2))
    kept = [[mean for mean, pair in zip(means, pairs, strict=True) if run not in pair]
            for run in range(n_runs)]  # fmt: skip
    return math.sqrt(jackknife(np.array([np.mean(k) for k in kept])))


def prediction_interval(floor: Float64, n: int, runs: int | None = None) -> tuple[float, float]:
    """Where the churn of one more retraining lies, from those of R ≥ 2 on n examples.

    Student's interval for a new draw, R − 1 degrees of freedom, on the log scale: churn is positive
    and skewed. A retraining without any flip counts as half a flip. Flips are whole, so the
    variance of rounding is added (Sheppard): two equal counts promise no third. With `runs`, where
    it would lie if so many retrainings varied as much.
    """
    if len(floor) < 2:
        return NAN, NAN
    logs = np.log(np.maximum(floor, 0.5 / n))
    low, high = _of_one_more(logs, 1 / (n * math.exp(float(logs.mean()))), runs)
    return math.exp(low), min(math.exp(high), 1.0)


def accuracy_prediction_interval(
    accuracies: Float64, n: int, runs: int | None = None
) -> tuple[float, float]:
    """Where the accuracy of one more retraining lies, as `prediction_interval`, without the log."""
    if len(accuracies) < 2:
        return NAN, NAN
    low, high = _of_one_more(accuracies, 1 / n, runs)
    return max(low, 0.0), min(high, 1.0)


def _of_one_more(values: Float64, step: float, count: int | None) -> tuple[float, float]:
    """Student's interval for one more of some values, or of a count; they are rounded to steps."""
    from scipy.special import stdtrit

    count, middle = count or len(values), float(values.mean())
    spread = math.sqrt(float(values.var(ddof=1)) + 1 / 12 * step**2)
    half = float(stdtrit(count - 1, (1 + LEVEL) / 2)) * spread * math.sqrt(1 + 1 / count)
    return middle - half, middle + half


def _student(
    each: Array, without: Sequence[Sequence[bool]], *, same: bool, pairs: bool = False
) -> Interval:
    """Student's interval for the mean over runs and examples; `same`: of what does not differ.

    Where it does, and yet nothing is left that varies, as of one example that flips in other runs,
    no interval is known.
    """
    value, variances = _over_runs(each, without, pairs)
    if variances is None:
        return Interval(value, NAN, NAN)
    spread = variances.spread()
    if not same and spread.variance <= ROUNDING * (variances.of_runs + variances.of_examples):
        return Interval(value, NAN, NAN)
    return spread.around(value)


def _units(events: Array, clusters: Array | None) -> int:
    """In how many examples, or clusters of them, there is an event."""
    return len(np.flatnonzero(events) if clusters is None else np.unique(clusters[events]))


def _by_cluster(each: Array, clusters: Array) -> Float64:
    """Values by (rows, examples) as values by (rows, clusters) of the same means over a row.

    A cluster has its sum's distance from what its size would give (a ratio, linearised): clusters
    then vary as much as they move the mean. Clusters of one example each are the examples.
    """
    sizes = np.bincount(clusters)
    sums = np.stack([np.bincount(clusters, row, len(sizes)) for row in each])[:, sizes > 0]
    sizes = sizes[sizes > 0]
    value = float(each.mean(dtype=np.float64))
    distances: Float64 = (sums - value * sizes) * (len(sizes) / sizes.sum())
    return distances + value


def _others(n_runs: int) -> list[list[bool]]:
    return [[run != other for other in range(n_runs)] for run in range(n_runs)]


def _over_runs(
    each: Array, without: Sequence[Sequence[bool]], pairs: bool = False
) -> tuple[float, Variances | None]:
    """The mean of values by (rows, examples); `without` says which rows a run has no part in."""
    n_runs, n = len(without), each.shape[1]
    by_example = each.mean(axis=0, dtype=np.float64)
    value = float(by_example.mean())
    weights = np.array(without, float)
    if n_runs < 2 or n < 2 or not weights.any(axis=1).all():  # without a run, nothing is left
        return value, None
    left = (weights / weights.sum(axis=1, keepdims=True)) @ each  # (runs, n)
    of_runs = jackknife(left.mean(axis=1))
    of_examples = float(by_example.var(ddof=1)) / n
    of_both = float((n_runs - 1) / n_runs * ((left - left.mean(axis=0)) ** 2).sum()) / n**2
    return value, Variances(
        of_runs=of_runs,
        of_examples=of_examples,
        of_both=of_both,
        n_runs=n_runs,
        n=n,
        are_pairs=pairs,
    )


@dataclass(frozen=True, kw_only=True)
class Variances:
    """Of a mean over runs and examples, which are both drawn at random.

    What varies by example and run alone is in both variances, and so is taken off once.
    """

    of_runs: float
    of_examples: float
    of_both: float
    n_runs: int
    n: int
    are_pairs: bool

    def spread(self, examples: float = 1.0, runs: float = 1.0) -> Spread:
        """Both together, with Satterthwaite's degrees of freedom.

        Or what they would be with so many times as many examples, or runs, like these.
        """
        of_both, of_examples = self.of_both / (examples * runs), self.of_examples / examples
        of_runs = max(self.of_runs - self.of_both * (1 - 1 / examples), 0.0) / runs
        variance = of_examples + max(of_runs - of_both, 0.0)
        # Of pairs, leaving out runs overstates the variance (Efron and Stein), up to fourfold for
        # three runs: then runs that vary no more than their examples do are not held against it.
        uncertain = 0.0 if self.are_pairs and of_runs <= of_both else of_runs
        n = self.n * examples
        doubt = uncertain**2 / (self.n_runs * runs - 1) + of_examples**2 / (n - 1)
        freedom = max(variance**2 / doubt, 1.0) if doubt else math.inf
        return Spread(variance, freedom, round(n))


def _pairwise(runs: Array) -> npt.NDArray[np.int8]:
    """Which examples differ, for each pair of runs: (pairs, n)."""
    pairs = combinations(range(len(runs)), 2)
    return np.stack([(runs[i] != runs[j]).astype(np.int8) for i, j in pairs])
