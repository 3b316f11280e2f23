"""What an engine is: a module with these two functions, proposing candidates and never deciding.

proposer(points) -> Propose
    Index the (m, D) float64 points, which are distinct.
cost_per_row(points, count) -> int
    Numbers of working memory that one row of a request for `count` candidates takes.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from unchurn.arrays import IntArray

Float64 = npt.NDArray[np.float64]

# rows, count -> candidates (rows, count), floor (rows,): for the point of each row, `count` points
# (itself among them) that are about the nearest, and a squared distance, with slack for rounding,
# that no point left out falls below.
Propose = Callable[[IntArray, int], tuple[IntArray, Float64]]
