"""`Scaling`: raw numbers brought to a size that a network learns from.

A table that is loaded by name or path is prepared; an array may come as it was measured. Columns of
thousands beside columns of tenths keep a network from learning, and its answers are then chance:
two models of scikit-learn's wine, as it comes, agree on little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from unchurn.core.arrays import Array, Float32, Float64
from unchurn.core.errors import InputError

LARGEST = 10.0  # root mean square of a column; up to here networks learn from numbers as they are


@dataclass(frozen=True, kw_only=True, eq=False)
class Scaling:
    """What is subtracted from inputs and what they are multiplied by: (d,), or (1,) for images."""

    mean: Float64
    factor: Float64  # 0: a column that is constant in training

    def apply(self, inputs: Array) -> Float32:
        """Inputs in the size that was learned from."""
        with np.errstate(over="ignore"):
            scaled = ((inputs - self.mean) * self.factor).astype(np.float32)
        if not np.isfinite(scaled).all():
            row = int((~np.isfinite(scaled)).reshape(len(scaled), -1).any(axis=1).argmax())
            raise InputError(f"row {row} of X has a number too far from those of the training rows")
        return scaled

    def to_plain(self) -> dict[str, list[float]]:
        """What JSON holds of it."""
        return {"mean": self.mean.tolist(), "factor": self.factor.tolist()}

    @classmethod
    def from_plain(cls, plain: Any, shape: tuple[int, ...]) -> Self:
        """Make it of what `to_plain` gave, and JSON held meanwhile, for inputs of a shape."""
        parts = {name: np.array(plain[name], np.float64) for name in ("mean", "factor")}
        fits = (shape if len(shape) == 1 else (1,),)
        if any(part.shape not in fits or not np.isfinite(part).all() for part in parts.values()):
            raise InputError(f"its scaling is no number for each input of {shape}")
        return cls(**parts)


def learn_scaling(inputs: Array) -> Scaling | None:
    """Mean and deviation of each column, of images of all pixels; None where no column is large.

    Then nothing is changed, to the bit: so shares, the paper's pixels from 0 to 1 and what was
    standardised before are trained on as they are.
    """
    columns = inputs.astype(np.float64)
    if inputs.ndim > 2:
        columns = columns.reshape(-1, 1)
    mean, deviation = columns.mean(axis=0), columns.std(axis=0)
    if np.hypot(mean, deviation).max() <= LARGEST:
        return None
    deviation[columns.min(axis=0) == columns.max(axis=0)] = 0  # else what rounding left of it
    factor = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    return Scaling(mean=mean, factor=factor)


def scale(scaling: Scaling | None, inputs: Array) -> Array:
    """Inputs scaled, or as they are."""
    return inputs if scaling is None else scaling.apply(inputs)


def scaled(model: Any, inputs: Array) -> Array:
    """Inputs as a fitted StableClassifier's networks take them."""
    return scale(getattr(model, "scaling_", None), inputs)  # older pickles have none
