"""Digits: 1,797 handwritten digits of 8×8 pixels, the same as scikit-learn's; in the package.

By E. Alpaydin and C. Kaynak, CC BY 4.0 (NOTICE). `benchmarks/pack_digits.py` makes the file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unchurn.core.numpy_files import load_array
from unchurn.datasets.base import Dataset, Source

FILE = Path(__file__).parent / "data" / "digits.npy"  # training rows, then test rows
N_TRAIN, N_TEST, SIDE = 1203, 594, 8


def load(data_dir: Path | None = None) -> Dataset:
    """Load the digits: two thirds for training, pixels scaled from 0 … 16 to [0, 1]."""
    rows = load_array(FILE)
    images = (rows[:, :-1].reshape(-1, SIDE, SIDE) / 16).astype(np.float32)
    labels = rows[:, -1].astype(np.int64)
    return Dataset(
        name="digits",
        x_train=images[:N_TRAIN],
        y_train=labels[:N_TRAIN],
        x_test=images[N_TRAIN:],
        y_test=labels[N_TRAIN:],
        classes=tuple(str(digit) for digit in range(10)),
    )


DIGITS = Source(name="digits", n_train=N_TRAIN, n_test=N_TEST, n_classes=10, load=load)
