import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from unchurn import churn_summary
from unchurn.stats import (
    accuracy_difference,
    churn_difference,
    churn_over_runs,
    clustered_difference,
    clustered_proportion,
    excess_over_runs,
    mcnemar,
    paired_difference,
    prediction_interval,
    proportion,
)

RNG = np.random.default_rng(0)


def simulated(n_runs, n, doubt):
    """Runs that agree but for doubtful examples, on which each is right by the toss of a coin."""
    return (RNG.random((n_runs, n)) < doubt).astype(int)


def test_the_value_is_the_difference_of_the_summaries():
    truth = RNG.integers(0, 3, 300)
    first, second = RNG.integers(0, 3, (2, 5, 300))
    one, two = churn_summary(first, truth), churn_summary(second, truth)
    assert churn_difference(first, second).value == pytest.approx(one.churn.mean - two.churn.mean)
    difference = accuracy_difference(first, second, truth)
    assert difference.value == pytest.approx(one.accuracy.mean - two.accuracy.mean)
    assert difference.low < difference.value < difference.high


def test_the_same_runs_differ_by_nothing():
    runs = RNG.integers(0, 3, (5, 100))
    difference = churn_difference(runs, runs)
    assert (difference.value, difference.low, difference.high) == (0, 0, 0)


def test_two_runs_give_no_interval():
    runs = RNG.integers(0, 3, (2, 2, 50))
    assert math.isnan(churn_difference(*runs).low)


def test_intervals_cover():
    """Nominally 95 %; simulated settings of known churn, examples and runs both drawn anew."""
    covered = {"churn": 0, "accuracy": 0}
    n_draws = 300
    for _ in range(n_draws):
        doubt = RNG.choice([0, 0.5], 400, p=[0.8, 0.2]), RNG.choice([0, 0.5], 400, p=[0.9, 0.1])
        first, second = (simulated(5, 400, d) for d in doubt)
        churn = churn_difference(first, second)  # a doubtful example differs in half of the pairs
        covered["churn"] += churn.low <= 0.5 * (0.2 - 0.1) <= churn.high
        accuracy = accuracy_difference(first, second, np.zeros(400))
        covered["accuracy"] += accuracy.low <= -0.5 * (0.2 - 0.1) <= accuracy.high
    for count in covered.values():
        assert 0.92 < count / n_draws < 0.995


def test_rates_are_exact_under_five_events_and_say_so():
    for events, n in ((0, 50), (4, 50), (47, 50), (5, 50)):
        found = proportion(events, n)
        kind = "exact" if min(events, n - events) < 5 else "wilson"
        expected = binomtest(events, n).proportion_ci(method=kind)
        assert (found.low, found.high) == (expected.low, expected.high)
        assert found.note == ("few events" if kind == "exact" else "")


def score_by_search(gained, lost, n, delta):
    """Tango's score of a difference, its likelihood maximised by brute force."""
    q = np.linspace(max(0, -delta), (1 - delta) / 2, 200_001)[1:-1]  # P(lost)
    p = q + delta  # P(gained)
    rest = 1 - p - q
    with np.errstate(divide="ignore", invalid="ignore"):
        likelihood = gained * np.log(p) + lost * np.log(q) + (n - gained - lost) * np.log(rest)
    best = np.nanargmax(likelihood)
    return (gained - lost - n * delta) / np.sqrt(n * (p[best] + q[best] - delta**2))


@pytest.mark.parametrize(("gained", "lost", "n"), [(12, 2, 50), (5, 12, 100), (40, 30, 2000)])
def test_tangos_interval_ends_where_the_score_is_two_standard_errors(gained, lost, n):
    found = paired_difference(gained, lost, n)
    assert score_by_search(gained, lost, n, found.low) == pytest.approx(1.96, abs=2e-3)
    assert score_by_search(gained, lost, n, found.high) == pytest.approx(-1.96, abs=2e-3)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 1000))
def test_paired_differences_are_ordered_and_antisymmetric(gained, lost, rest):
    n = gained + lost + rest
    found = paired_difference(gained, lost, n)
    if n == 0:
        assert math.isnan(found.value)
        return
    assert -1 <= found.low <= found.value <= found.high <= 1
    other = paired_difference(lost, gained, n)
    assert (other.low, other.high) == pytest.approx((-found.high, -found.low), abs=1e-9)


def test_mcnemar_is_the_binomial_test():
    for gained, lost in ((12, 5), (3, 3), (0, 9), (0, 0)):
        exact, mid = mcnemar(gained, lost)
        if gained + lost:
            assert exact == pytest.approx(binomtest(gained, gained + lost).pvalue)
        assert mid <= exact
    assert mcnemar(0, 9)[1] == pytest.approx(0.5**9)  # twice the half of the one outcome there is


def test_clusters_of_one_are_examples_and_equal_rows_widen():
    events = (RNG.random(2000) < 0.1).astype(int)
    alone = clustered_proportion(events, np.ones(2000, int))
    plain = proportion(int(events.sum()), 2000)
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high), abs=2e-3)
    tenfold = clustered_proportion(10 * events, np.full(2000, 10))  # each example ten times
    assert (tenfold.low, tenfold.high) == pytest.approx((alone.low, alone.high))


def test_rare_events_in_clusters_are_bounded_by_the_clusters():
    found = clustered_proportion(np.zeros(30, int), np.full(30, 100))
    assert found.note == "few events"
    assert found.high == pytest.approx(proportion(0, 30).high)
    assert math.isnan(clustered_proportion(np.array([3]), np.array([10])).low)


def test_a_new_retraining_lies_where_the_others_promise():
    """Log-normal churn: the prediction interval holds a new draw 19 times in 20."""
    inside = 0
    for _ in range(1000):
        draws = np.exp(RNG.normal(-3, 0.2, 6))
        low, high = prediction_interval(draws[:5], n=10**6)
        inside += low <= draws[5] <= high
    assert 0.925 < inside / 1000 < 0.975
    assert math.isnan(prediction_interval(np.array([0.1]), 100)[0])
    assert prediction_interval(np.array([0.0, 0.01, 0.02]), 100)[0] > 0


def test_nothing_seen_is_not_certainty():
    nothing = np.zeros(30, int)
    change = clustered_difference(nothing, nothing, np.full(30, 100))
    alone = paired_difference(0, 0, 30)
    assert (change.low, change.high) == pytest.approx((alone.low, alone.high))
    assert change.note == "few events"
    floor = churn_over_runs(np.zeros((3, 200), bool))
    assert floor.high == pytest.approx(proportion(0, 200).high)
    excess = excess_over_runs(np.zeros(200, bool), np.zeros((3, 200), bool))
    assert excess.low < 0 < excess.high
    low, high = prediction_interval(np.array([0.05, 0.05]), 200)  # ten flips twice
    assert low < 0.045 < 0.055 < high


def test_rates_at_other_levels_are_exact():
    found = proportion(12, 200, level=0.9975)
    expected = binomtest(12, 200).proportion_ci(0.9975, "exact")
    assert (found.low, found.high, found.note) == (expected.low, expected.high, "")


def test_few_clusters_that_hold_the_events_widen():
    sizes = np.full(100, 20)
    spread, together = np.zeros(100, int), np.zeros(100, int)
    spread[:60] = 1
    together[:6] = 10
    widths = [one.high - one.low for one in
              (clustered_proportion(events, sizes) for events in (spread, together))]  # fmt: skip
    assert widths[1] > 2.5 * widths[0]


def test_the_floor_lies_between_0_and_1():
    moved = RNG.random((3, 300)) < 0.02
    floor = churn_over_runs(moved)
    assert 0 < floor.low < floor.value < floor.high < 1
    assert math.isnan(churn_over_runs(moved[:1]).low)
    assert math.isnan(excess_over_runs(moved[0], moved[:1]).low)
