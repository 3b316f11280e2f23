"""Numba kernels that decide which points are within the k-th distance, and count their labels.

Rough squared distances (in float32, or of rotated points) have a bound on their error, `Slack`. The
k-th smallest is bracketed by counting, without sorting. The labels of points that are surely inside
the ball are counted at once; only the few points within the slack of its edge need exact distances.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from unchurn.core.arrays import Array, IntArray
from unchurn.neighbors.kernels.jit import exact_inline, rough_inline
from unchurn.neighbors.kernels.points import LabelledPoints

# A bracket of the k-th distance that holds no more points than this is left to exact distances.
FEW = 8
# Rough distances of points are smaller; places without a point are farther away.
LARGEST = np.float32(3e38)


class Slack(NamedTuple):
    """Error of a rough squared distance r of points at distance d.

    √r is off by at most `absolute`, r itself by the fraction `relative` and by `constant`.
    """

    relative: float
    absolute: float
    constant: float


@exact_inline
def at_most(rough_value: float, slack: Slack) -> float:
    """A bound from above: d(p) ≤ d(q) and r(q) ≤ `rough_value` give r(p) ≤ at_most.

    d is the exact distance of a point to the query, r its rough squared one.
    """
    edge = sqrt((rough_value + slack.constant) / (1 - slack.relative)) + 2 * slack.absolute
    return edge * edge * (1 + slack.relative) + slack.constant


@exact_inline
def at_least(rough_value: float, slack: Slack) -> float:
    """A bound from below: r(p) < at_least and r(q) > `rough_value` give d(p) < d(q).

    It is −1 where no r(p) is small enough for that.
    """
    rest = rough_value - slack.constant
    edge = sqrt(max(rest, 0.0) / (1 + slack.relative)) - 2 * slack.absolute
    return edge * edge * (1 - slack.relative) - slack.constant if edge > 0 else -1.0


@rough_inline
def count_within(values: Array, weights: IntArray, weighted: bool, limit: float) -> int:
    """How many points, by weight, have a value of at most `limit`."""
    if weighted:
        total = 0
        for i in range(values.size):
            total += weights[i] if values[i] <= limit else 0
        return total
    count = np.int32(0)
    for i in range(values.size):
        count = np.int32(count + np.int32(values[i] <= limit))
    return int(count)


@exact_inline
def bracket(
    values: Array, weights: IntArray, weighted: bool, k: int, high: float, at_high: int, few: int
) -> tuple[float, float, int]:
    """Narrow the bracket low < k-th smallest value ≤ high; `at_high` ≥ k points are up to `high`.

    It guesses by interpolation, every third time by bisection, until at most `few` points lie
    between, or no number does. It returns low, high and the number of points up to high.
    """
    number = values.dtype.type
    low, at_low, turn = number(-1), 0, 0
    while at_high - at_low > few:
        fraction = 0.5 if turn % 3 == 2 else (k - at_low - 0.5) / (at_high - at_low)
        start = max(low, number(0))
        guess = number(start + (high - start) * min(max(fraction, 0.02), 0.98))
        if not low < guess < high:
            break
        found = count_within(values, weights, weighted, guess)
        if found >= k:
            high, at_high = guess, found
        else:
            low, at_low = guess, found
        turn += 1
    return low, high, at_high


@exact_inline
def add_labels(places: IntArray, labelled: LabelledPoints, counts: IntArray) -> int:
    """Add the labels of the points at these places to `counts`; return how many they are."""
    labels, weights, total = labelled.labels, labelled.weights, 0
    for i in range(places.size):
        label, weight = labels[places[i]], weights[places[i]]
        total += weight
        if label >= 0:
            counts[label] += weight
        else:
            for j in range(labelled.starts[-1 - label], labelled.starts[-label]):
                counts[labelled.mixed_labels[j]] += labelled.mixed_counts[j]
    return total


@exact_inline
def exact_distance(point: Array, query: Array) -> float:
    """The squared distance as `knn_labels` defines it."""
    total = 0.0
    for j in range(query.size):
        difference = point[j] - query[j]
        total += difference * difference
    return total


@exact_inline
def exact_kth(distances: Array, places: IntArray, weights: IntArray, k: int) -> float:
    """The smallest distance within which there are k points, found by comparison with pivots."""
    low, high, turn = -1.0, np.inf, 0
    while True:
        turn, pivot = (turn + 7919) % distances.size, -1.0
        for i in range(distances.size):
            pivot = distances[i + turn if i + turn < distances.size else i + turn - distances.size]
            if low < pivot < high:
                break
        below, upto = 0, 0
        for i in range(distances.size):
            below += weights[places[i]] if distances[i] < pivot else 0
            upto += weights[places[i]] if distances[i] <= pivot else 0
        if below >= k:
            high = pivot
        elif upto < k:
            low = pivot
        else:
            return pivot


@exact_inline
def settle(
    values: Array,
    places: IntArray,
    weights: IntArray,
    k: int,
    high: float,
    at_high: int,
    slack: Slack,
    query: Array,
    labelled: LabelledPoints,
    edge: tuple[Array, IntArray, IntArray],
    counts: IntArray,
) -> tuple[float, int]:
    """Count the labels within the k-th distance of a query.

    `values` are the rough distances of all points up to at_most(high) and some beyond, at `places`.
    Returns the new `high` and `at_high`, which also hold for smaller k.
    """
    low, high, at_high = bracket(values, weights, labelled.weighted, k, high, at_high, FEW)
    sure = at_least(low, slack) if low >= 0 else -1.0
    possible = at_most(high, slack)
    distances, doubtful, inside = edge
    n_inside, n_doubtful = 0, 0
    for i in range(values.size):
        inside[n_inside] = places[i]
        n_inside += values[i] < sure
        doubtful[n_doubtful] = places[i]
        n_doubtful += sure <= values[i] <= possible
    count = add_labels(inside[:n_inside], labelled, counts)
    points = labelled.points
    for i in range(n_doubtful):
        distances[i] = exact_distance(points[doubtful[i]], query)
    radius = exact_kth(distances[:n_doubtful], doubtful, labelled.weights, k - count)
    n_inside = 0
    for i in range(n_doubtful):
        inside[n_inside] = doubtful[i]
        n_inside += distances[i] <= radius
    add_labels(inside[:n_inside], labelled, counts)
    return high, at_high


@exact_inline
def answer(
    values: Array,
    places: IntArray,
    weights: IntArray,
    ks: IntArray,
    high: float,
    slack: Slack,
    query: Array,
    labelled: LabelledPoints,
    edge: tuple[Array, IntArray, IntArray],
    counts: IntArray,
    answers: Array,
    row: int,
) -> None:
    """Write a query's mean labels for every k (in falling order) into answers (n_k, rows, L)."""
    at_high = count_within(values, weights, labelled.weighted, high)
    for which in range(ks.size):
        counts[:] = 0
        high, at_high = settle(
            values, places, weights, ks[which], high, at_high, slack, query, labelled, edge, counts
        )
        total = 0
        for c in range(counts.size):
            total += counts[c]
        for c in range(counts.size):
            answers[which, row, c] = counts[c] / total
