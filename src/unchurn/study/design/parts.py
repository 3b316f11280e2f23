"""`Parts`: the examples to train on and those to predict (validation, test)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Float32, IntArray
from unchurn.core.errors import InputError
from unchurn.datasets.base import SPLIT_SEED, Dataset

VALIDATION_SIZE = 0.2  # of the training part, held out to choose settings on
Classes = npt.NDArray[np.integer]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Inputs and labels to train on, and those to predict, by name of the part.

    `rows` has the positions of each part's examples in the data, including those of "train". In
    the data, training rows come before test rows.
    """

    x_train: Float32
    y_train: Classes
    n_classes: int
    x: dict[str, Float32]
    y: dict[str, Classes]
    rows: dict[str, IntArray] = field(default_factory=dict)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of examples of each part, in the order train, validation, test."""
        parts = {"train": self.y_train, **self.y}
        return {part: len(parts[part]) for part in ("train", "validation", "test") if part in parts}


def make_parts(data: Dataset, *, validation: bool = False, among: Mask | None = None) -> Parts:
    """The parts of the data; with `validation`, a fixed part of the training rows is held out.

    That part is drawn from the rows in the mask `among`, or from all if `among` is None.
    """
    n = len(data.y_train)
    parts = Parts(
        x_train=data.x_train,
        y_train=data.y_train,
        n_classes=len(data.classes),
        x={"test": data.x_test},
        y={"test": data.y_test},
        rows={"train": np.arange(n), "test": np.arange(n, n + len(data.y_test))},
    )
    return _hold_out(parts, data, among) if validation else parts


def held_out(data: Dataset, labels: Classes, among: Mask) -> Mask:
    """Mask of the examples held out for validation: a fixed draw per class from those `among`."""
    rng = np.random.default_rng(SPLIT_SEED)
    is_held = np.zeros(len(labels), bool)
    for number in range(len(data.classes)):
        rows = rng.permutation(np.flatnonzero((labels == number) & among))
        is_held[rows[: int(VALIDATION_SIZE * len(rows))]] = True
    if not is_held.any():
        raise InputError(f"{data.name}: too few training rows to hold some out for validation")
    return is_held


def _hold_out(parts: Parts, data: Dataset, among: Mask | None) -> Parts:
    """Move some training rows of each class to "validation"; every class stays in training."""
    everything = np.ones(len(data.y_train), bool)
    is_held = held_out(data, data.y_train, everything if among is None else among)
    return replace(
        parts,
        x_train=data.x_train[~is_held],
        y_train=data.y_train[~is_held],
        x={**parts.x, "validation": data.x_train[is_held]},
        y={**parts.y, "validation": data.y_train[is_held]},
        rows={
            **parts.rows,
            "train": np.flatnonzero(~is_held),
            "validation": np.flatnonzero(is_held),
        },
    )
