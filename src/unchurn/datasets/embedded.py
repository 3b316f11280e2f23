"""The phishing data in the package: a row of 31 values, 2 bits each, in a 64-bit number.

`benchmarks/pack_phishing.py` makes the file from the publisher's ARFF. It is not compressed, so its
bytes do not depend on a library's version; a wheel compresses it anyway.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unchurn.core.arrays import Array
from unchurn.core.files import atomic_write
from unchurn.core.numpy_files import load_array, save_array

PHISHING_FILE = Path(__file__).parent / "data" / "phishing.npy"
BITS = 2  # 0, 1, 2 stand for −1, 0, 1


def unpack(n_columns: int) -> Array:
    """The values −1, 0, 1 as in the ARFF file, (n, n_columns)."""
    rows = load_array(PHISHING_FILE)
    return ((rows[:, None] >> _places(n_columns)) & 3).astype(np.int64) - 1


def pack(values: Array, path: Path = PHISHING_FILE) -> None:
    """Write values −1, 0, 1 of at most 32 columns, one number per row, first column lowest."""
    rows = ((values + 1).astype("<u8") << _places(values.shape[1])).sum(axis=1, dtype="<u8")
    with atomic_write(path) as temporary:
        save_array(temporary, rows)


def _places(n_columns: int) -> Array:
    return BITS * np.arange(n_columns, dtype="<u8")
