"""A class by two names is doubted: written otherwise, or called otherwise in the same rows."""

import numpy as np
import polars as pl
import pytest

from unchurn import compare

TRUTH = np.array(["ok", "ok", "fraud", "ok", "fraud"] * 40)


def called(said, **names):
    """The same with other names of some classes."""
    return np.array([names.get(name, name) for name in said])


def frame(said, **columns):
    return pl.DataFrame({"id": range(len(said)), "prediction": said, **columns})


def checks(base, candidate, labels=None):
    return [doubt.check for doubt in compare(base, candidate, labels).doubts]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Spam", "spam"),
        ("not spam", "not-spam"),
        ("not spam", "not\N{NO-BREAK SPACE}spam"),
        ("caf\u00e9", "cafe\u0301"),
    ],
)
def test_what_is_only_written_otherwise_is_doubted_and_a_gate_holds(one, two):
    base, other = frame([one, one, "ham"]), frame([two, two, "ham"])
    found = compare(base, other)
    assert found.estimates["churn"].value == pytest.approx(2 / 3)
    (said,) = found.warnings
    assert said.startswith("classes differ only in case, spaces, hyphens or form of letters")
    assert "Write them alike" in said
    verdict = found.gate({"max_churn": 1.0})
    assert [(check.name, check.decision) for check in verdict.checks] == [
        ("churn", "promote"),
        ("writing", "hold"),
    ]
    assert checks(base, base, frame([two, two, "ham"]).rename({"prediction": "label"})) == [
        "writing"
    ]


def test_names_that_look_the_same_are_told_apart():
    (said,) = compare(["caf\u00e9", "tea"], ["cafe\u0301", "tea"]).warnings
    assert r"'cafe\u0301' and 'caf\xe9'" in said
    assert "'A' and 'a'" in compare(["A", "b"], ["a", "b"]).warnings[0]


def test_who_knows_both_tells_them_apart():
    assert not checks(["A", "a", "b"], ["A", "A", "b"])
    assert not checks(["A", "b"], ["a", "b"], ["A", "a"])
    scored = {"p_A": [0.9, 0.0], "p_a": [0.0, 0.1], "p_b": [0.1, 0.9]}
    assert not checks(frame(["A", "b"], **scored), frame(["a", "b"]))


@pytest.mark.parametrize("labels", [None, TRUTH])
def test_a_class_by_another_name_is_doubted_and_a_gate_holds(labels):
    base = called(TRUTH, ok="legit")
    base[:6] = "fraud"
    found = compare(base, TRUTH, labels)
    assert found.warnings == (
        "base has 'legit' and no 'ok' where candidate has 'ok' and no 'legit', in 116 rows: are "
        "they one class by two names? Then rename it in one of the files",
    )
    verdict = found.gate({"max_churn": 1.0})
    assert (verdict.decision, verdict.checks[-1].name) == ("hold", "names")
    assert checks(TRUTH, base, labels) == ["names"]


def test_labels_may_have_the_other_name():
    numbers = np.where(TRUTH == "ok", 0, 1)
    moved = numbers.copy()
    moved[:9] = 1 - moved[:9]
    found = compare(numbers, moved, np.where(numbers == 0, -1, 1))
    assert found.doubts[0].check == "names"
    assert "base has '0' and no '-1' where labels has '-1' and no '0'" in found.warnings[0]
    beside = frame(moved, label=np.where(numbers == 0, -1, 1))
    assert "where the label column has '-1'" in compare(frame(numbers), beside).warnings[0]


def test_several_are_told_each_once():
    found = compare(called(TRUTH, ok="a", fraud="b"), np.append(TRUTH[:-1], "b"), TRUTH)
    assert found.warnings[0].count("has 'ok'") == 1


def test_a_new_class_is_none(rng):
    """Of one side alone; of both, but elsewhere; of too few rows; one that labels know, too."""
    new = TRUTH.copy()
    new[TRUTH == "ok"] = rng.choice(["ok", "new"], 120)
    assert not checks(TRUTH, new)
    assert not checks(new, TRUTH)
    gone = TRUTH.copy()
    gone[:60] = "gone"
    elsewhere = TRUTH.copy()
    elsewhere[140:] = "new"
    assert not checks(gone, elsewhere)
    few = np.append(TRUTH, ["gone"] * 19), np.append(TRUTH, ["new"] * 19)
    assert not checks(*few)
    assert checks(np.append(TRUTH, ["gone"] * 20), np.append(TRUTH, ["new"] * 20)) == ["names"]
    both = np.array(["ok"] * 60 + ["fraud"] * 60)
    assert not checks(called(both, ok="a"), called(both, ok="b"), np.append(both[:-2], ["a", "b"]))


def test_classes_that_are_nearly_everywhere_meet_by_chance(rng):
    base, other = (np.where(rng.random(2000) < 0.9, name, "rare") for name in "ab")
    assert not checks(frame(base), frame(other))
    together = np.where(base == "a", "b", "rare")
    assert checks(frame(base), frame(together)) == ["names"]


def test_who_has_probabilities_of_both_tells_them_apart():
    n = len(TRUTH)
    scored = {"p_ok": [0.4] * n, "p_legit": [0.6] * n, "p_fraud": [0.0] * n}
    assert not checks(frame(called(TRUTH, ok="legit"), **scored), frame(TRUTH))
