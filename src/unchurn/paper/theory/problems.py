"""Distributions with known η, on which the theorems can be tried: draws, and the exact errors.

All have the label function η(x) = 0.3 + 0.4·|2x₁ − 1|^α: a wedge (α = 1) or a cusp (α = 1/2) in the
middle. Why each satisfies Theorem 1's assumptions:

- Smoothness. |u^α − v^α| ≤ |u − v|^α for u, v ≥ 0 and α ≤ 1, and | |2x − 1| − |2x' − 1| | ≤
  2·|x − x'|, so that c_alpha = 0.4·2^α. It cannot be smaller: take x = 1/2.
- Support. In [0, 1] the part of [x − r, x + r] has length min(x, r) + min(1 − x, r) ≥ r for r ≤ 1,
  with equality at x = 0. In the square apply this to each horizontal chord of a disc, then to each
  vertical one: the corner's quarter disc is the least. So omega = 2^−D and r_0 = 1.
- Density. It is 1 + s·(2x − 1) on the line, at least 1 − s; it is 1 on the square.

The amplitude 0.4 was chosen, before any draw, so that on the uniform line the best k of n = 10⁷ is
among those that Theorem 1 admits; no other was tried.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import as_whole
from unchurn.core.errors import InputError
from unchurn.paper.theory.bounds import Assumptions

Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

BASE, RISE = 0.3, 0.4
TURN = 0.5  # where η turns from falling to rising
CHUNK = 1 << 16  # windows at a time: the arrays stay in the processor's cache
FEWEST_TICKS = 15  # per side of the grid in the square
NODES = 1000  # of the integrals over a disc: exact to about 1e-6


def wedge(x: Float64, alpha: float) -> Float64:
    """η as a function of the (first) coordinate."""
    value: Float64 = BASE + RISE * np.abs(2 * x - 1) ** alpha
    return value


@dataclass(frozen=True)
class Line:
    """Points of [0, 1] with density 1 + slope·(2x − 1), 0 ≤ slope < 1. The supremum is exact."""

    alpha: float
    slope: float
    d = 1
    exact = True

    @property
    def name(self) -> str:
        """What tells it from the others, for tables and charts."""
        density = f"density {1 - self.slope:g} to {1 + self.slope:g}" if self.slope else "uniform"
        return f"D=1, α={self.alpha:g}, {density}"

    @property
    def assumptions(self) -> Assumptions:
        """Its constants; the module's first lines prove them."""
        return Assumptions(1, self.alpha, RISE * 2**self.alpha, 0.5, 1.0, 1 - self.slope)

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Float64, Bool]:
        """Draw n points, in order, and their labels."""
        # Sums of exponential variables, over the total of n + 1, are ordered uniform ones: no sort.
        uniform = np.cumsum(rng.standard_exponential(n + 1))
        uniform = uniform[:-1] / uniform[-1]
        x = self._quantile(uniform)
        # Real draws differ with probability 1; floats rarely coincide, and then move by a last bit.
        while (equal := np.flatnonzero(x[1:] <= x[:-1])).size:
            x[equal + 1] = np.nextafter(x[equal], 2)
        return x, rng.random(n) < wedge(x, self.alpha)

    def supremum(self, x: Float64, y: Bool, k: int, beta: float | None = None) -> float:
        """Supremum of |η_k − η|, or of |η_k − η̃_β| if β is given; exact but for rounding.

        Between the midpoints of x_i and x_{i+k} the neighbourhood is one window of k points in
        order, η_k is constant, and η or η̃_β is monotone but for its turn at 1/2; so the extremes
        are at the midpoints, at 0, 1/2 and 1. At a midpoint itself both x_i and x_{i+k} are in the
        closed ball, and η_k is the mean of k + 1 labels: these values count, too.

        η̃_β turns at 1/2 only: where its ball [l, h] is cut off at neither end, moving x to the
        right moves both ends to the right at equal mass, so that its mean gains (η(h) − η(l)) for
        each unit of mass, which has the sign of |h − 1/2| − |l − 1/2|, that is of x − 1/2. Where
        the ball is cut off, it does not move.
        """
        n = x.size
        if as_whole(k, 1, "k") > n:
            raise InputError(f"k must be from 1 to the number of points, {n}, not {k}")
        if not ((x[1:] > x[:-1]).all() and x[0] >= 0 and x[-1] <= 1):
            raise InputError("x must increase strictly within 0 … 1")
        before = np.concatenate([[0], np.cumsum(y)])  # labels of 1 among the first i points
        edges = np.concatenate([[0.0], (x[: n - k] + x[k:]) / 2, [1.0]])
        worst = 0.0
        for start in range(0, n - k + 1, CHUNK):
            stop = min(start + CHUNK, n - k + 1)  # window i is between edges i and i + 1
            target = self._target(edges[start : stop + 1], beta)
            mean = (before[start + k : stop + k] - before[start:stop]) / k
            worst = max(worst, np.abs(mean - target[:-1]).max(), np.abs(mean - target[1:]).max())
            tied = min(stop, n - k)  # the last window is followed by none
            mean = (before[start + k + 1 : tied + k + 1] - before[start:tied]) / (k + 1)
            worst = max(worst, np.abs(mean - target[1 : tied - start + 1]).max(initial=0))
        middle = int(np.searchsorted(edges[1:-1], TURN))
        mean = (before[middle + k] - before[middle]) / k
        return float(max(worst, np.abs(mean - self._target(np.array([TURN]), beta))[0]))

    def smoothed(self, x: Float64, beta: float) -> Float64:
        """η̃_β: the mean of η over the smallest ball around x that has probability β."""
        first, last = self._quantile(np.array([beta, 1 - beta]))
        # Under a linear density an interval around x has its length times the density at x.
        radius = beta / (2 * (1 + self.slope * (2 * x - 1)))
        at_left, at_right = 2 * x <= first, 2 * x >= 1 + last
        low = np.where(at_left, 0, np.where(at_right, last, x - radius))
        high = np.where(at_left, first, np.where(at_right, 1, x + radius))
        mean: Float64 = (self._labels_below(high) - self._labels_below(low)) / beta
        return mean

    def _target(self, x: Float64, beta: float | None) -> Float64:
        return wedge(x, self.alpha) if beta is None else self.smoothed(x, beta)

    def _quantile(self, mass: Float64) -> Float64:
        """Where the distribution function (1 − s)·x + s·x² equals `mass`; stable as s → 0."""
        rest = 1 - self.slope
        where: Float64 = 2 * mass / (rest + np.sqrt(rest**2 + 4 * self.slope * mass))
        return where

    def _labels_below(self, x: Float64) -> Float64:
        """The integral of η times the density up to x, plus a constant; t = 2x − 1."""
        t, s, a = 2 * x - 1, self.slope, self.alpha
        integral: Float64 = BASE / 2 * (t + s * t**2 / 2)
        integral += RISE / 2 * np.abs(t) ** a * (t / (a + 1) + s * t**2 / (a + 2))
        return integral


@dataclass(frozen=True)
class Square:
    """Points of [0, 1]², uniform; η depends on the first coordinate. The supremum is from below.

    It is taken over a grid that has the corners and whose spacing is at most 2/3 of the radius that
    k neighbours take in the middle: the true one is at least as large.
    """

    alpha: float
    d = 2
    exact = False

    @property
    def name(self) -> str:
        """What tells it from the others, for tables and charts."""
        return f"D=2, α={self.alpha:g}, uniform"

    @property
    def assumptions(self) -> Assumptions:
        """Its constants; the module's first lines prove them."""
        return Assumptions(2, self.alpha, RISE * 2**self.alpha, 0.25, 1.0, 1.0)

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Float64, Bool]:
        """Draw n points, (2, n), in the order of their first coordinate, and their labels."""
        points = rng.random((2, n))
        points[0].sort()
        return points, rng.random(n) < wedge(points[0], self.alpha)

    def supremum(self, points: Float64, y: Bool, k: int, beta: float | None = None) -> float:
        """Largest |η_k − η|, or |η_k − η̃_β| if β is given, on the grid: at most the supremum."""
        n = y.size
        if as_whole(k, 1, "k") > n:
            raise InputError(f"k must be from 1 to the number of points, {n}, not {k}")
        side = max(FEWEST_TICKS, math.ceil(1.5 / math.sqrt(k / (math.pi * n))) + 1)
        queries, targets = _grid(self, side, beta)
        reach = 1.05 * math.sqrt(k / (math.pi * n))  # a disc that holds k points, and a little more
        eta_k = np.array([_mean_label(points, y, k, query, reach) for query in queries])
        return float(np.abs(eta_k - targets).max())

    def smoothed(self, queries: Float64, beta: float) -> Float64:
        """η̃_β: the mean of η over the smallest disc around each query that has probability β."""
        small, large = np.zeros(len(queries)), np.full(len(queries), math.sqrt(2))
        for _ in range(45):  # the disc's mass grows with its radius: halve to the last bits
            radius = (small + large) / 2
            enough = _disc(queries, radius, self.alpha)[0] >= beta
            small, large = np.where(enough, small, radius), np.where(enough, radius, large)
        mass, labels = _disc(queries, large, self.alpha)
        return labels / mass


Problem = Line | Square


@lru_cache
def _grid(square: Square, side: int, beta: float | None) -> tuple[Float64, Float64]:
    """Where the square's supremum is sought, (side², 2), and η or η̃_β there: once for all draws."""
    ticks = np.linspace(0, 1, side)
    queries = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    if beta is None:
        return queries, wedge(queries[:, 0], square.alpha)
    return queries, square.smoothed(queries, beta)


def _mean_label(points: Float64, y: Bool, k: int, query: Float64, reach: float) -> float:
    """η_k at one point, from the draws within `reach` in the first coordinate (they are sorted)."""
    first, last = np.searchsorted(points[0], [query[0] - reach, query[0] + reach])
    squared = (points[0, first:last] - query[0]) ** 2 + (points[1, first:last] - query[1]) ** 2
    near = squared <= reach**2
    squared = squared[near]
    if squared.size < k:
        # At an edge half of the disc is missing and the radius is √2 times as large; at a corner 2.
        return _mean_label(points, y, k, query, 1.45 * reach)
    inside = squared <= np.partition(squared, k - 1)[k - 1]
    return float(np.mean(y[first:last][near][inside]))


def _disc(queries: Float64, radius: Float64, alpha: float) -> tuple[Float64, Float64]:
    """Mass of each disc in the square, and the integral of η over it: chords, by their angle."""
    x, y, r = (column[:, None] for column in (*queries.T, radius))
    first = np.arcsin(np.maximum(-x / r, -1))
    last = np.arcsin(np.minimum((1 - x) / r, 1))
    angle = first + (last - first) * (np.arange(NODES) + 0.5) / NODES
    half = r * np.cos(angle)
    chord = np.minimum(1, y + half) - np.maximum(0, y - half)
    weight = chord * half * (last - first) / NODES
    return weight.sum(axis=1), (weight * wedge(x + r * np.sin(angle), alpha)).sum(axis=1)
