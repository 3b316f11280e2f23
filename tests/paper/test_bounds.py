"""Expected numbers are from `bc -l` on the paper's formulas, or from another way to the same."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom

from unchurn import InputError
from unchurn.paper.theory import bounds
from unchurn.paper.theory.bounds import Assumptions

LINE = Assumptions(d=1, alpha=1, c_alpha=1, omega=0.5, r_0=1, p_0=1)
PLANE = Assumptions(d=2, alpha=0.5, c_alpha=2, omega=0.25, r_0=0.5, p_0=0.5)

assumptions = st.builds(
    Assumptions,
    d=st.integers(1, 4),
    alpha=st.floats(0.2, 1),
    c_alpha=st.floats(0.1, 10),
    omega=st.floats(0.05, 1),
    r_0=st.floats(0.1, 2),
    p_0=st.floats(0.1, 2),
)
deltas = st.floats(0.001, 0.99)


def test_unit_ball_volumes():
    expected = [2, math.pi, 4 / 3 * math.pi, math.pi**2 / 2, 8 / 15 * math.pi**2]
    assert [bounds.unit_ball_volume(d) for d in range(1, 6)] == pytest.approx(expected)


def test_theorem1_bound():
    assert bounds.theorem1_bound(LINE, 1000, 100, 0.1) == pytest.approx(0.660361482600273)
    assert bounds.theorem1_bound(PLANE, 10_000, 100, 0.05) == pytest.approx(1.63561200160164)


def test_theorem1_range_of_k():
    low, high = bounds.theorem1_k_range(PLANE, 10**6, 0.05)
    assert (low, high) == pytest.approx((135827.255638164717, 49087.3852123405195))


@given(assumptions, st.integers(2, 10**8), deltas)
def test_the_largest_k_is_where_balls_reach_r_0(assumed, n, delta):
    """The proof needs probability 2k/n in a ball within r_0, over which ω is assumed."""
    _, high = bounds.theorem1_k_range(assumed, n, delta)
    ball = math.pi ** (assumed.d / 2) / math.gamma(assumed.d / 2 + 1) * assumed.r_0**assumed.d
    assert assumed.omega * assumed.p_0 * ball == pytest.approx(2 * high / n)


@given(assumptions, st.integers(1, 300), deltas)
def test_the_optimal_k_is_the_best_of_all(assumed, n, delta):
    of_all = [bounds.theorem1_bound(assumed, n, k, delta) for k in range(1, n + 1)]
    assert of_all[bounds.optimal_k(assumed, n, delta) - 1] == pytest.approx(min(of_all))


@pytest.mark.parametrize("assumed", [LINE, PLANE])
def test_at_the_optimal_k_the_bound_falls_as_the_optimal_rate(assumed):
    def at(n):
        return math.log(bounds.theorem1_bound(assumed, n, bounds.optimal_k(assumed, n, 0.1), 0.1))

    many, more = 10**80, 10**100
    exponent = bounds.optimal_exponent(assumed.alpha, assumed.d)
    shrunk = math.log(math.log(more) / more) - math.log(math.log(many) / many)
    assert (at(more) - at(many)) / shrunk == pytest.approx(exponent, rel=1e-3)


def test_optimal_exponents():
    assert bounds.optimal_exponent(1, 1) == pytest.approx(1 / 3)  # Lipschitz on the line
    assert bounds.optimal_exponent(0.5, 3) == pytest.approx(1 / 8)


@given(assumptions, st.integers(2, 10**6), deltas, st.data())
def test_bounds_grow_with_confidence_and_roughness_and_shrink_with_n(assumed, n, delta, data):
    k = data.draw(st.integers(1, n))
    bound = bounds.theorem1_bound(assumed, n, k, delta)
    assert bounds.theorem1_bound(assumed, n, k, delta / 2) > bound
    rougher = Assumptions(**{**vars(assumed), "c_alpha": 2 * assumed.c_alpha})
    assert bounds.theorem1_bound(rougher, n, k, delta) > bound
    more = bounds.theorem1_bound(assumed, 2 * n, k, delta)
    # Only the reach of the neighbours shrinks: the labels' part grows with log n.
    grown = math.sqrt((2 * math.log(4 * assumed.d / delta) + 2 * assumed.d * math.log(2 * n)) / k)
    kept = math.sqrt((2 * math.log(4 * assumed.d / delta) + 2 * assumed.d * math.log(n)) / k)
    ratio = 2 ** (-assumed.alpha / assumed.d)
    assert more - grown == pytest.approx(ratio * (bound - kept), rel=1e-6, abs=1e-9)


def test_theorem2_bound():
    assert bounds.theorem2_bound(10_000, 0.2, 0.1, 2) == pytest.approx(0.453016960397330)


def test_theorem2_takes_beta_in_decimals():
    assert [bounds.theorem2_k(100, beta) for beta in (0.29, 0.57, 0.58, 0.999)] == [29, 57, 58, 99]
    assert math.floor(0.29 * 100) == 28


@example(beta=0.25073, delta=0.5, d=1)
@given(st.floats(0.01, 0.99), deltas, st.integers(1, 3))
def test_theorem2_is_reached_for_large_n_by_bernstein_and_beyond_a_quarter_by_hoeffding(
    beta, delta, d
):
    huge = 10**20  # beyond, the rounding of β·n is no longer small beside its deviation
    assert bounds.theorem2_large_enough(huge, beta, delta, d)
    # By Hoeffding the proof ends in the factor 1 + 1/√β instead of 3.
    if abs(1 + 1 / math.sqrt(beta) - 3) > 1e-6:
        by_hoeffding = bounds.theorem2_large_enough(huge, beta, delta, d, "hoeffding")
        assert by_hoeffding == (1 + 1 / math.sqrt(beta) < 3)
    fewest = math.ceil(1 / beta) + 1
    assert not bounds.theorem2_large_enough(fewest, beta, delta, d)


@pytest.mark.parametrize("inequality", ["hoeffding", "bernstein"])
@pytest.mark.parametrize("beta", [0.02, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("log_sets", [1.0, 3.0, 8.0])
def test_counts_stay_within_the_slack(inequality, beta, log_sets):
    n = 500
    slack = bounds._count_slack(n, beta, log_sets, inequality)
    outside = binom.cdf(n * beta - slack, n, beta) + binom.sf(
        math.ceil(n * beta + slack) - 1, n, beta
    )
    assert outside <= 2 * math.exp(-log_sets)
    assert slack < n * 0.6


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: Assumptions(0, 1, 1, 1, 1, 1), "d must be a whole number of at least 1"),
        (lambda: Assumptions(1, 1.5, 1, 1, 1, 1), "alpha must be above 0 and at most 1, not 1.5"),
        (lambda: Assumptions(1, 1, 1, 0, 1, 1), "omega"),
        (lambda: Assumptions(1, 1, math.nan, 1, 1, 1), "c_alpha"),
        (lambda: Assumptions(1, 1, 1, 1, math.inf, 1), "r_0"),
        (lambda: Assumptions(1, 1, 1, 1, 1, -1), "p_0"),
        (lambda: bounds.theorem1_bound(LINE, 10, 11, 0.1), "k must be from 1 to .* 10, not 11"),
        (lambda: bounds.theorem1_bound(LINE, 10, 0, 0.1), "k must be a whole number"),
        (lambda: bounds.theorem1_bound(LINE, 10, 5, 1), "delta must be between 0 and 1, not 1"),
        (lambda: bounds.theorem1_k_range(LINE, 10, 0), "delta"),
        (lambda: bounds.optimal_k(LINE, 1.5, 0.1), "n must be a whole number"),
        (lambda: bounds.optimal_exponent(0, 1), "alpha"),
        (lambda: bounds.theorem2_k(9, 0.1), "less than one neighbour: take a larger n"),
        (lambda: bounds.theorem2_bound(100, 1, 0.1, 1), "beta must be between 0 and 1"),
        (lambda: bounds.theorem2_large_enough(99, 0.5, 0.1, 1, "chernoff"), "inequality"),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(InputError, match=named):
        call()
