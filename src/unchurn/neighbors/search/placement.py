"""Where points are placed for rough distances: centred and scaled, at will rotated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, Float64, extent

# Rows that are moved at a time: no second copy of all of them in float64.
ROWS_AT_A_TIME = 1 << 14
# Rows by which the principal axes are found.
SAMPLE = 1 << 16


@dataclass(frozen=True)
class Placement:
    """Points are placed at (point − centre) · scale, and turned to the axes if there are any.

    The scale is a power of two, and makes the norms of the points it was made of at most 1.
    """

    centre: Float64
    scale: float
    axes: Float64 | None

    @staticmethod
    def of(points: Float64, *, turned: bool = False) -> Placement:
        """A placement made for these points; `turned` to their principal axes tightens boxes."""
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
        """Move points to their places and round them."""
        placed = np.empty(points.shape, dtype)
        for start in range(0, len(points), ROWS_AT_A_TIME):
            part = slice(start, start + ROWS_AT_A_TIME)
            moved = (points[part] - self.centre) * self.scale
            placed[part] = moved if self.axes is None else moved @ self.axes
        return placed

    def rounding(self, dtype: npt.DTypeLike) -> float:
        """How far a point of norm 1 may be from where it belongs."""
        eps, exact_eps = float(np.finfo(dtype).eps), float(np.finfo(np.float64).eps)
        return 0.51 * eps + 2 * (self.centre.size + 8) * exact_eps

    def lost(self) -> float:
        """What exact squares below the smallest float64, which are lost, come to once scaled."""
        return self.centre.size * 2.0**-1073 * self.scale * self.scale

    def products_error(self, dtype: npt.DTypeLike) -> float:
        """Error of |x|² + |y|² − 2xy for |y| ≤ 1 and x at 0; it grows as 1 + |x|²."""
        d, kind = self.centre.size, np.finfo(dtype)
        # A sum of D products is off by half an eps each, the norms added to it by a few more.
        return 0.6 * (d + 8) * float(kind.eps) + 2 * d * float(kind.tiny) + self.lost()

    def no_less_than(self, rough: Array, placed: Array) -> Float64:
        """A bound from below for each query: r(p) ≥ `rough` gives d²(p) ≥ no_less_than.

        r(p) is a point's rough squared distance by float32 products, d²(p) its exact one; `placed`
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
