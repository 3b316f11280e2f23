"""Copies among retrainings are named, and nothing is said or decided by them."""

import json

import numpy as np
import polars as pl
import pytest

from unchurn import compare
from unchurn.comparison.report import charts, words

POLICY = {"max_excess_churn": 0.05, "max_excess_loss": 0.05}


def frame(predicted):
    return pl.DataFrame({"id": range(len(predicted)), "prediction": predicted})


@pytest.fixture
def models(rng):
    """Six retrainings of one recipe, and the truth; the first is base and the second candidate."""
    truth = rng.integers(0, 3, 2000)
    return truth, [np.where(rng.random(2000) < 0.1, (truth + 1) % 3, truth) for _ in range(6)]


def test_copies_among_retrainings_are_named_but_not_where_retraining_changes_nothing(rng, tmp_path):
    base, candidate, other, third = (frame(rng.integers(0, 3, 300)) for _ in range(4))
    for name, table in {"copy.csv": base, "a.csv": other, "b.csv": other[::-1]}.items():
        table.write_csv(tmp_path / name)
    files = [tmp_path / name for name in ("copy.csv", "a.csv", "b.csv")]
    said = [w for w in compare(base, candidate, retrains=[*files, third]).warnings if "copy?" in w]
    assert said == [
        "retraining 1 (copy.csv) has the same predictions as base: is it a copy? A copy says "
        "nothing of the noise of retraining",
        "retraining 3 (b.csv) has the same predictions as retraining 2 (a.csv): is it a copy? A "
        "copy says nothing of the noise of retraining",
    ]
    alike = compare(base, candidate, retrains=[base, base, base])
    assert not [w for w in alike.warnings if "copy" in w]
    assert any("retraining alone changes nothing" in note for note in alike.notes)


@pytest.mark.parametrize(
    ("given", "of"),
    [
        ((2, 3, 3), "retraining 3 has the same predictions as retraining 2"),
        ((2, 3, 0), "retraining 3 has the same predictions as base"),
        ((2, 1, 3), "retraining 2 has the same predictions as candidate"),
        ((1, 1, 1), "retraining 1, retraining 2, retraining 3 have the same predictions as cand"),
    ],
)
def test_a_gate_neither_promotes_nor_rejects_by_copies(models, given, of):
    truth, (base, candidate, *_) = models
    found = compare(base, candidate, truth, retrains=[models[1][i] for i in given])
    assert found.warnings[0].startswith(of)
    for limits in (POLICY, dict.fromkeys(POLICY, -0.9)):
        for check in found.gate(limits).checks:
            assert check.decision == "hold"
            assert "retrainings seem to be copies" in check.reason
    tolerant = {"max_excess_churn": {"limit": -0.9, "burden": "prove-harm"}}
    assert found.gate(tolerant).decision == "hold"
    genuine = compare(base, candidate, truth, retrains=[models[1][i] for i in (2, 3, 4)])
    assert genuine.gate(POLICY).decision == "promote"
    assert genuine.warnings == ()


def test_nothing_is_said_of_one_more(models):
    truth, (base, candidate, one, two, *_) = models
    found = compare(base, candidate, truth, retrains=[one, two, two, two])
    said = words.floor_sentence(found)
    assert said.startswith("The retrainings move ")
    assert said.endswith("that is not the noise of retraining, and says nothing of one more.")
    assert "one more" not in words.accuracies_sentence(found)
    floor = json.loads(json.dumps(found.to_dict()))["noise_floor"]
    nothing = {"low": None, "high": None}
    assert floor["expected"] == floor["accuracy"]["expected"] == nothing
    assert floor["is_another_retraining"] is floor["accuracy"]["is_another_retraining"] is None
    for interval in (floor["churn"], floor["excess"], floor["accuracy"]["excess_loss"]):
        assert interval | nothing == interval
    assert not [note for note in found.floor.notes if "one more" in note]
    assert "Copies give no range." in [chart["caption"] for chart in charts.charts(found)]


def test_a_candidate_that_is_base_is_no_copy_of_a_retraining(models):
    _, (base, _, one, two, *_) = models
    assert compare(base, base, retrains=[one, two]).warnings == ()
    (said,) = compare(base, base, retrains=[one, two, base]).warnings
    assert said.startswith("retraining 3 has the same predictions as base")


def test_retrainings_that_hardly_differ_may_be_the_same_by_chance():
    base = np.zeros(1000, int)
    for n, is_copy in ((9, False), (10, True)):
        one, two = ((np.arange(1000) % 50 == i) & (np.arange(1000) < 50 * n) for i in (1, 2))
        found = compare(base, one.astype(int), retrains=[two.astype(int)] * 2)
        assert bool(found.floor.copies) == is_copy
