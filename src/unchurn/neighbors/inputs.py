"""Check the arguments of `knn_labels` and `KNNLabels`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Float64, IntArray, as_array, extent
from unchurn.core.errors import InputError

Neighbours = int | Sequence[int] | IntArray


def as_points(embeddings: npt.ArrayLike) -> Float64:
    """The embeddings as (n, D) float64, checked."""
    if hasattr(embeddings, "detach"):  # a torch tensor; exact distances are computed on the CPU
        embeddings = embeddings.detach().cpu()
    array = as_array(embeddings, "embeddings")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"embeddings must be (n, D) with n, D ≥ 1, not {array.shape}")
    if array.dtype.kind not in "fiub":
        raise InputError(f"embeddings must be numbers, not {array.dtype}")
    points = np.ascontiguousarray(array, np.float64)
    if not np.isfinite(points).all():
        row = int(np.isfinite(points).all(axis=1).argmin())
        raise InputError(f"embeddings row {row} holds NaN or infinity: {array[row]}")
    check_spread(*extent(points))
    return points


def check_spread(low: Float64, high: Float64) -> None:
    """Refuse points so far apart that their squared distances overflow."""
    with np.errstate(over="ignore"):
        if not np.isfinite(np.sum((high - low) ** 2)):
            raise InputError("embeddings are so large that squared distances overflow: scale them")


def as_ks(k: Neighbours, n: int) -> list[int]:
    """One or several numbers of neighbours as a list, checked."""
    values = list(k) if isinstance(k, Sequence | np.ndarray) else [k]
    if not values:
        raise InputError("k is an empty sequence")
    for value in values:
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            raise InputError(f"k must be a whole number, not {value!r}")
        if not 1 <= value <= n:
            raise InputError(f"k must be from 1 to the number of points, {n}, not {value}")
    return [int(value) for value in values]
