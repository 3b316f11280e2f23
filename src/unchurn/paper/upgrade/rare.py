"""Rare classes: how much of them a successor finds, beside plain retraining and the base.

Records keep only labels that some model predicted. The other rows are nobody's finds: that leaves
the ratio of two models' finds as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import IntArray
from unchurn.metrics.registry import Runs

RARE = 0.2  # of the rows, at most
FEWEST = 20  # rows of a class: fewer tell nothing


@dataclass(frozen=True, kw_only=True)
class Finds:
    """The rows of the rarest class that a successor and its base get right, of plain's."""

    successor: float
    base: float


def finds(ours: Runs, plain: Runs) -> Finds | None:
    """What runs find of the rarest class; None if no class is rare, or plain training finds none.

    Both have the same labels and bases.
    """
    mask = _rarest(ours.labels)
    if mask is None or plain.base is None:
        return None
    truth = plain.labels[mask]
    own, others, before = (
        float((predictions[:, mask] == truth).mean())
        for predictions in (ours.predictions, plain.predictions, plain.base)
    )
    return None if math.isclose(others, 0) else Finds(successor=own / others, base=before / others)


def _rarest(labels: IntArray) -> npt.NDArray[np.bool_] | None:
    """Mask of the rows of the rarest class."""
    classes, counts = np.unique(labels[labels >= 0], return_counts=True)
    if not len(counts) or not FEWEST <= counts.min() <= RARE * len(labels):
        return None
    return np.asarray(labels == classes[counts.argmin()])
