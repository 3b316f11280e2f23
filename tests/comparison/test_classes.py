"""Classes are numbered in order, without gaps, in as few bytes as they need."""

import numpy as np
import polars as pl
import pytest

from unchurn import compare
from unchurn.comparison.inputs.classes import UNLABELLED, number, without_unused


@pytest.mark.parametrize(
    ("columns", "classes"),
    [
        ([[3, 1, 3], [1, None, 7]], ["1", "3", "7"]),
        ([[-5, 10**12, -5], [0, None, -5]], ["-5", "0", "1000000000000"]),
        ([["b", None, "a"], ["c", "a", "b"]], ["a", "b", "c"]),
        ([["1", "x", None], [1, 10, 2]], ["1", "10", "2", "x"]),
    ],
)
def test_numbers_name_the_classes(columns, classes):
    found, numbers = without_unused(*number([pl.Series(column) for column in columns]))
    assert [str(c) for c in found] == classes
    for column, codes in zip(columns, numbers, strict=True):
        assert codes.dtype == np.int8
        named = [None if code == UNLABELLED else found[int(code)] for code in codes]
        assert [str(n) for n in named] == [str(c) for c in column]


def test_many_classes_take_more_bytes():
    codes = number([pl.int_range(300, eager=True)])[1][0]
    assert codes.dtype == np.int16
    np.testing.assert_array_equal(codes, np.arange(300))


def test_a_class_of_rows_left_out_is_no_class():
    base = pl.DataFrame({"id": [1, 2, 3], "prediction": [0, 1, 9]})
    found = compare(base, pl.DataFrame({"id": [2, 1], "prediction": [1, 1]}))
    assert found.paired.classes == ("0", "1")
    np.testing.assert_array_equal(found.paired.candidate, [1, 1])


@pytest.mark.parametrize("step", [1, 10**9])
def test_millions_are_as_a_few(step):
    """Several blocks of rows, in another order, against counting by hand."""
    rng, n = np.random.default_rng(0), 200_000
    ids, order = np.arange(n) * step, rng.permutation(n)
    y, a, b = rng.integers(0, 5, (3, n))
    base = pl.DataFrame({"id": ids, "prediction": a, "label": y, "third": np.arange(n) % 3})
    candidate = pl.DataFrame({"id": ids, "prediction": b})[order]
    found = compare(base, candidate, slices=["third"]).to_dict()
    assert found["churn"]["value"] == np.mean(a != b)
    assert found["bad_flips"]["value"] == np.mean((a == y) & (b != y))
    assert found["good_flips"]["value"] == np.mean((a != y) & (b == y))
    assert found["wrong_to_wrong"]["value"] == np.mean((a != b) & (a != y) & (b != y))
    assert found["churn_incorrect"]["value"] == np.mean((a != b)[a != y])
    for row in found["classes"]:
        c = int(row["class"])
        assert row["flips_to"] == np.sum((a != b) & (b == c))
        assert row["bad_flips"] == np.sum((a == y) & (b != y) & (y == c))
    for one in found["slices"]:
        inside = np.arange(n) % 3 == int(one["value"])
        assert one["churn"]["value"] == np.mean((a != b)[inside])
        assert one["rest"] == np.mean((a != b)[~inside])
