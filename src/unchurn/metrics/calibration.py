"""Calibration error and log loss of probabilities."""

from __future__ import annotations

import numpy as np

from unchurn.core.arrays import Array

BINS = 15


def calibration_error(probabilities: Array, labels: Array) -> float:
    """Expected calibration error: the mean |accuracy − confidence| of bins, weighted by their size.

    >>> calibration_error(np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([0, 1]))
    0.4
    """
    confidence = probabilities.max(axis=1).astype(np.float64)
    right = probabilities.argmax(axis=1) == labels
    # Bin b holds what is above b/BINS, up to and including (b + 1)/BINS, as Guo et al. (2017) do.
    which = np.clip(np.ceil(confidence * BINS).astype(int) - 1, 0, BINS - 1)
    gaps = np.bincount(which, right - confidence, minlength=BINS)
    return float(np.abs(gaps).sum() / len(labels))


def log_loss(probabilities: Array, labels: Array) -> float:
    """Mean −log of the label's probability, which counts as at least 1e-7."""
    own = probabilities[np.arange(len(labels)), labels].astype(np.float64)
    return float(-np.log(own.clip(min=1e-7)).mean())
