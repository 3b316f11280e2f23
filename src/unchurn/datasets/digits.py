"""Digits: 1,797 handwritten digits of 8×8 pixels, inside scikit-learn: nothing to fetch."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unchurn.datasets.base import Dataset, Source, split


def load(data_dir: Path | None = None) -> Dataset:
    """Two thirds for training; pixels 0 … 16 scaled to [0, 1]."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    images = (bunch.images / 16).astype(np.float32)
    x_train, x_test, y_train, y_test = split(images, bunch.target, test_size=0.33, stratify=True)
    classes = tuple(str(digit) for digit in range(10))
    return Dataset("digits", x_train, y_train, x_test, y_test, classes)


DIGITS = Source("digits", 1203, 594, 10, load)
