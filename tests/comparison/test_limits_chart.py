"""A verdict's chart: every limit on a number, what stands in the way first."""

import numpy as np
import pytest

from unchurn import compare
from unchurn.comparison.report.limits_chart import N_LIMITS, limits_chart

N = 2000
BASE = np.zeros(N, int)


def verdict(limits, n_slices=2, flips=100):
    """Base is right everywhere; the candidate flips the first so many."""
    parts = np.arange(N) // (N // n_slices)
    candidate = (np.arange(N) < flips).astype(int)
    return compare(BASE, candidate, labels=BASE, slices={"part": parts}).gate(limits)


def rows(found):
    spec = limits_chart(found.banner())["spec"]
    (found,) = spec["datasets"].values()
    return found


def test_rows_are_what_was_measured_and_what_stands_in_the_way_comes_first():
    found = verdict({"max_churn": 0.5, "max_bad_flips": 0.01, "max_slice_churn": 0.1})
    shown = {row["check"]: row for row in rows(found)}
    assert list(shown) == [
        "bad_flips", "slice_churn of part=0", "churn", "slice_churn of part=1",
    ]  # fmt: skip
    for check in found.checks:
        row = shown[check.name]
        assert row["decision"] == check.decision
        ends = [100 * end for end in (check.found.value, check.found.low, check.found.high)]
        assert [row["value"], row["low"], row["high"]] == pytest.approx(ends, abs=1e-3)
    assert shown["bad_flips"]["limit"] == 1
    assert shown["slice_churn of part=0"]["name"] == "part=0: churn"


def test_what_is_no_number_is_not_drawn():
    found = compare(BASE, BASE, labels=BASE).gate({"must_not_flip": ["0", "1"]})
    assert limits_chart(found.banner()) is None


def test_of_many_the_first_are_drawn():
    found = verdict({"max_slice_churn": 0.5}, n_slices=40)
    assert len(rows(found)) == N_LIMITS
    assert "20 of 40" in limits_chart(found.banner())["caption"]
