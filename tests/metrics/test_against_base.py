"""Counted by hand: two runs of one base, one of another, five examples."""

import math

import numpy as np
import pytest

from unchurn.metrics.over_runs import accuracy_difference, rate_difference
from unchurn.metrics.registry import AGAINST_BASE, Runs
from unchurn.study.scenarios import Upgrade

RUNS = Runs(
    labels=np.array([0, 1, 2, 0, 1]),
    base=np.array([[0, 1, 2, 1, 2], [0, 1, 2, 1, 2], [0, 0, 0, 0, 1]]),
    predictions=np.array([[0, 1, 0, 0, 2], [0, 0, 0, 0, 1], [0, 1, 2, 0, 1]]),
)
EXPECTED = {
    "accuracy": [3 / 5, 3 / 5, 1],
    "bad_flips": [1 / 5, 2 / 5, 0],
    "churn_to_base": [2 / 5, 4 / 5, 2 / 5],
    "good_flips": [1 / 5, 2 / 5, 2 / 5],
    "flip_index": [1 / 2, 2 / 2],  # the third run has nothing wrong
    "churn_among": [2 / 5],  # of the first two alone
    "accuracy_base": [3 / 5, 3 / 5, 3 / 5],
}


@pytest.mark.parametrize("name", AGAINST_BASE)
def test_metrics_against_a_base(name):
    found = AGAINST_BASE[name].of(RUNS)
    assert found.count == len(EXPECTED[name])
    assert found.mean == pytest.approx(np.mean(EXPECTED[name]))
    if found.count > 1:
        assert found.sd == pytest.approx(np.std(EXPECTED[name], ddof=1))


def test_runs_that_share_no_base_have_no_churn_among_them():
    apart = Runs(labels=RUNS.labels, base=RUNS.base[1:], predictions=RUNS.predictions[1:])
    assert math.isnan(AGAINST_BASE["churn_among"].of(apart).mean)


def test_runs_of_one_group_count_as_one(rng):
    """Twice the same runs say no more than once: groups keep the interval, runs would not."""
    first, second = rng.random((2, 4, 300)) < np.array([[[0.3]], [[0.2]]])
    once = rate_difference(first, second)
    doubled = [np.repeat(mask, 2, axis=0) for mask in (first, second)]
    grouped = rate_difference(*doubled, np.repeat(np.arange(4), 2))
    assert (grouped.low, grouped.high) == pytest.approx((once.low, once.high))
    ignored = rate_difference(*doubled)
    assert ignored.high - ignored.low < once.high - once.low
    one_base = rate_difference(first, second, np.zeros(4, int))  # then over runs
    assert (one_base.low, one_base.high) == (once.low, once.high)


def test_two_settings_without_a_bad_flip_are_not_known_to_be_equal(rng):
    """None was seen of either: that is no interval of no width, unless all is the same."""
    labels, base = np.zeros(50, int), np.ones((3, 50), int)
    ours = Runs(labels=labels, base=base, predictions=rng.integers(0, 2, (3, 50)))
    theirs = Runs(labels=labels, base=base, predictions=1 - ours.predictions)
    found = Upgrade().differences(ours, theirs)["bad_flips"]
    assert (found.value, math.isnan(found.low), math.isnan(found.high)) == (0, True, True)
    same = Upgrade().differences(ours, ours)["bad_flips"]
    assert (same.value, same.low, same.high) == (0, 0, 0)


def test_accuracy_is_such_a_rate(rng):
    labels = rng.integers(0, 3, 100)
    first, second = rng.integers(0, 3, (2, 3, 100))
    assert accuracy_difference(first, second, labels) == rate_difference(
        first == labels, second == labels
    )
