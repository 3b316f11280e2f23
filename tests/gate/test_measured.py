"""What would end a hold: more examples, or none."""

import re

import numpy as np
import pytest

from unchurn import compare
from unchurn.gate.measured import least_units
from unchurn.metrics.intervals import paired_difference, proportion


def compared(n_flips, n, **data):
    return compare(np.zeros(n, int), (np.arange(n) < n_flips).astype(int), **data)


def reason(result, policy):
    (check,) = result.gate(policy).checks
    assert check.decision == "hold"
    return check.reason


@pytest.mark.parametrize("limit", [0.0007, 0.005, 0.05, 0.3])
def test_the_fewest_examples_that_promote_without_a_flip(limit):
    least = least_units(limit)
    for interval in (lambda n: proportion(0, n), lambda n: paired_difference(0, 0, n)):
        assert interval(least).high <= limit < interval(least - 1).high


def test_a_candidate_equal_to_base_is_told_why_it_is_held():
    """20 slices of 400 rows and a limit of half a percent."""
    slices = {"s": np.arange(8000) % 20}
    same = compared(0, 8000, labels=np.zeros(8000, int), slices=slices)
    for check in same.gate({"max_slice_accuracy_loss": 0.005}).checks:
        assert check.decision == "hold"
        assert check.reason.endswith(
            "without a gain in accuracy it cannot promote with so few examples: even without a "
            "flip it would take 736, and there are 400"
        )
    gained = compared(20, 400, labels=(np.arange(400) < 20).astype(int))
    assert gained.gate({"max_accuracy_loss": 0.005}).decision == "promote"
    users = np.arange(8000) // 20
    clustered = compared(0, 8000, cluster=users)
    assert "so few clusters: even without a flip it would take 736, and there are 400" in reason(
        clustered, {"max_churn": 0.005}
    )
    assert "no number of examples shows that nothing flips" in reason(
        compared(0, 100), {"max_churn": 0}
    )


@pytest.mark.parametrize(
    ("name", "limit", "decision"),
    [("max_churn", 0.0215, "promote"), ("max_churn", 0.018, "reject"),
     ("max_bad_flips", 0.022, "promote"), ("max_accuracy_loss", 0.022, "promote"),
     ("max_accuracy_loss", 0.0175, "reject")],
)  # fmt: skip
def test_as_many_more_examples_as_it_says_end_a_hold(name, limit, decision):
    n = 8000
    labels = np.zeros(n, int)
    said = reason(compared(n // 50, n, labels=labels), {name: limit})
    found = re.search(rf"about ([\d,]+) more examples like these would {decision}$", said)
    assert found, said
    more = int(found[1].replace(",", ""))
    for share, expected in ((0.8, "hold"), (1.2, decision)):
        total = round(n + share * more)
        larger = compared(round(total / 50), total, labels=np.zeros(total, int))
        assert larger.gate({name: limit}).decision == expected


def test_at_the_limit_no_number_ends_it():
    assert "so near the limit that no number of examples" in reason(
        compared(40, 2000), {"max_churn": 0.02}
    )


def test_clusters_are_asked_for_where_there_are_clusters(rng):
    flips = (rng.random(3000) < 0.1).astype(int)
    found = compare(np.zeros(3000, int), flips, cluster=np.arange(3000) // 10)
    said = reason(found, {"max_churn": found.estimates["churn"].value + 0.003})
    assert re.search(r"about [\d,]+ more clusters like these would promote", said)
