import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest, fisher_exact

from unchurn.metrics.intervals import (
    NAN,
    Interval,
    Spread,
    clustered_difference,
    clustered_p_value,
    clustered_proportion,
    level_of_all,
    mcnemar,
    paired_difference,
    proportion,
)
from unchurn.metrics.over_runs import Excess, churn_over_runs, prediction_interval


@pytest.mark.parametrize("level", [0.95, 1 - 0.05 / 800])
def test_rates_are_exact_under_five_events_and_say_so(level):
    for events, n in ((0, 50), (4, 50), (47, 50), (50, 50), (5, 50), (70_000, 750_000)):
        found = proportion(events, n, level)
        few = min(events, n - events) < 5
        kind = "exact" if few or level > 0.95 else "wilson"
        expected = binomtest(events, n).proportion_ci(level, kind)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-11)
        assert found.note == ("few events" if few else "")


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


def test_fewer_than_five_flips_never_prove_a_loss():
    """As McNemar's exact test: four bad flips and no good one have p = 0.125."""
    for n in (4, 5, 7, 20, 1000, 10**6):
        for lost in range(5):
            for gained in range(5 - lost):
                found = paired_difference(gained, lost, n)
                assert found.low <= 0 <= found.high
                assert found.note == "few events"
    found = paired_difference(0, 4, 1000)
    rate = binomtest(4, 1000).proportion_ci(method="exact")
    assert found.low == pytest.approx(-rate.high)  # nothing is gained: as the loss alone
    none = binomtest(0, 1000).proportion_ci(method="exact")
    independent = math.hypot(none.high, 0.004 - rate.low) - 0.004
    assert found.high == pytest.approx(independent, rel=0.01)


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
    assert mcnemar(0, 0) == (1, 1)
    assert mcnemar(0, 9)[1] == pytest.approx(0.5**9)  # twice the half of the one outcome there is


def test_clusters_of_one_are_examples_and_equal_rows_widen(rng):
    events = (rng.random(2000) < 0.1).astype(int)
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


def test_few_clusters_are_said_to_be_few():
    assert clustered_proportion(np.array([70, 75]), np.full(2, 100)).note == "few clusters"


def test_nothing_seen_is_not_certainty():
    nothing = np.zeros(30, int)
    change = clustered_difference(nothing, nothing, np.full(30, 100))
    alone = paired_difference(0, 0, 30)
    assert (change.low, change.high) == pytest.approx((alone.low, alone.high))
    assert change.note == "few events"
    floor = churn_over_runs(np.zeros((3, 200), bool))
    assert floor.high == pytest.approx(proportion(0, 200).high)
    excess = Excess.of(np.zeros(200, bool), np.zeros((3, 200), bool)).interval()
    assert excess.low < 0 < excess.high
    low, high = prediction_interval(np.array([0.05, 0.05]), 200)  # ten flips twice
    assert low < 0.045 < 0.055 < high


def test_rates_at_other_levels_are_exact():
    found = proportion(12, 200, level=0.9975)
    expected = binomtest(12, 200).proportion_ci(0.9975, "exact")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-11)
    assert found.note == ""


def test_few_clusters_that_hold_the_events_widen():
    sizes = np.full(100, 20)
    spread, together = np.zeros(100, int), np.zeros(100, int)
    spread[:60] = 1
    together[:6] = 10
    widths = [one.high - one.low for one in
              (clustered_proportion(events, sizes) for events in (spread, together))]  # fmt: skip
    assert widths[1] > 2.5 * widths[0]


def test_groups_of_clusters_differ_only_beyond_chance(rng):
    sizes = np.full(80, 20)
    events = rng.binomial(sizes, np.repeat([0.4, 0.1], 40))

    def p_value(*inside):
        one, other = (np.isin(np.arange(80), list(part)) for part in inside)
        return clustered_p_value(events * one, sizes * one, events * other, sizes * other)

    assert p_value(range(40), range(40, 80)) < 1e-6
    assert p_value(range(20), range(20, 40)) > 0.01
    assert p_value(range(1), range(40, 80)) == 1  # one cluster tells nothing
    assert p_value(range(2), range(40, 80)) > 1e-3  # nor do two tell much
    events[:3] = 0  # too few for Student's t: by clusters, Fisher's
    wanted = fisher_exact([[0, 3], [np.count_nonzero(events[40:]), (events[40:] == 0).sum()]])
    assert p_value(range(3), range(40, 80)) == pytest.approx(wanted.pvalue)


def test_an_interval_at_another_level_is_students():
    """As many degrees of freedom as it has; known ends stay inside, unknown ones unknown."""
    found = Spread(variance=0.0004, freedom=3.5, units=100).around(0.01)
    for level in (0.9, 0.95, 0.99, 0.999):
        low, high = stats.t.interval(level, 3.5, 0.01, 0.02)
        assert (found.at(level).low, found.at(level).high) == pytest.approx((low, high))
    assert found.at(1 - 1e-12).high == 1
    normal = Interval(0.0, -0.1, 0.1).at(0.99)
    assert normal.high == pytest.approx(0.1 * stats.norm.ppf(0.995) / stats.norm.ppf(0.975))
    assert math.isnan(Interval(0.1, NAN, NAN).at(0.99).low)


def test_the_level_of_several_is_benjamini_and_hochbergs(rng):
    """The same are told as by SciPy's adjusted p-values, those below zero, at a fortieth."""
    told = 0
    for _ in range(60):
        values = rng.normal(-0.02, 0.03, int(rng.integers(1, 13)))
        found = [Spread(variance=0.0002, freedom=6.0, units=100).around(one) for one in values]
        p_values = stats.t.cdf(values / math.sqrt(0.0002), 6)
        expected = stats.false_discovery_control(p_values) <= 0.025
        level = level_of_all(found)
        assert [one.at(level).high < 0 for one in found] == expected.tolist()
        told += expected.sum()
    assert told > 30
    assert level_of_all([Interval(0.1, 0.0, 0.2)]) == level_of_all([]) == 0.95
