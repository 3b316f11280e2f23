"""What a search is: it proposes candidates for the nearest points, and exact distances decide.

    Search(points, histogram, …)        of distinct points (m, D) and their label counts (m, L)
    .answer(queries, ks, advance)       mean labels, (len(ks), rows, L)

Which of them is used is what `knn_labels` calls its `engine`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from unchurn.core.arrays import Float32, Float64, IntArray

Advance = Callable[[int], None]  # is told how many more rows are done


class Search(Protocol):
    """Distinct points made searchable."""

    def answer(self, queries: Float64 | None, ks: IntArray, advance: Advance) -> Float32:
        """Mean labels of the queries for each k, which are falling.

        Without queries, those of the points themselves.
        """
