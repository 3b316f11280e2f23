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
    return Dataset(
        name="digits",
        x_train=x_train,
        y_train=y_train,
        x_test=x_test,
        y_test=y_test,
        classes=tuple(str(digit) for digit in range(10)),
    )


DIGITS = Source(name="digits", n_train=1203, n_test=594, n_classes=10, load=load)
