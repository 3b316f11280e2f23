"""Probabilities are taken where their sums can be explained, or called what they look like."""

import numpy as np
import polars as pl
import pytest

from unchurn import compare
from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.inputs.predictions import read_predictions
from unchurn.core.errors import InputError


def predictions(table, **columns):
    return read_predictions(pl.DataFrame(table), "m", Columns(**columns))


def table_of(p, names=("p_a", "p_b", "p_c")):
    return {name: p[:, i] for i, name in enumerate(names)}


@pytest.mark.parametrize("decimals", [2, 3])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_rounded_probabilities_are_taken_and_it_is_said(rng, decimals, kind):
    p = rng.dirichlet([1, 1, 1], 500).round(decimals).astype(kind)
    assert (np.abs(p.sum(axis=1) - 1) > 10**-decimals / 2).any()
    found = predictions(table_of(p))
    said = found.taken["probabilities"]
    if decimals == 2:
        assert said == "p_a, p_b, p_c (rounded to 2 decimals)"
    assert list(found.probabilities) == ["a", "b", "c"]


def test_what_rounding_does_not_explain_is_refused():
    for row in ([0.3, 0.3, 0.38], [0.333, 0.333, 0.331]):  # by more than half a unit each
        with pytest.raises(
            InputError, match=r"1 rows do not sum to 1, .* of logits, take the soft"
        ):
            predictions(table_of(np.array([row, [1.0, 0.0, 0.0]])))
    with pytest.raises(InputError, match="501 rows do not sum to 1"):
        predictions(table_of(np.full((501, 3), 0.3337)))


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ([[20.0, 30.0, 50.0], [1.0, 0.5, 98.5]], "of percent, divide by 100"),
        ([[33.3, 33.3, 33.3], [0.0, 0.0, 100.0]], "of percent, divide by 100"),
        ([[2.0, 3.0, 5.0], [1.0, 0.5, 98.5]], "of logits, take the softmax first"),
        ([[2.0, -3.0, 5.0], [1.0, 0.5, 98.5]], "of logits, take the softmax first"),
    ],
)
def test_percent_is_called_percent(rows, hint):
    with pytest.raises(InputError, match=hint):
        predictions(table_of(np.array(rows)))


def test_percent_in_one_column_is_called_percent():
    with pytest.raises(InputError, match=r"'score' has 12 in row 1: no probability \(of percent"):
        predictions({"score": [0.5, 12.0]})
    with pytest.raises(InputError, match="of logits"):
        predictions({"score": [0.5, 12.0, -3.0]})


def test_columns_may_be_called_by_their_classes():
    table = {"id": [1, 2], "cat": [0.7, 0.1], "eel": [0.1, 0.6], "dog": [0.2, 0.3]}
    found = predictions(table, probabilities="cat, dog,eel")
    assert found.predicted.to_list() == ["cat", "eel"]
    assert list(found.probabilities) == ["cat", "dog", "eel"]
    with pytest.raises(InputError, match="m: no column 'cow': there are id, cat, eel, dog"):
        predictions(table, probabilities="cat,cow")
    with pytest.raises(InputError, match="do not sum to 1"):
        predictions(table, probabilities="cat,dog")


@pytest.mark.parametrize(
    ("scores", "says"),
    [([0.1, 0.31], "every row is predicted 0, for 'score' is at most 0.31: is it a logit or in"),
     ([0.6, 0.9], "every row is predicted 1, for 'score' is at least 0.6")],
)  # fmt: skip
def test_one_score_that_never_crosses_one_half_is_a_warning(scores, says):
    found = compare(pl.DataFrame({"score": scores}), pl.DataFrame({"score": [0.2, 0.8]}))
    assert len(found.warnings) == 1
    assert says in found.warnings[0]
    assert found.to_dict()["warnings"] == list(found.warnings)
    asked = compare(*[pl.DataFrame({"score": scores})] * 2, columns=Columns(threshold=0.2))
    assert asked.warnings == ()


def test_the_warning_of_one_class_names_what_a_tie_predicts():
    tie, other = pl.DataFrame({"score": [0.5, 0.6]}), pl.DataFrame({"score": [0.2, 0.8]})
    (says,) = compare(tie, other, columns=Columns(positive="a")).warnings
    assert "every row is predicted a, for 'score' is at least 0.5" in says  # a is before not-a
    assert compare(tie, other).warnings == ()  # 0 is before 1


@pytest.mark.parametrize(
    ("name", "shown"),
    [("p", "p (of class 1)"), ("Probability", "Probability (of class 1)"),
     ("score", "score (taken for the probability of class 1)"),
     ("risk", "risk (taken for the probability of class 1)")],
)  # fmt: skip
def test_one_column_whose_name_does_not_tell_is_said_to_be_taken(name, shown):
    found = predictions({name: [0.2, 0.8]}, probabilities=name)
    assert found.taken["probabilities"] == shown


def logits_within_one(rng, n=4000):
    """A weak model's logits, all above 0 and below 1, and true labels that go by them."""
    logits = rng.uniform(0, 1, n)
    return logits, (rng.uniform(size=n) < 1 / (1 + np.exp(-logits))).astype(int)


def test_a_logit_below_one_half_is_told_by_the_labels(rng):
    logits, labels = logits_within_one(rng)
    p = np.where(labels == 1, 0.9, 0.2)
    found = compare(pl.DataFrame({"p": p, "label": labels}), pl.DataFrame({"p": logits}))
    (warning,) = found.warnings
    of_class = labels[logits < 0.5].sum()
    assert warning.startswith(f"candidate: {of_class:,} of the {(logits < 0.5).sum():,} rows in ")
    assert warning.endswith("are 1: is it a logit, or of another class? It is taken for the "
                            "probability of 1")  # fmt: skip
    turned = compare(pl.DataFrame({"p": 1 - p, "label": labels}), pl.DataFrame({"p": p}))
    assert [warning.partition(":")[0] for warning in turned.warnings] == ["base"]


def test_a_probability_is_not_doubted_however_bad_it_is(rng):
    """Drawn by lot, or far too sure of a rare class."""
    labels = (rng.uniform(size=2000) < 0.1).astype(int)
    for p in (rng.uniform(size=2000), np.where(labels == 1, 0.9, rng.uniform(0.3, 1, 2000))):
        frame = pl.DataFrame({"p": p, "label": labels})
        assert compare(frame, frame).warnings == ()


def test_a_logit_beside_predictions_is_told_by_them(rng):
    logits, _ = logits_within_one(rng)
    ones = {"prediction": np.ones(len(logits), int)}
    found = predictions({**ones, "score": logits})
    assert found.probabilities == {}
    assert "and yet 1 is predicted, as in every row: is it a logit?" in found.taken["probabilities"]
    asked = predictions({**ones, "score": logits}, probabilities="score")
    assert list(asked.probabilities) == ["0", "1"]
    sure = predictions({**ones, "score": logits / 2 + 0.5})
    assert list(sure.probabilities) == ["0", "1"]


def test_decimal_commas_are_recognised(tmp_path):
    (tmp_path / "p.csv").write_text('id,p_a,p_b\n1,"0,5","0,5"\n')
    with pytest.raises(
        InputError, match="'p_a' is not all numbers: of decimal commas say decimal="
    ):
        read_predictions(tmp_path / "p.csv", "m", Columns())
