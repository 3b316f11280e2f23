"""Classes of several files are called as the first calls them, wherever they are named."""

import polars as pl
import pytest

from unchurn import Columns, InputError, compare
from unchurn.comparison.read import read_inputs

TF = pl.DataFrame(
    {
        "id": [1, 2, 3, 4],
        "prediction": [True, False, True, False],
        "prob_false": [0.49, 0.9, 0.2, 0.51],
        "prob_true": [0.51, 0.1, 0.8, 0.49],
        "label": [False, False, True, True],
    }
)
BITS = pl.DataFrame(
    {
        "id": [1, 2, 3, 4],
        "prediction": [0, 0, 1, 1],
        "prob_0": [0.9, 0.9, 0.2, 0.1],
        "prob_1": [0.1, 0.1, 0.8, 0.9],
    }
)
OK = pl.DataFrame({"id": [1, 2, 3], "prediction": ["ok", "fraud", "ok"], "p": [0.1, 0.8, 0.3]})
SCORED = pl.DataFrame({"id": [1, 2, 3], "p": [0.9, 0.7, 0.2]})


@pytest.mark.parametrize(
    ("base", "candidate", "classes"),
    [(TF, BITS, ("false", "true")), (BITS, TF, ("0", "1"))],
)
def test_true_and_1_are_one_class_of_predictions_labels_and_probabilities(base, candidate, classes):
    given = read_inputs(base, candidate)
    assert given.paired.classes == given.paired.scored_classes == classes
    assert tuple(given.candidate.probabilities) == classes
    found = compare(base, candidate)
    assert found.estimates["churn"].value == 0.5  # rows 1 and 4
    assert found.movement["mean_absolute"] == pytest.approx((0.41 + 0 + 0 + 0.41) / 4)
    assert found.thresholds_for == classes[1]


def test_the_positive_class_may_be_named_as_either_file_does():
    for positive in ("true", "True", "1"):
        found = compare(TF, BITS, columns=Columns(positive=positive, threshold=0.85))
        assert found.paired.classes == ("false", "true")
        assert found.estimates["churn"].value == 0.25  # row 4 alone reaches it, in the candidate


def test_one_probability_beside_true_and_false_is_of_true():
    one = TF.select("id", "prediction", probability="prob_true")
    two = BITS.select("id", "prediction", probability="prob_1")
    found = compare(one, two)
    assert found.taken["base"]["probabilities"] == "probability (of class true)"
    assert found.movement["mean_absolute"] == pytest.approx((0.41 + 0 + 0 + 0.41) / 4)


def test_the_other_class_goes_by_its_name_where_a_file_has_it():
    for base, candidate in ((OK, SCORED), (SCORED, OK)):
        given = read_inputs(base, candidate, columns={"positive": "fraud"})
        assert given.paired.classes == ("fraud", "ok")
        for model in (given.base, given.candidate):
            assert tuple(model.probabilities) == ("ok", "fraud")
    assert compare(OK, SCORED, columns={"positive": "fraud"}).estimates["churn"].value == 1 / 3


def test_of_several_other_classes_none_gives_its_name():
    three = OK.with_columns(prediction=pl.Series(["ok", "fraud", "late"]))
    found = compare(three, SCORED, columns={"positive": "fraud"})
    assert found.paired.classes == ("not fraud", "fraud")
    assert found.estimates["churn"].value == 1 / 3


def test_retrainings_follow_too():
    again = BITS.with_columns(prediction=pl.Series([1, 0, 1, 1]))  # but for row 4 as TF
    found = compare(TF, BITS, retrains=[again, BITS])
    assert found.floor.each == (0.25, 0.5)


def test_other_classes_beside_true_stay_what_they_are():
    with pytest.raises(InputError, match="no class in common"):
        compare([0, 1, 2, 2], TF["prediction"].to_list())


def test_probabilities_of_different_classes_are_noted():
    base = pl.DataFrame(
        {"id": [1, 2], "prediction": ["a", "b"], "p_a": [0.9, 0.1], "p_b": [0.1, 0.9]}
    )
    other = base.rename({"p_a": "p_c", "p_b": "p_d"})
    assert any("different classes" in note for note in compare(base, other).notes)
