"""`Placement`: centre, scale and optionally rotate points before computing rough distances."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, Float64, extent

# Rows moved at a time, to avoid a second copy of all of them in float64.
ROWS_AT_A_TIME = 1 << 14
# Rows from which the principal axes are computed.
SAMPLE = 1 << 16


@dataclass(frozen=True)
class Placement:
    """Moves points to (point − centre) · scale, and rotates them to the axes if there are any.

    The scale is a power of two that makes the norms of the points it was made for at most 1.
    """

    centre: Float64
    scale: float
    axes: Float64 | None

    @staticmethod
    def of(points: Float64, *, turned: bool = False) -> Placement:
        """The placement for these points; `turned` rotates to principal axes: tighter boxes."""
        centre = np.ones(len(points)) @ points / len(points)
        reach = max(float(np.abs(end - centre).max()) for end in extent(points))
        scale = _to_one(reach * math.sqrt(centre.size))
        # The corners of the box may be far beyond any point: the slack grows with the largest norm.
        longest = 0.0
        for start in range(0, len(points), ROWS_AT_A_TIME):
            moved = (points[start : start + ROWS_AT_A_TIME] - centre) * scale
            longest = max(longest, float(np.einsum("ij,ij->i", moved, moved).max()))
        scale = min(scale * _to_one(math.sqrt(longest) * (1 + 1e-9)), 2.0**1000)
        axes = None
        if turned and centre.size > 1:
            sample = (points[:: 1 + len(points) // SAMPLE] - centre) * scale
            axes = np.linalg.eigh(sample.T @ sample)[1][:, ::-1]
        return Placement(centre, scale, axes)

    def place(self, points: Float64, dtype: npt.DTypeLike) -> Array:
        """Move points to their places, and round them to a type."""
        placed = np.empty(points.shape, dtype)
        for start in range(0, len(points), ROWS_AT_A_TIME):
            part = slice(start, start + ROWS_AT_A_TIME)
            moved = (points[part] - self.centre) * self.scale
            placed[part] = moved if self.axes is None else moved @ self.axes
        return placed

    def rounding(self, dtype: npt.DTypeLike) -> float:
        """How far rounding may move a point of norm 1."""
        eps, exact_eps = float(np.finfo(dtype).eps), float(np.finfo(np.float64).eps)
        return 0.51 * eps + 2 * (self.centre.size + 8) * exact_eps

    def lost(self) -> float:
        """A bound, after scaling, on exact squares that are lost below the smallest float64."""
        return self.centre.size * 2.0**-1073 * self.scale * self.scale

    def products_error(self, dtype: npt.DTypeLike) -> float:
        """Error of |x|² + |y|² − 2xy for |y| ≤ 1 and x at 0; it grows as 1 + |x|²."""
        d, kind = self.centre.size, np.finfo(dtype)
        # A sum of D products is off by half an eps each, the norms added to it by a few more.
        return 0.6 * (d + 8) * float(kind.eps) + 2 * d * float(kind.tiny) + self.lost()

    def no_less_than(self, rough: Array, placed: Array) -> Float64:
        """A lower bound for each query: if r(p) ≥ `rough`, then d²(p) ≥ no_less_than.

        r(p) is a point's rough squared distance by float32 products, d²(p) the exact one; `placed`
        are the queries.
        """
        norms = np.einsum("ij,ij->i", placed, placed, dtype=np.float64)
        least = np.maximum(rough - self.products_error(np.float32) * (1 + norms), 0)
        distance = np.sqrt(least) - self.rounding(np.float32) * (1 + np.sqrt(norms))
        exact: Float64 = (
            np.maximum(distance, 0) ** 2 * (1 - 1e-12) / (self.scale * self.scale) - 1e-300
        )
        return exact


def _to_one(size: float) -> float:
    """A power of two that makes a size at most 1 (as far as float64 reaches)."""
    return 2.0 ** -max(math.frexp(size)[1], -1000) if size > 0 else 1.0
