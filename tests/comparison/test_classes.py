"""Classes are numbered in order, without gaps, in as few bytes as they need."""

from collections import Counter

import numpy as np
import polars as pl
import pytest

from unchurn import compare
from unchurn.comparison.inputs.classes import UNLABELLED, Coded, count, cross, in_order, number
from unchurn.core.errors import InputError


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
    values, (base, candidate) = number([pl.Series(column) for column in columns])
    named = tuple(str(value) for value in values)
    coded = Coded(classes=named, base=base, candidate=candidate, labels=base).without_unused()
    assert list(coded.classes) == classes
    for column, codes in zip(columns, (coded.base, coded.candidate), strict=True):
        assert codes.dtype == np.int8
        shown = [None if code == UNLABELLED else coded.classes[code] for code in codes]
        assert shown == [None if value is None else str(value) for value in column]
    np.testing.assert_array_equal(coded.labels, coded.base)


def test_one_class_against_the_rest():
    coded = Coded(classes=("a", "b", "c"), base=np.array([0, 1, 2]), candidate=np.array([1, 1, 0]),
                  labels=np.array([UNLABELLED, 1, 0]))  # fmt: skip
    found = coded.against_rest("b", "not b")
    assert found.classes == ("not b", "b")
    assert (found.base.tolist(), found.candidate.tolist()) == ([0, 1, 0], [1, 1, 0])
    assert found.labels.tolist() == [UNLABELLED, 1, 0]


@pytest.mark.parametrize("n", [1000, 200_000])  # one block of rows, and several
def test_counts_are_those_of_a_loop(rng, n):
    rows, columns = rng.integers(-1, 4, n), rng.integers(0, 3, n)
    pairs = Counter(zip(rows.tolist(), columns.tolist(), strict=True))
    table = [[pairs[row, column] for column in range(3)] for row in range(4)]
    assert cross(rows, columns, (4, 3)).tolist() == table
    assert count(rows, 4).tolist() == [sum(row) for row in table]


def test_numbers_in_another_order_have_gaps_where_there_is_no_row(rng):
    numbers, rows = np.array([5, 6, 7], np.int8), rng.integers(-1, 3, 100_000)
    expected = [[5, 6, 7, UNLABELLED][row] for row in rows]
    np.testing.assert_array_equal(in_order(numbers, rows), expected)
    assert in_order(numbers, None) is numbers


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
def test_millions_are_as_a_few(rng, step):
    """Several blocks of rows, in another order, against counting by hand."""
    n = 200_000
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


def test_booleans_are_0_and_1_beside_these_alone_and_go_by_bases_names(tmp_path):
    said, other, truth = [0, 1, 1, 0], [False, True, False, False], [0, 1, 1, 1]
    for base, candidate in ((said, other), (other, said)):
        found = compare(np.array(base), np.array(candidate), np.array(truth))
        assert found.estimates["churn"].value == 0.25
        assert found.paired.classes == (("0", "1") if base is said else ("false", "true"))
        assert found.estimates["accuracy_base"].value == (0.75 if base is said else 0.5)
    pl.DataFrame({"prediction": said, "label": truth}).write_csv(tmp_path / "b.csv")
    pl.DataFrame({"prediction": other, "label": [t == 1 for t in truth]}).write_csv(
        tmp_path / "c.csv"
    )
    assert compare(tmp_path / "b.csv", tmp_path / "c.csv").estimates["churn"].value == 0.25
    with pytest.raises(InputError, match="no class in common"):
        compare([0, 1, 2, 2], np.array(other))


@pytest.mark.parametrize(
    ("base", "candidate", "message"),
    [
        ([True, False], ["yes", "no"], "base and candidate have no class in common: false, true "),
        (
            ["A", "B"],
            ["a", "b"],
            "They differ in case, spaces, hyphens or form of letters, as 'A' and 'a': write",
        ),
        (["Not ok", "Not ok"], ["not_ok", "not_ok"], "as 'Not ok' and 'not_ok'"),
        ([0, 1], [2, 3], "no class in common: 0, 1 and 2, 3"),
    ],
)
def test_models_without_a_class_in_common_are_refused(base, candidate, message):
    with pytest.raises(InputError) as error:
        compare(base, candidate)
    assert message in str(error.value)


def test_models_of_one_task_may_differ_in_every_row():
    assert compare(["a", "a"], ["b", "b"]).estimates["churn"].value == 1
    assert compare([0, 1], [2, 2]).estimates["churn"].value == 1
    assert compare([0, 1], [2, 3], labels=[1, 2]).estimates["churn"].value == 1
    before = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1]])
    assert compare(before, before[:, ::-1]).estimates["churn"].value == 1


def test_a_column_that_is_no_prediction_is_named():
    """A file without a prediction, whose only other column is taken for it."""
    base = pl.DataFrame({"id": [1, 2], "prediction": ["cat", "dog"], "label": ["cat", "dog"]})
    other = pl.DataFrame({"id": [1, 2], "seg": ["a", "b"], "label": ["cat", "dog"]})
    with pytest.raises(InputError, match="from columns 'prediction' and 'seg': name others with"):
        compare(base, other)
