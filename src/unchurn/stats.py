"""Intervals for differences between settings whose runs are paired."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from unchurn.arrays import Array

Float64 = npt.NDArray[np.float64]
FEWEST_RUNS = 3  # that give an interval: without one of two runs there is no pair left


@dataclass(frozen=True)
class Interval:
    """An estimate with a 95 % interval, as fractions."""

    value: float
    low: float
    high: float


def churn_difference(first: Array, second: Array) -> Interval:
    """Churn of the first setting's runs less that of the second's; both (R, n), paired by run.

    The variance is that of deleting one run at a time (jackknife) plus that of the examples. Runs
    are never drawn with replacement: a run paired with itself has no churn.
    """
    each = _pairwise(first) - _pairwise(second)
    means = each.mean(axis=1)
    value = float(means.mean())
    if len(first) < FEWEST_RUNS:
        return Interval(value, float("nan"), float("nan"))
    return _interval(value, _without_each(means, len(first)), each.mean(axis=0))


def accuracy_difference(first: Array, second: Array, labels: Array) -> Interval:
    """Accuracy of the first setting's runs less that of the second's, as `churn_difference`."""
    each = (first == labels).astype(np.int8) - (second == labels).astype(np.int8)
    means = each.mean(axis=1)
    value = float(means.mean())
    if len(first) < FEWEST_RUNS:
        return Interval(value, float("nan"), float("nan"))
    without = (means.sum() - means) / (len(means) - 1)
    return _interval(value, without, each.mean(axis=0))


def churn_standard_error(runs: Array) -> float:
    """Of the mean churn of (R, n) runs, by deleting one run at a time: pairs share runs."""
    if len(runs) < FEWEST_RUNS:
        return float("nan")
    return float(np.sqrt(_jackknife(_without_each(_pairwise(runs).mean(axis=1), len(runs)))))


def _without_each(means: Float64, n_runs: int) -> Float64:
    """The mean over all pairs that a run has no part in, for each run."""
    pairs = list(combinations(range(n_runs), 2))
    return np.array(
        [
            np.mean([m for m, pair in zip(means, pairs, strict=True) if run not in pair])
            for run in range(n_runs)
        ]
    )


def _jackknife(without: Float64) -> float:
    """The variance of a mean, from its values without each run."""
    n_runs = len(without)
    return float((n_runs - 1) / n_runs * np.sum((without - without.mean()) ** 2))


def _pairwise(runs: Array) -> npt.NDArray[np.int8]:
    """Which examples differ, for each pair of runs: (pairs, n)."""
    pairs = combinations(range(len(runs)), 2)
    return np.stack([(runs[i] != runs[j]).astype(np.int8) for i, j in pairs])


def _interval(value: float, without: Float64, by_example: Float64) -> Interval:
    """Student's t with R − 1 degrees of freedom."""
    from scipy.stats import t

    n_runs = len(without)
    of_examples = by_example.var(ddof=1) / len(by_example)
    half = float(t.ppf(0.975, n_runs - 1) * np.sqrt(_jackknife(without) + of_examples))
    return Interval(value, value - half, value + half)
