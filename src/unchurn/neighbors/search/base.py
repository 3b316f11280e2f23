"""`Search`: the protocol of searches, which propose candidates; exact distances decide.

    Search(points, histogram, …)        of distinct points (m, D) and their label counts (m, L)
    .answer(queries, ks, advance)       mean labels, (len(ks), rows, L)

The `engine` of `knn_labels` chooses a search.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from unchurn.core.arrays import Float32, Float64, IntArray

Advance = Callable[[int], None]  # called with the number of rows just finished


class Search(Protocol):
    """An index of distinct points."""

    def answer(self, queries: Float64 | None, ks: IntArray, advance: Advance) -> Float32:
        """Mean labels of the queries for each k, largest k first.

        Without queries, the mean labels of the points themselves.
        """
