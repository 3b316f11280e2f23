"""What is embedded or done here is what scikit-learn has and does."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import unchurn
from unchurn.datasets.base import split


def test_digits_are_scikit_learns_in_its_own_split():
    bunch = load_digits()
    expected = train_test_split(
        bunch.images / 16, bunch.target, test_size=0.33, random_state=0, stratify=bunch.target
    )
    data = unchurn.load("digits")
    for ours, theirs in zip(
        (data.x_train, data.x_test, data.y_train, data.y_test), expected, strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(("n", "test_size"), [(2, 0.25), (10, 0.33), (101, 0.5), (11055, 0.33)])
def test_a_split_is_scikit_learns(n, test_size):
    x, y = np.arange(3 * n).reshape(n, 3), np.arange(n)
    expected = train_test_split(x, y, test_size=test_size, random_state=0)
    for ours, theirs in zip(
        split(x, y, test_size=test_size, stratify=False), expected, strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_too_few_rows_are_refused_as_scikit_learn_does():
    with pytest.raises(ValueError, match="train set will be empty"):
        split(np.zeros((1, 2)), np.zeros(1), test_size=0.25, stratify=False)


@pytest.mark.parametrize("name", ["digits", "phishing"])
def test_what_is_embedded_needs_no_scikit_learn(name):
    code = f"import sys, unchurn; unchurn.load({name!r}); sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
