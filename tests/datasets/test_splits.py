"""Splits of our own are scikit-learn's, row by row: every result hangs on them."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from unchurn.datasets.base import SPLIT_SEED, split

LABELS = {
    "two classes": [0, 1] * 50,
    "rare": [0] * 90 + [1] * 7 + [2] * 3,
    "equal rests": [0, 1, 2, 3, 4, 5, 6] * 11,
    "as few as can be": [1, 0, 1, 0],
    "numbers with holes": [7, 3, 3, 7, 7, 9, 9, 3] * 5,
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("test_size", [0.2, 0.25, 0.5, 0.77])
@pytest.mark.parametrize("stratify", [False, True])
def test_rows_are_those_of_scikit_learn(labels, test_size, stratify, rng):
    y = rng.permutation(np.array(labels))
    x = np.arange(len(y))
    kind = y if stratify else None
    try:
        expected = train_test_split(
            x, y, test_size=test_size, random_state=SPLIT_SEED, stratify=kind
        )
    except ValueError as error:  # and what cannot be split is refused in the same words
        with pytest.raises(ValueError, match=str(error)[:40]):
            split(x, y, test_size=test_size, stratify=stratify)
        return
    found = split(x, y, test_size=test_size, stratify=stratify)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
