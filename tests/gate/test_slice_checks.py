"""Limits on every slice: each must be inside by itself; harm is proven for all at once (Holm)."""

import numpy as np
import pytest
from scipy.stats import binomtest

from unchurn import compare
from unchurn.metrics.intervals import LEVEL, proportion

SIZE = 1000


def sliced(*n_flips, size=SIZE, **data):
    """Slices of one size, of which so many flip."""
    flips = np.concatenate([np.arange(size) < count for count in n_flips]).astype(int)
    slices = {"s": np.repeat([f"{i:02d}" for i in range(len(n_flips))], size)}
    return compare(np.zeros(len(flips), int), flips, slices=slices, **data)


def decisions(result, policy):
    return [check.decision for check in result.gate(policy).checks]


def test_a_slice_promotes_by_its_own_interval_however_many_there_are():
    """35 of 1,000: its 95 % interval ends at 4.83 %, one for twenty slices at once at 5.6 %."""
    assert proportion(35, SIZE).high < 0.05 < proportion(35, SIZE, 1 - 0.05 / 20).high
    assert sliced(*[35] * 20).gate({"max_slice_churn": 0.05}).decision == "promote"


def test_one_slice_of_many_does_not_reject_by_chance():
    """68 of 1,000 is above 5 % by itself, but not as one of twenty."""
    result = sliced(68, *[10] * 19)
    assert proportion(68, SIZE).low > 0.05
    check = result.gate({"max_slice_churn": 0.05}).checks[0]
    assert check.decision == "hold"
    assert "outside, but one of so many slices may be by chance" in check.reason
    assert "more examples of this slice would reject" in check.reason
    assert decisions(sliced(68), {"max_slice_churn": 0.05}) == ["reject"]  # alone it is enough


def test_harm_is_proven_by_holms_rule(rng):
    """Against one-sided binomial tests, which the exact interval inverts, stepped down by hand."""
    limit, alpha = 0.05, (1 - LEVEL) / 2
    for _ in range(20):
        counts = rng.integers(45, 95, 12)
        p_values = [binomtest(int(k), SIZE, limit, "greater").pvalue for k in counts]
        expected = set()
        for rank, i in enumerate(np.argsort(p_values)):
            if p_values[i] > alpha / (len(counts) - rank):
                break
            expected.add(i)
        found = decisions(sliced(*counts), {"max_slice_churn": limit})
        rejected = {i for i, decision in enumerate(found) if decision == "reject"}
        # The last step has one slice left, at 95 %, where the interval is Wilson's.
        assert rejected == expected or len(expected) == len(counts)
    assert expected


def test_holm_rejects_what_bonferroni_does_not():
    counts = [200, 200, 66]
    assert proportion(66, SIZE, 1 - 0.05 / 3).low < 0.05 < proportion(66, SIZE).low
    assert decisions(sliced(*counts), {"max_slice_churn": 0.05}) == ["reject"] * 3


def test_losses_and_bad_flips_of_slices():
    truth = np.zeros(3 * SIZE, int)
    for name in ("max_slice_bad_flips", "max_slice_accuracy_loss"):
        found = decisions(sliced(100, 0, 45, labels=truth), {name: 0.05})
        assert found == ["reject", "promote", "hold"]


@pytest.mark.parametrize("burden", ["prove-safety", "prove-harm"])
def test_a_slice_of_a_single_cluster_does_not_end_the_gate(burden):
    """It once ended it with exit code 2, although another limit rejects."""
    users = np.r_[np.zeros(200, int), np.arange(SIZE * 2 - 200) // 5 + 1]
    values = np.where(np.arange(2 * SIZE) < 200, "one user", "many")
    flips = (np.arange(2 * SIZE) % 20 == 0).astype(int)
    result = compare(np.zeros(2 * SIZE, int), flips, slices={"s": values}, cluster=users)
    verdict = result.gate({"max_churn": 0.01, "max_slice_churn": {"limit": 0.3, "burden": burden}})
    assert verdict.decision == "reject"
    single = next(check for check in verdict.checks if "one user" in check.name)
    assert single.decision == {"prove-safety": "hold", "prove-harm": "promote"}[burden]
    assert "it cannot be checked: a single cluster" in single.reason


def test_a_slice_without_labels_does_not_end_the_gate():
    labels = np.where(np.arange(2 * SIZE) < SIZE, 0, None)
    import polars as pl

    truth = pl.DataFrame({"id": range(2 * SIZE), "label": pl.Series(labels.tolist())})
    base, flips = (
        pl.DataFrame({"id": range(2 * SIZE), "prediction": said})
        for said in (np.zeros(2 * SIZE, int), (np.arange(2 * SIZE) % 10 == 0).astype(int))
    )
    slices = {"half": np.arange(2 * SIZE) // SIZE}
    verdict = compare(base, flips, truth, slices).gate({"max_slice_bad_flips": 0.05})
    assert [check.decision for check in verdict.checks] == ["reject", "hold"]
    assert "it cannot be checked: no such examples" in verdict.checks[1].reason
