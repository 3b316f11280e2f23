import numpy as np
import polars as pl
import pytest

from unchurn import compare
from unchurn.core.errors import InputError
from unchurn.gate.decide import decide
from unchurn.gate.policy import Policy, make_policy, read_policy

N = 2000
BASE = np.zeros(N, int)


def candidate(n_flips):
    """Base with so many predictions changed."""
    return (np.arange(N) < n_flips).astype(int)


def decision(policy, n_flips=40, **data):
    return compare(BASE, candidate(n_flips), **data).gate(policy)


@pytest.mark.parametrize(
    ("limit", "expected"), [(0.04, "promote"), (0.02, "hold"), (0.01, "reject")]
)
def test_the_whole_interval_decides(limit, expected):
    """40 of 2,000 flip: 2 %, from 1.5 to 2.7 %."""
    verdict = decision({"max_churn": limit})
    assert verdict.decision == expected
    assert f"limit {limit:.2%}" in verdict.checks[0].reason
    assert verdict.exit_code == {"promote": 0, "hold": 3, "reject": 1}[expected]


def test_harm_may_have_to_be_proven():
    burden = {"limit": 0.02, "burden": "prove-harm"}
    assert decision({"max_churn": burden}).decision == "promote"
    assert decision({"max_churn": {**burden, "limit": 0.01}}).decision == "reject"


def test_limits_on_bad_flips_and_lost_accuracy():
    right = decision({"max_bad_flips": 0.01}, labels=BASE)  # all flips are bad
    assert right.decision == "reject"
    assert decision({"max_bad_flips": 0.01}, labels=candidate(40)).decision == "promote"
    assert decision({"max_accuracy_loss": 0.01}, labels=BASE).decision == "reject"
    assert decision({"max_accuracy_loss": 0.0}, labels=candidate(40)).decision == "promote"


def test_excess_over_the_floor(rng):
    truth = rng.integers(0, 2, N)

    def retrained(rate):
        return np.where(rng.random(N) < rate, 1 - truth, truth)

    base, *others = (retrained(0.05) for _ in range(6))
    policy = {"max_excess_churn": 0.02}
    assert compare(base, retrained(0.05), retrains=others).gate(policy).decision == "promote"
    assert compare(base, retrained(0.3), retrains=others).gate(policy).decision == "reject"


def test_another_retraining_is_not_rejected_for_its_luck():
    """Retrainings that vary much: a candidate above their mean is still one of them."""
    labels = np.zeros(N, int)
    retrains = [candidate(n) for n in (20, 60, 100, 140)]
    result = compare(labels, candidate(150), retrains=retrains)
    assert result.floor.is_another_retraining
    check = result.gate({"max_excess_churn": -0.1}).checks[0]
    assert check.decision == "hold"
    assert "one more retraining may churn" in check.reason


def test_every_slice_is_checked_at_a_level_for_all():
    slices = {"country": np.array(["de", "fr"])[np.arange(N) % 2]}
    flips = ((np.arange(N) % 2 == 1) & (np.arange(N) < 300)).astype(int)  # 15 % of fr
    verdict = compare(BASE, flips, slices=slices).gate({"max_slice_churn": 0.05})
    assert {c.name: c.decision for c in verdict.checks} == {
        "slice_churn of country=fr": "reject", "slice_churn of country=de": "promote",
    }  # fmt: skip
    assert "at 97.50%, for all slices at once" in verdict.checks[1].reason
    losses = compare(BASE, flips, BASE, slices=slices)
    assert losses.gate({"max_slice_accuracy_loss": 0.05}).decision == "reject"
    assert losses.gate({"max_slice_bad_flips": 0.05}).decision == "reject"
    assert losses.gate({"max_slice_bad_flips": 0.25}).decision == "promote"


def test_one_that_must_not_flip_rejects():
    assert decision({"must_not_flip": [1999, "1998"]}).decision == "promote"
    verdict = decision({"must_not_flip": [0, 1999]})
    assert verdict.decision == "reject"
    assert verdict.checks[0].reason == "1 of 2 flipped: 0"


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"must_not_flip": ["x"]}, "1 id is not among the examples compared, such as 'x'"),
        ({"max_accuracy_loss": 0.1}, "max_accuracy_loss needs true labels"),
        ({"max_bad_flips": 0.1}, "max_bad_flips needs true labels"),
        ({"max_excess_churn": 0.1}, "needs other retrainings of base"),
        ({"max_slice_churn": 0.1}, "max_slice_churn needs slices"),
        ({}, "the policy sets no limit: set one of max_churn"),
    ],
)
def test_it_fails_closed(policy, message):
    with pytest.raises(InputError, match=message):
        decision(policy)


def test_one_retraining_is_too_few_for_a_limit():
    with pytest.raises(InputError, match="at least two retrainings"):
        decision({"max_excess_churn": 0.1}, retrains=[candidate(10)])


def test_true_is_no_limit_and_no_interval_no_verdict():
    for policy in ({"max_churn": True}, {"max_churn": {"limit": True}}):
        with pytest.raises(InputError, match="a limit is a number, not true or false"):
            decision(policy)
    harm = {"max_churn": {"limit": 0.01, "burden": "prove-harm"}}
    with pytest.raises(InputError, match="churn has no interval to check: a single cluster"):
        decision(harm, cluster=BASE)


def test_ids_of_the_policy_and_of_the_options_are_all_kept(tmp_path):
    (tmp_path / "gate.toml").write_text("must_not_flip = [0]\n")
    policy = read_policy(tmp_path / "gate.toml", {"must_not_flip": ["1999"]})
    assert policy.must_not_flip == [0, "1999"]
    assert decision(policy).decision == "reject"
    for each in (tmp_path / "gate.toml", {"must_not_flip": [0]}, Policy(must_not_flip=[0])):
        found = compare(BASE, candidate(40))
        assert found.gate(must_not_flip=["1999"]).decision == "promote"
        assert found.gate(each, must_not_flip=("1999",), max_churn=None).decision == "reject"
        for wrong in ("1999", 1999):
            with pytest.raises(InputError, match="must_not_flip: input should be a valid list"):
                found.gate(each, must_not_flip=wrong)


def test_small_slices_are_checked_together_and_can_only_reject():
    values = np.array(["big"] * (N - 40) + ["x"] * 20 + ["y"] * 20)
    policy = {"max_slice_churn": 0.1}
    quiet = compare(BASE, candidate(20), slices={"s": values}).gate(policy)
    assert quiet.decision == "promote"
    assert quiet.checks[1].name == "slice_churn of s=(2 values of under 50 examples) (40 examples)"
    strict = compare(BASE, candidate(20), slices={"s": values}).gate({"max_slice_churn": 0.05})
    assert strict.decision == "promote"
    assert "harm is not proven" in strict.checks[1].reason
    loud = compare(BASE, (np.arange(N) >= N - 40).astype(int), slices={"s": values}).gate(policy)
    assert [check.decision for check in loud.checks] == ["promote", "reject"]
    together = compare(BASE, BASE, slices={"s": values}).gate({**policy, "min_slice": 30})
    assert together.checks[1].name == "slice_churn of s=(2 values of under 30 examples)"


def test_a_small_slice_of_one_cluster_cannot_reject():
    values, users = np.array(["a"] * (N - 10) + ["b"] * 10), np.arange(N) // 10
    result = compare(BASE, candidate(20), slices={"s": values}, cluster=users)
    assert result.gate({"max_slice_churn": 0.2}).decision == "promote"


def test_a_policy_may_be_a_dict_a_file_or_checked_before(tmp_path):
    same = compare(BASE, BASE)
    (tmp_path / "gate.toml").write_text("max_churn = 0.01\n")
    for policy in ({"max_churn": 0.01}, tmp_path / "gate.toml", make_policy({"max_churn": 0.01})):
        assert decide(same, policy).decision == same.gate(policy).decision == "promote"


def test_a_policy_without_limits_decides_nothing():
    with pytest.raises(InputError, match="the policy sets no limit"):
        decide(compare(BASE, 1 - BASE), Policy())


def test_labels_of_other_classes_prove_nothing(rng):
    said = np.array(["cat", "dog"])[rng.integers(0, 2, 100)]
    with pytest.raises(InputError, match="the models and the labels have no class in common"):
        compare(said, said, labels=np.char.upper(said))


@pytest.mark.parametrize("by_id", [True, False])
def test_a_candidate_that_fails_to_predict_is_held_unless_that_is_allowed(by_id):
    """1,000 of 4,000 rows: not there, or empty."""
    base = pl.DataFrame({"id": range(4000), "prediction": ["a", "b"] * 2000})
    there = pl.col("id") % 4 != 0
    candidate = base.filter(there)
    if not by_id:
        candidate = base.with_columns(pl.when(there).then("prediction"))
    found = compare(base, candidate)
    (said,) = found.warnings
    assert said.startswith("candidate has no prediction for 1,000 of the 4,000 rows of base (25.00")
    verdict = found.gate({"max_churn": 0.1})
    assert (verdict.decision, verdict.checks[-1].name) == ("hold", "missing")
    assert "1,000 of base's 4,000 rows (25.00%)" in verdict.checks[-1].reason
    assert "max_missing = 0.25 in the policy" in verdict.checks[-1].reason
    assert found.gate({"max_churn": 0.1, "max_missing": 0.25}).decision == "promote"
    assert compare(candidate, base).gate({"max_churn": 0.1}).decision == "promote"


def test_a_few_rows_that_a_candidate_fails_to_predict_are_left_out():
    base = pl.DataFrame({"id": range(1000), "prediction": ["a", "b"] * 500})
    for n, is_held in ((990, False), (989, True)):
        found = compare(base, base[:n])
        assert bool(found.warnings) == is_held
        assert (found.gate({"max_churn": 0.1}).decision == "hold") == is_held


def test_limits_go_by_keyword_before_the_policy(tmp_path):
    found = compare(BASE, candidate(20))  # 1 % of them
    (tmp_path / "p.toml").write_text("max_churn = 0.001\n")
    for policy in ({"max_churn": 0.001}, Policy(max_churn=0.001), tmp_path / "p.toml"):
        assert found.gate(policy).decision == "reject"
        assert found.gate(policy, max_churn=0.05).decision == "promote"
    assert found.gate(max_churn=0.001).decision == "reject"
    kept = Policy(max_churn={"limit": 0.001, "burden": "prove-harm"}, max_missing=0.5)
    assert len(found.gate(kept, must_not_flip=[1999]).checks) == 2


@pytest.mark.parametrize(
    ("policy", "message"),
    [(None, "the policy sets no limit"), (3, "policy must be a dict of limits or a TOML file's")],
)
def test_what_is_no_policy_is_one_line(policy, message):
    with pytest.raises(InputError, match=message):
        compare(BASE, candidate(20)).gate(policy)


def test_a_header_above_ids_is_asked_about():
    with pytest.raises(InputError, match=r"1 id is not .* such as 'id', the first: is it a header"):
        decision({"must_not_flip": ["id", "1998", "1999"]})
    with pytest.raises(InputError, match=r"2 ids are not .* such as 'x'$"):
        decision({"must_not_flip": ["1999", "x", "y"]})
