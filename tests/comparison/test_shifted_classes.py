"""Classes that one file counts from 0 and the other from 1 are doubted."""

import numpy as np
import pytest

from unchurn import compare

BASE = np.array([0, 1, 1, 0, 1] * 8)


def test_most_rows_would_agree_if_they_were_counted_alike():
    candidate = BASE + 1
    candidate[0] = 2  # in 39 of 40 rows it is one more than base's
    found = compare(BASE, candidate)
    assert found.warnings == (
        "classes begin with 0 in one model and with 1 in the other: 0.00% of the rows agree, "
        "97.50% would if both were numbered alike",
    )
    verdict = found.gate({"max_churn": 1.0})
    assert verdict.decision == "hold"
    assert [check.name for check in verdict.checks] == ["churn", "numbers"]


@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        (BASE, 1 - BASE),  # turned round: the same classes
        (BASE, np.append(BASE[:-1], 2)),  # one new class
        (BASE[:10], BASE[:10] + 1),  # too few rows
        (BASE, np.ones(40, int)),  # always the same
        (np.where(BASE == 1, "b", "a"), np.where(BASE == 1, "c", "b")),  # names
    ],
)
def test_other_differences_are_what_they_are(base, candidate):
    assert not compare(base, candidate).doubts


def test_numbers_may_be_large_and_any_distance_apart():
    assert compare(BASE * 10**12, (BASE + 1) * 10**12).doubts[0].check == "numbers"
