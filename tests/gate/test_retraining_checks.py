"""Limits beyond one more retraining: churn, and accuracy lost."""

import re

import numpy as np
import polars as pl
import pytest
from scipy.stats import t

from unchurn import compare
from unchurn.core.errors import InputError

N = 4000
TRUTH = np.zeros(N, int)


def wrong(*n_wrong):
    """Models that err on so many examples, each on others as far as there are."""
    return [np.roll((np.arange(N) < k).astype(int), 300 * i) for i, k in enumerate(n_wrong)]


def test_two_retrainings_shield_nothing():
    """40 % churn over a floor of 5 % was held: "one more may churn 0.06 % to 100 %"."""
    candidate, *others = wrong(1600, 190, 210, 200)
    policy = {"max_excess_churn": 0.01}
    two = compare(TRUTH, candidate, retrains=others[:2])
    assert two.floor.is_another_retraining is None
    (check,) = two.gate(policy).checks
    assert check.decision == "reject"
    assert "2 retrainings do not tell what one more may do" in check.reason
    three = compare(TRUTH, candidate, retrains=others)
    assert three.floor.is_another_retraining is False
    assert three.gate(policy).decision == "reject"


def test_accuracies_of_retrainings_are_shown_and_one_more_is_predicted():
    base, candidate, *others = wrong(40, 130, 100, 120, 90, 110)
    found = compare(base, candidate, TRUTH, retrains=others)
    accuracy = found.floor.accuracy
    each = [1 - k / N for k in (100, 120, 90, 110)]
    assert accuracy.each == tuple(each)
    assert (accuracy.base, accuracy.candidate, accuracy.n) == (0.99, 1 - 130 / N, N)
    assert accuracy.lost.value == pytest.approx(np.mean(each) - (1 - 130 / N))
    sd = np.sqrt(np.var(each, ddof=1) + 1 / 12 / N**2)
    half = t.ppf(0.975, 3) * sd * np.sqrt(5 / 4)
    assert accuracy.expected == pytest.approx((np.mean(each) - half, np.mean(each) + half))
    assert accuracy.is_another_retraining
    assert (
        "Retrainings' accuracies are 97.00% to 97.75%, base's is 99.00%, the candidate's"
        in repr(found)
    )


def test_a_lucky_base_does_not_make_a_retraining_a_loss():
    """Base is two points above all retrainings: the candidate is one of them."""
    base, candidate, *others = wrong(40, 115, 100, 120, 90, 110)
    found = compare(base, candidate, TRUTH, retrains=others)
    (check,) = found.gate({"max_accuracy_loss": 0.01}).checks
    assert check.decision == "reject"
    assert "max_excess_loss takes that into account" in check.reason
    assert found.gate({"max_excess_loss": 0.01}).decision == "promote"
    (check,) = found.gate({"max_excess_loss": -0.01}).checks
    assert check.decision == "hold"
    assert "one more retraining may have an accuracy of" in check.reason
    assert found.gate({"max_excess_loss": {"limit": -0.01, "burden": "prove-harm"}}).exit_code == 0


def test_what_no_retraining_loses_is_rejected():
    base, candidate, *others = wrong(100, 600, 100, 120, 90, 110)
    (check,) = (
        compare(base, candidate, TRUTH, retrains=others).gate({"max_excess_loss": 0.01}).checks
    )
    assert check.decision == "reject"


def test_only_labelled_examples_and_own_numbers_of_classes_count(rng):
    """A retraining that knows a class more numbers its classes otherwise."""
    truth = rng.choice(["b", "c", "d"], 300)
    base, candidate, other = (
        pl.DataFrame({"id": range(300), "prediction": np.where(rng.random(300) < 0.1, new, truth)})
        for new in ("b", "c", "a")
    )
    labels = pl.DataFrame({"id": range(300), "label": truth})[100:]
    found = compare(base, candidate, labels, retrains=[other[50:].reverse()], labels_cover="all")
    expected = (other["prediction"].to_numpy() == truth)[100:].mean()
    assert (found.floor.accuracy.n, found.floor.accuracy.each) == (200, (expected,))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "max_excess_loss needs true labels, and there are none"),
        ({"labels": TRUTH}, "max_excess_loss needs other retrainings of base"),
        ({"labels": TRUTH, "retrains": wrong(5)}, "at least two retrainings"),
        ({"labels_cover": "flips", "labels": TRUTH, "retrains": wrong(5, 9)}, "not of the flips"),
    ],
)
def test_a_limit_that_cannot_be_checked_fails_closed(data, message):
    with pytest.raises(InputError, match=message):
        compare(TRUTH, *wrong(20), **data).gate({"max_excess_loss": 0.01})


def test_a_hold_says_how_many_more_of_what_would_end_it(rng):
    candidate, *others = ((rng.random(N) < rate).astype(int) for rate in (0.055, *[0.05] * 5))
    found = compare(TRUTH, candidate, TRUTH, retrains=others)
    for name in ("max_excess_churn", "max_excess_loss"):
        limit = found.floor.excess.value + 0.006
        (check,) = found.gate({name: limit}).checks
        assert check.decision == "hold"
        said = re.search(r"about ([\d,]+) more examples .*like these would promote", check.reason)
        times = 1 + 1.1 * int(said[1].replace(",", "")) / N
        assert found.floor.beyond.interval(examples=times).high <= limit
        assert found.floor.beyond.interval(examples=1 + 0.8 * (times - 1)).high > limit
    same = [TRUTH[:200]] * 2
    few = compare(TRUTH[:200], TRUTH[:200], retrains=same).gate({"max_excess_churn": 0.001})
    assert "even without a flip it would take 3,688, and there are 200" in few.checks[0].reason
    users = compare(TRUTH[:200], TRUTH[:200], retrains=same, cluster=np.arange(200) // 5)
    (check,) = users.gate({"max_excess_churn": 0.05}).checks
    assert "so few clusters: even without a flip it would take 72, and there are 40" in check.reason
    one = compare(TRUTH[:200], TRUTH[:200], retrains=same, cluster=TRUTH[:200])
    with pytest.raises(InputError, match="max_excess_churn has no interval: a single cluster"):
        one.gate({"max_excess_churn": 0.05})


def test_a_shield_says_how_many_retrainings_would_lift_it():
    candidate, *others = wrong(150, 100, 120, 80, 110)
    (check,) = compare(TRUTH, candidate, retrains=others).gate({"max_excess_churn": 0}).checks
    assert check.decision == "hold"
    assert re.search(r"about \d+ more retrainings like these would reject", check.reason)
    candidate, *others = wrong(111, 70, 120, 80, 110)
    (check,) = compare(TRUTH, candidate, retrains=others).gate({"max_excess_churn": -0.02}).checks
    assert "no number of retrainings like these would tell it from one more" in check.reason
