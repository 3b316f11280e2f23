"""What a StableClassifier is given beside inputs and labels, checked."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from unchurn.core.arrays import as_array
from unchurn.core.errors import InputError


def as_mask(saw: npt.ArrayLike, n: int, name: str) -> npt.NDArray[np.bool_]:
    """Check what a model before was trained on, of n examples."""
    mask = as_array(saw, name)
    if mask.shape != (n,) or mask.dtype != np.bool_:
        raise InputError(f"{name} must be {n} booleans, not {mask.dtype} of {mask.shape}")
    return mask


def as_weights(sample_weight: npt.ArrayLike, n: int) -> npt.NDArray[np.float32]:
    """Check weights of n examples."""
    weights = as_array(sample_weight, "sample_weight").astype(np.float32)
    if weights.shape != (n,):
        raise InputError(f"sample_weight must have shape ({n},), not {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("sample_weight must be finite numbers of 0 or more")
    if not weights.any():
        raise InputError("Sample weights must contain at least one non-zero number.")
    return weights


def as_seed(random_state: int | np.random.RandomState | None) -> int:
    """A seed for the streams; an integer is its own."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
