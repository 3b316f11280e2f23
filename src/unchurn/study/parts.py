"""`Parts`: what is trained on and what is predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Float32
from unchurn.core.errors import InputError
from unchurn.datasets.base import SPLIT_SEED, Dataset

VALIDATION_SIZE = 0.2  # of the training part, held out to choose settings on
Classes = npt.NDArray[np.integer]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Inputs and labels to train on, and the inputs to predict by the name of their part."""

    x_train: Float32
    y_train: Classes
    n_classes: int
    x: dict[str, Float32]
    y: dict[str, Classes]

    @property
    def sizes(self) -> dict[str, int]:
        """How many examples each part has, in the order in which they are used."""
        parts = {"train": self.y_train, **self.y}
        return {part: len(parts[part]) for part in ("train", "validation", "test") if part in parts}


def make_parts(data: Dataset, *, validation: bool = False) -> Parts:
    """All training data to train on; with `validation`, a fixed part of it is held out instead."""
    parts = Parts(
        x_train=data.x_train,
        y_train=data.y_train,
        n_classes=len(data.classes),
        x={"test": data.x_test},
        y={"test": data.y_test},
    )
    return _hold_out(parts, data) if validation else parts


def _hold_out(parts: Parts, data: Dataset) -> Parts:
    """Make some of each class's training data "validation"; every class stays in training."""
    rng = np.random.default_rng(SPLIT_SEED)
    is_held = np.zeros(len(data.y_train), bool)
    for number in range(len(data.classes)):
        rows = rng.permutation(np.flatnonzero(data.y_train == number))
        is_held[rows[: int(VALIDATION_SIZE * len(rows))]] = True
    if not is_held.any():
        raise InputError(f"{data.name}: too few training rows to hold some out for validation")
    return replace(
        parts,
        x_train=data.x_train[~is_held],
        y_train=data.y_train[~is_held],
        x={**parts.x, "validation": data.x_train[is_held]},
        y={**parts.y, "validation": data.y_train[is_held]},
    )
