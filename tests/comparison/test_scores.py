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
    with pytest.raises(InputError, match="m: no column 'cow'; there are id, cat, eel, dog"):
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


def test_decimal_commas_are_recognised(tmp_path):
    (tmp_path / "p.csv").write_text('id,p_a,p_b\n1,"0,5","0,5"\n')
    with pytest.raises(
        InputError, match="'p_a' is not all numbers: of decimal commas say decimal="
    ):
        read_predictions(tmp_path / "p.csv", "m", Columns())
