"""`Scaling`: scale raw numbers to a size that a network can learn from.

A table that is loaded by name or path is prepared, but an array may hold raw measurements. Columns
of thousands beside columns of tenths keep a network from learning, and its answers are then mostly
chance: two models of scikit-learn's wine data, unscaled, hardly agree. Small numbers that are far
from a mean of 0 and a deviation of 1 slow learning down: of R's Vowel data, unscaled, only half is
learned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from unchurn.core.arrays import Array, Float32, Float64
from unchurn.core.errors import InputError
from unchurn.datasets.preparation import NumberColumn, Preparation

LARGEST = 10.0  # root mean square of pixels up to which images are not scaled
FAR = 5.0  # interquartile ranges from the median beyond which a number is an outlier
FARTHEST = 3.0  # deviations from the mean that no training value exceeds: more raise the deviation
N_ROWS = 100_000  # at most, taken evenly from all rows, to learn a scaling from
BLOCK = 4096  # rows to scale at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class Scaling:
    """Subtract `mean` from inputs, then multiply by `factor`: (d,) each, or (1,) for images."""

    mean: Float64
    factor: Float64

    def apply(self, inputs: Array) -> Float32:
        """Inputs, scaled; InputError if a number overflows."""
        scaled = np.empty(inputs.shape, np.float32)
        with np.errstate(over="ignore"):
            for start in range(0, len(inputs), BLOCK):
                rows = slice(start, start + BLOCK)
                scaled[rows] = (inputs[rows] - self.mean) * self.factor
        if not np.isfinite(scaled).all():
            row = int((~np.isfinite(scaled)).reshape(len(scaled), -1).any(axis=1).argmax())
            raise InputError(f"row {row} of X has a number too far from those of the training rows")
        return scaled

    def to_plain(self) -> dict[str, list[float]]:
        """The scaling as lists, for JSON."""
        return {"mean": self.mean.tolist(), "factor": self.factor.tolist()}

    @classmethod
    def from_plain(cls, plain: Any, shape: tuple[int, ...]) -> Self:
        """The inverse of `to_plain`, checked to fit inputs of a shape."""
        parts = {name: np.array(plain[name], np.float64) for name in ("mean", "factor")}
        expected = shape if len(shape) == 1 else (1,)
        if any(part.shape != expected or not np.isfinite(part).all() for part in parts.values()):
            raise InputError(f"its scaling is no number for each input of {shape}")
        return cls(**parts)


def learn_scaling(inputs: Array) -> Scaling | None:
    """The scaling by mean and deviation of each column, or of all pixels; None if none is needed.

    Images are scaled only if their pixels are large: the paper's pixels, from 0 to 1, stay as they
    are, to the bit. So do columns of only 0 and 1, such as a table's categories. Outliers, such as
    codes for missing values (-999), are clipped before mean and deviation are computed; otherwise
    they would squeeze all other numbers together. If rare values would still end up farther than
    FARTHEST deviations from the mean, as of a pixel that is seldom black, the deviation is raised.
    """
    are_images = inputs.ndim > 2
    if are_images and np.abs(inputs).max() <= LARGEST:
        return None
    columns = inputs[:: math.ceil(len(inputs) / N_ROWS)].astype(np.float64)
    if are_images:
        columns = columns.reshape(-1, 1)
    median, reach = np.median(columns, axis=0), FAR * _spread(columns)
    columns = columns.clip(median - reach, median + reach)
    mean, deviation = columns.mean(axis=0), columns.std(axis=0)
    if are_images and np.hypot(mean, deviation).max() <= LARGEST:
        return None
    deviation = np.maximum(deviation, np.abs(columns - mean).max(axis=0) / FARTHEST)
    # A constant is only shifted: later data may have other values in that column.
    deviation[columns.min(axis=0) == columns.max(axis=0)] = 1
    is_flag = ((columns == 0) | (columns == 1)).all(axis=0)
    mean[is_flag], deviation[is_flag] = 0, 1
    return None if is_flag.all() else Scaling(mean=mean, factor=1 / deviation)


def _spread(columns: Float64) -> Float64:
    """The interquartile range of each column.

    If it is 0, because one value prevails, it is that of the other values; inf if that is 0, too.
    """
    low, median, high = np.quantile(columns, (0.25, 0.5, 0.75), axis=0)
    spread: Float64 = high - low
    for at in np.flatnonzero(spread == 0):
        others = columns[columns[:, at] != median[at], at]
        low, high = np.quantile(others, (0.25, 0.75)) if len(others) else (0, 0)
        spread[at] = high - low if high > low else np.inf
    return spread


def scale(scaling: Scaling | None, inputs: Array) -> Array:
    """Inputs, scaled; as they are if there is no scaling."""
    return inputs if scaling is None else scaling.apply(inputs)


def scaled(model: Any, inputs: Array) -> Array:
    """Inputs as a fitted StableClassifier's networks take them."""
    return scale(getattr(model, "scaling_", None), inputs)  # older pickles have none


def preparation_of(model: Any) -> Preparation | None:
    """How a fitted StableClassifier prepares a table; None if its columns have no names.

    A model that was fitted to a frame of plain numbers scales these itself. That scaling is
    returned as a preparation, so that another model can learn from exactly the same inputs.
    """
    own: Preparation | None = getattr(model, "preparation_", None)
    scaling: Scaling | None = getattr(model, "scaling_", None)  # older pickles have none
    names = getattr(model, "feature_names_in_", None)
    if own is not None or scaling is None or names is None:
        return own
    each = zip(names, scaling.mean.tolist(), (1 / scaling.factor).tolist(), strict=True)
    return Preparation(
        tuple(
            NumberColumn(
                name=str(name), median=mean, exponent=0, mean=mean, deviation=deviation,
                has_gaps=False,
            )
            for name, mean, deviation in each
        )
    )  # fmt: skip
