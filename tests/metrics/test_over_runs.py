import math

import numpy as np
import pytest

from unchurn import churn_summary
from unchurn.metrics.over_runs import (
    Excess,
    accuracy_difference,
    churn_difference,
    churn_over_runs,
    prediction_interval,
    rate_difference,
)


def simulated(rng, n_runs, n, doubt):
    """Runs that agree but for doubtful examples, on which each is right by the toss of a coin."""
    return (rng.random((n_runs, n)) < doubt).astype(int)


def test_the_value_is_the_difference_of_the_summaries(rng):
    truth = rng.integers(0, 3, 300)
    first, second = rng.integers(0, 3, (2, 5, 300))
    one, two = churn_summary(first, truth), churn_summary(second, truth)
    assert churn_difference(first, second).value == pytest.approx(one.churn.mean - two.churn.mean)
    difference = accuracy_difference(first, second, truth)
    assert difference.value == pytest.approx(one.accuracy.mean - two.accuracy.mean)
    assert difference.low < difference.value < difference.high


def test_the_same_runs_differ_by_nothing(rng):
    runs = rng.integers(0, 3, (5, 100))
    difference = churn_difference(runs, runs)
    assert (difference.value, difference.low, difference.high) == (0, 0, 0)


@pytest.mark.parametrize("n_runs", [3, 5])
@pytest.mark.parametrize("n", [50, 101])
def test_an_interval_of_no_width_is_none_where_runs_differ(n_runs, n):
    """One example flips, in other runs of the one setting than of the other."""
    first, second = np.zeros((2, n_runs, n), int)
    for difference in (
        churn_difference(first + 1, second),
        accuracy_difference(first + 1, second + 2, np.zeros(n)),
    ):
        assert (difference.value, math.isnan(difference.low)) == (0, True)
    first[0, 7] = second[1, 7] = 1
    for difference in (
        churn_difference(first, second),
        accuracy_difference(first, second, np.zeros(n)),
        rate_difference(first == 0, second == 0),
    ):
        assert difference.value == pytest.approx(0, abs=1e-15)
        assert math.isnan(difference.low)
        assert math.isnan(difference.high)


def test_two_runs_give_no_interval(rng):
    runs = rng.integers(0, 3, (2, 2, 50))
    assert math.isnan(churn_difference(*runs).low)


def test_intervals_cover(rng):
    """Nominally 95 %; simulated settings of known churn, examples and runs both drawn anew."""
    covered = {"churn": 0, "accuracy": 0}
    n_draws = 300
    for _ in range(n_draws):
        doubt = rng.choice([0, 0.5], 400, p=[0.8, 0.2]), rng.choice([0, 0.5], 400, p=[0.9, 0.1])
        first, second = (simulated(rng, 5, 400, d) for d in doubt)
        churn = churn_difference(first, second)  # a doubtful example differs in half of the pairs
        covered["churn"] += churn.low <= 0.5 * (0.2 - 0.1) <= churn.high
        accuracy = accuracy_difference(first, second, np.zeros(400))
        covered["accuracy"] += accuracy.low <= -0.5 * (0.2 - 0.1) <= accuracy.high
    for count in covered.values():
        assert 0.92 < count / n_draws < 0.995


def test_a_new_retraining_lies_where_the_others_promise(rng):
    """Log-normal churn: the prediction interval holds a new draw 19 times in 20."""
    inside = 0
    for _ in range(1000):
        draws = np.exp(rng.normal(-3, 0.2, 6))
        low, high = prediction_interval(draws[:5], n=10**6)
        inside += low <= draws[5] <= high
    assert 0.925 < inside / 1000 < 0.975
    assert math.isnan(prediction_interval(np.array([0.1]), 100)[0])
    assert prediction_interval(np.array([0.0, 0.01, 0.02]), 100)[0] > 0


def test_the_floor_lies_between_0_and_1(rng):
    moved = rng.random((3, 300)) < 0.02
    floor = churn_over_runs(moved)
    assert 0 < floor.low < floor.value < floor.high < 1
    assert math.isnan(churn_over_runs(moved[:1]).low)
    assert math.isnan(Excess.of(moved[0], moved[:1]).interval().low)
