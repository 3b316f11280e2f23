"""Intervals over retrainings: churn, differences between settings, and prediction of one more.

Runs and examples are both drawn at random. See `intervals.py` for intervals over examples alone.
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

FEWEST_RUNS = 3  # for an interval of churn: without one of two runs no pair is left

ROUNDING = 1e-12  # relative error that is left when one variance is subtracted from another


def churn_difference(first: Array, second: Array) -> Interval:
    """Churn of the first setting's runs minus the second's; both (R, n), paired by run.

    The variance is the jackknife's over runs plus that of the examples. Runs are not bootstrapped:
    a run paired with itself would have no churn.
    """
    each = _pairwise(first) - _pairwise(second)
    pairs = list(combinations(range(len(first)), 2))
    without = [[run not in pair for pair in pairs] for run in range(len(first))]
    return _student(each, without, same=np.array_equal(first, second), pairs=True)


def accuracy_difference(first: Array, second: Array, labels: Array) -> Interval:
    """Accuracy of the first setting's runs minus the second's, as `churn_difference`."""
    each = (first == labels).astype(np.int8) - (second == labels).astype(np.int8)
    return _student(each, _others(len(each)), same=np.array_equal(first, second))


def rate_difference(
    first: Array, second: Array, groups: Array | None = None, *, same: bool = False
) -> Interval:
    """The share of the first setting's mask minus the second's; both (R, n), paired by run.

    Runs of one group, such as one older model, are not independent: if there are several groups,
    these are left out one at a time. `same` says that the runs predict the same. Equal masks do not
    show that: both may be empty.
    """
    each = first.astype(np.int8) - second.astype(np.int8)
    numbers = np.unique(groups) if groups is not None else ()
    if groups is None or len(numbers) < 2:
        return _student(each, _others(len(each)), same=same)
    return _student(each, [(groups != number).tolist() for number in numbers], same=same)


def churn_over_runs(moved: Array, clusters: Array | None = None) -> Interval:
    """The mean churn of R retrainings, from masks of their changes, (R, n); on the logit scale.

    `clusters` has the number of each example's cluster, if examples are not independent.
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
    """The rate of one model's mask, (n,), minus the mean of R retrainings', (R, n).

    Masks mark changed predictions, or right ones.
    """

    value: float
    variances: Variances | None
    gained: float  # mean number of examples in the model's mask and not in a retraining's
    lost: float  # the other way round
    n: int
    few: bool  # whether few examples, or clusters, differ

    @classmethod
    def of(cls, one: Array, runs: Array, clusters: Array | None = None) -> Excess:
        """The excess from masks; `clusters` as in `churn_over_runs`."""
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
        """Number of examples, or of clusters."""
        return self.n if self.variances is None else self.variances.n

    def reversed(self) -> Excess:
        """The retrainings' mean minus the one model."""
        return replace(self, value=-self.value, gained=self.lost, lost=self.gained)

    def interval(self, examples: float = 1.0, runs: float = 1.0) -> Interval:
        """Student's interval; if few examples differ, that of a paired difference.

        `examples` and `runs` are factors: the interval with so many times as many like these.
        """
        if self.variances is None:
            return Interval(self.value, NAN, NAN)
        spread = self.variances.spread(examples, runs)
        if not self.few:
            return spread.around(self.value)
        gained, lost, n = (examples * number for number in (self.gained, self.lost, self.n))
        return spread.difference(gained, lost, n, few=True)


def churn_standard_error(runs: Array) -> float:
    """Standard error of the mean churn of runs, (R, n), by jackknife, as pairs share runs."""
    n_runs = len(runs)
    if n_runs < FEWEST_RUNS:
        return NAN
    means = _pairwise(runs).mean(axis=1)
    pairs = list(combinations(range(n_runs), 2))
    kept = [[mean for mean, pair in zip(means, pairs, strict=True) if run not in pair]
            for run in range(n_runs)]  # fmt: skip
    return math.sqrt(jackknife(np.array([np.mean(k) for k in kept])))


def prediction_interval(floor: Float64, n: int, runs: int | None = None) -> tuple[float, float]:
    """Prediction interval of one more retraining's churn, from R ≥ 2 churns on n examples.

    Student's interval for a new draw, with R − 1 degrees of freedom, on the log scale: churn is
    positive and skewed. A retraining without a flip counts as half a flip. As flips are integers,
    the variance of rounding is added (Sheppard): two equal counts do not promise a third. With
    `runs`, the interval if so many retrainings varied as much.
    """
    if len(floor) < 2:
        return NAN, NAN
    logs = np.log(np.maximum(floor, 0.5 / n))
    low, high = _of_one_more(logs, 1 / (n * math.exp(float(logs.mean()))), runs)
    return math.exp(low), min(math.exp(high), 1.0)


def accuracy_prediction_interval(
    accuracies: Float64, n: int, runs: int | None = None
) -> tuple[float, float]:
    """Prediction interval of one more retraining's accuracy: `prediction_interval` without logs."""
    if len(accuracies) < 2:
        return NAN, NAN
    low, high = _of_one_more(accuracies, 1 / n, runs)
    return max(low, 0.0), min(high, 1.0)


def _of_one_more(values: Float64, step: float, count: int | None) -> tuple[float, float]:
    """Student's interval for one more value, as if `count` were known; values come in steps."""
    from scipy.special import stdtrit

    count, middle = count or len(values), float(values.mean())
    spread = math.sqrt(float(values.var(ddof=1)) + 1 / 12 * step**2)
    half = float(stdtrit(count - 1, (1 + LEVEL) / 2)) * spread * math.sqrt(1 + 1 / count)
    return middle - half, middle + half


def _student(
    each: Array, without: Sequence[Sequence[bool]], *, same: bool, pairs: bool = False
) -> Interval:
    """Student's interval for the mean over runs and examples; `same` if nothing differs.

    If something differs and yet nothing varies, such as one example that flips in different runs,
    the interval is unknown.
    """
    value, variances = _over_runs(each, without, pairs)
    if variances is None:
        return Interval(value, NAN, NAN)
    spread = variances.spread()
    if not same and spread.variance <= ROUNDING * (variances.of_runs + variances.of_examples):
        return Interval(value, NAN, NAN)
    return spread.around(value)


def _units(events: Array, clusters: Array | None) -> int:
    """Number of examples, or of clusters, with an event."""
    return len(np.flatnonzero(events) if clusters is None else np.unique(clusters[events]))


def _by_cluster(each: Array, clusters: Array) -> Float64:
    """Values (rows, examples) as values (rows, clusters) with the same mean.

    A cluster's value is its sum minus the sum expected for its size (a linearised ratio): clusters
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
    """The mean of values, (rows, examples), and its variances; None if these are unknown.

    `without` says for each run which rows do not involve it.
    """
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
    """Variances of a mean over runs and examples, which are both drawn at random.

    The variance of runs and examples together is part of both others, so it is subtracted once.
    """

    of_runs: float
    of_examples: float
    of_both: float
    n_runs: int
    n: int
    are_pairs: bool

    def spread(self, examples: float = 1.0, runs: float = 1.0) -> Spread:
        """The total variance, with Satterthwaite's degrees of freedom.

        `examples` and `runs` are factors: the variance with so many times as many like these.
        """
        of_both, of_examples = self.of_both / (examples * runs), self.of_examples / examples
        of_runs = max(self.of_runs - self.of_both * (1 - 1 / examples), 0.0) / runs
        variance = of_examples + max(of_runs - of_both, 0.0)
        # For pairs, the jackknife overstates the variance (Efron and Stein), up to fourfold for
        # three runs: so runs that vary no more than their examples cost no degrees of freedom.
        uncertain = 0.0 if self.are_pairs and of_runs <= of_both else of_runs
        n = self.n * examples
        doubt = uncertain**2 / (self.n_runs * runs - 1) + of_examples**2 / (n - 1)
        freedom = max(variance**2 / doubt, 1.0) if doubt else math.inf
        return Spread(variance, freedom, round(n))


def _pairwise(runs: Array) -> npt.NDArray[np.int8]:
    """Mask of the examples that differ, for each pair of runs: (pairs, n)."""
    pairs = combinations(range(len(runs)), 2)
    return np.stack([(runs[i] != runs[j]).astype(np.int8) for i, j in pairs])
