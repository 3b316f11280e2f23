import numpy as np
import pytest

from unchurn import InputError
from unchurn.gate.sample_size import Noise, excess_power, least_excess, plan_excess, plan_loss
from unchurn.metrics.intervals import paired_difference
from unchurn.metrics.over_runs import prediction_interval

DRAWS = 600
ERROR = 3 * (0.8 * 0.2 / DRAWS) ** 0.5  # Monte Carlo


def test_a_planned_loss_is_seen_as_often_as_promised(rng):
    plan = plan_loss(0.01, churn=0.05, power=0.8)
    counts = rng.multinomial(plan.to_see, [0.02, 0.03, 0.95], DRAWS)
    seen = np.mean([paired_difference(g, b, plan.to_see).high < 0 for g, b, _ in counts])
    assert seen == pytest.approx(0.8, abs=ERROR)


def test_a_planned_limit_is_kept_as_often_as_promised(rng):
    plan = plan_loss(0.01, churn=0.05, power=0.8)
    counts = rng.multinomial(plan.to_rule_out, [0.025, 0.025, 0.95], DRAWS)
    inside = [paired_difference(g, b, plan.to_rule_out).low >= -0.01 for g, b, _ in counts]
    assert np.mean(inside) == pytest.approx(0.8, abs=ERROR)


@pytest.mark.parametrize("retrains", [3, 10])
def test_a_planned_excess_is_seen_as_often_as_promised(retrains, rng):
    noise = Noise(0.05, 0.002)
    (size,) = plan_excess(0.02, noise, retrains=[retrains]).sizes
    own = np.exp(rng.normal(0, 0.04, (DRAWS, retrains + 1)))
    own[:, 0] *= 0.07 / 0.05
    found = rng.binomial(size.rows, 0.05 * own) / size.rows
    seen = np.mean([one[0] > prediction_interval(one[1:], size.rows)[1] for one in found])
    assert seen == pytest.approx(0.8, abs=ERROR)


def test_rows_and_retrainings_trade_off():
    sizes = plan_excess(0.01, Noise(0.05, 0.001)).sizes
    assert [size.retrains for size in sizes] == [2, 3, 5, 10]
    assert sizes[0].rows is None
    assert sizes[1].rows > sizes[2].rows > sizes[3].rows
    for size in sizes[1:]:
        before, at = (excess_power(0.01, Noise(0.05, 0.001), size.rows - less, size.retrains)
                      for less in (1, 0))  # fmt: skip
        assert before < 0.8 <= at


def test_what_no_rows_can_show():
    noise = Noise(0.03, 0.003)
    least = least_excess(noise, 5)
    assert plan_excess(0.99 * least, noise, retrains=[5]).sizes[0].rows is None
    assert plan_excess(1.01 * least, noise, retrains=[5]).sizes[0].rows is not None
    assert least_excess(Noise(0.5, 0.3), 2) is None


def test_the_noise_of_retrainings_is_measured(rng):
    """Half of the examples never flip, the others by chance; runs differ by 20 % of their churn."""
    rates = 0.1 * np.exp(rng.normal(0, 0.2, (40, 1)))
    moved = rng.random((40, 4000)) < rates * np.repeat([0, 2], 2000)
    noise = Noise.of(moved)
    assert noise.churn == pytest.approx(rates.mean(), rel=0.03)
    assert noise.sd == pytest.approx(rates.std(ddof=1), rel=0.2)
    assert noise.doubt == pytest.approx(0.5 * 0.2 * 0.8 / (0.1 * 0.9), rel=0.05)
    same = np.tile(rng.random(100) < 0.2, (3, 1))
    assert (Noise.of(same).sd, Noise.of(same).doubt) == pytest.approx((0, 0), abs=1e-9)
    assert 0.001 < Noise.of(same).sd_limit < 0.01


def test_of_several_bases_the_variances_are_means():
    """Counts of two bases' flips on 10 rows: churns .1, .3 and .5, .5, so variances .02 and 0."""
    one, two = (np.arange(10) < np.array([[first], [second]]) for first, second in ((1, 3), (5, 5)))
    noise = Noise.of(one, two)
    assert noise.churn == pytest.approx(0.35)
    by_chance = (2 * 0.5 / 10 + 0) / 2  # in two rows of one, and in none of the other
    assert noise.sd == pytest.approx((0.01 - by_chance / 10) ** 0.5)


def test_the_sd_of_few_retrainings_is_planned_with_caution(rng):
    """Of three runs on 2,000 rows it is often 0; the limit is above the true one 4 times in 5."""
    true, zero, above = 0.0015, 0, 0
    for _ in range(DRAWS):
        rates = 0.03 + rng.normal(0, true, (3, 1))
        noise = Noise.of(rng.random((3, 2000)) < rates)
        zero += noise.sd == 0
        above += noise.sd_limit >= true
        assert noise.planned_sd == noise.sd_limit >= noise.sd
    assert zero / DRAWS > 0.3
    assert above / DRAWS == pytest.approx(0.8, abs=ERROR)
    assert Noise(0.03, 0.002).planned_sd == 0.002  # as given


def test_a_plan_from_few_retrainings_needs_more_rows(rng):
    rates = 0.05 * np.exp(rng.normal(0, 0.05, (4, 1)))
    noise = Noise.of(rng.random((4, 20_000)) < rates)
    taken = Noise(noise.churn, noise.sd, noise.doubt)
    careful, careless = (plan_excess(0.03, one, retrains=[10]).sizes[0] for one in (noise, taken))
    assert careful.rows is None or careful.rows > careless.rows


def test_few_retrainings_may_differ_more_than_any_true_share_can():
    opposite = Noise.of(np.array([[True] * 4, [False] * 4]))
    assert opposite.sd > 0.5  # of a share whose mean is a half
    assert [size.rows for size in plan_excess(0.1, opposite).sizes] == [None] * 4
    with pytest.raises(InputError, match=r"must be between 0 and 0\.5, not 0\.6"):
        plan_excess(0.1, Noise(0.5, 0.6))
    assert plan_excess(0.0005, Noise.assumed(0.999)).sizes  # no sd was given that could be wrong


@pytest.mark.parametrize(("call", "words"), [
    (lambda: plan_loss(0.05, churn=0.03), "more than the churn"),
    (lambda: plan_loss(1e-170), "from 1e-06 to 1"),
    (lambda: plan_loss(0.01, churn=0), "between 0 and 1"),
    (lambda: plan_loss(0.01, power=1), "power"),
    (lambda: plan_excess(-0.1), "from 1e-06 to 1"),
    (lambda: plan_excess(0.98), "more than all"),
    (lambda: plan_excess(0.1, Noise(0.03, sd=-1)), "between 0 and 0.17, not -1"),
    (lambda: plan_excess(0.1, Noise(0.03, sd=5)), "between 0 and 0.17, not 5"),
    (lambda: plan_excess(0.1, retrains=[1]), "at least 2"),
    (lambda: Noise.of(np.zeros((3, 10), bool)), "agree everywhere"),
    (lambda: Noise.of(np.ones((1, 10), bool)), "three retrainings"),
])  # fmt: skip
def test_errors_name_the_problem(call, words):
    with pytest.raises(InputError, match=words):
        call()
