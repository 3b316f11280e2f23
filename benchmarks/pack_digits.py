"""Write the digits that the package embeds: scikit-learn's, split by its own shuffle.

    python benchmarks/pack_digits.py

They are embedded because importing scikit-learn takes longer than a small study of them.
"""

import numpy as np
from sklearn.datasets import load_digits

from unchurn.core.files import atomic_write
from unchurn.core.numpy_files import save_array
from unchurn.datasets.base import split
from unchurn.datasets.digits import FILE, N_TRAIN


def main() -> None:
    """Write all training rows, then all test rows: 64 pixels from 0 to 16, and the digit."""
    bunch = load_digits()
    rows = np.column_stack([bunch.data, bunch.target]).astype(np.uint8)
    train, test, _, _ = split(rows, bunch.target, test_size=0.33, stratify=True)
    if len(train) != N_TRAIN:
        raise SystemExit(f"{len(train)} training rows instead of {N_TRAIN}")
    with atomic_write(FILE) as temporary:
        save_array(temporary, np.concatenate([train, test]))
    print(f"wrote {FILE}")


if __name__ == "__main__":
    main()
