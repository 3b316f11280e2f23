"""Two models side by side: which rows belong together, and which classes are the same."""

import pandas as pd
import polars as pl
import pytest

from unchurn import compare
from unchurn.core.errors import InputError


def test_ids_of_different_types_are_joined():
    base = pl.DataFrame({"id": [1, 2], "prediction": ["x", "y"]})
    candidate = pl.DataFrame({"id": ["2", "1"], "prediction": ["y", "x"]})
    assert compare(base, candidate).estimates["churn"].value == 0


def test_classes_of_one_side_are_noted():
    result = compare(["a", "b"], ["a", "c"], ["a", "d"])
    assert "classes only predicted by base: b" in result.notes
    assert "classes only in the labels: d" in result.notes
    assert "classes only predicted by the models: b, c" in result.notes


def test_probabilities_of_no_class_that_is_predicted_are_noted():
    model = pl.DataFrame({"prediction": ["b", "a"], "proba_0": [0.1, 0.8], "proba_1": [0.9, 0.2]})
    found = compare(model, model.with_columns(prediction=pl.Series(["a", "b"])))
    assert found.flips()["confidence"].to_list() == [None, None]
    assert found.notes == (
        "probabilities are of 0, 1, predictions of a, b: so flips have no confidence. Call the "
        "columns of probabilities by their classes, as proba_a",
    )
    truth = model.with_columns(prediction=pl.Series([True, False]))  # which are 1 and 0
    assert compare(truth, truth).notes == ()


def test_pandas_rows_are_not_joined_by_place_where_their_indexes_differ():
    base = pd.Series(["a", "b", "c"])
    with pytest.raises(InputError, match="the pandas indexes differ"):
        compare(base, base[::-1])
    with pytest.raises(InputError, match="the pandas indexes differ"):
        compare(base.to_frame("prediction"), base.to_numpy(), labels=base[::-1])
    kept = base[[2, 0]]  # what a split leaves: in the order of the arrays made from it
    assert compare(kept.to_numpy(), kept.to_numpy(), labels=kept).n == 2
    one, two = (s.rename("prediction").reset_index() for s in (base, base[::-1]))
    assert compare(one, two).estimates["churn"].value == 0


def test_ids_beyond_64_bits_with_sign_are_joined():
    ids = [2**63 + 5, 1]
    base = pl.DataFrame({"id": pl.Series(ids, dtype=pl.UInt64), "prediction": [0, 1]})
    other = pl.DataFrame({"id": ["1", str(2**63 + 5)], "prediction": [1, 0]})
    small = pl.DataFrame({"id": [1], "prediction": [1]})
    assert compare(base, other).estimates["churn"].value == 0
    assert compare(base, small).n == 1
    longer = pl.DataFrame({"id": pl.Series([2**64, 1], dtype=pl.Int128), "prediction": [0, 1]})
    assert compare(longer, small).n == compare(small, longer).n == 1


def test_one_odd_class_does_not_part_the_others():
    base, candidate = ["True", "False", "True", "False"], ["True", "False", "True", "Unknown"]
    result = compare(base, candidate, labels=base)
    assert result.estimates["churn"].value == 0.25
    assert result.paired.classes == ("Unknown", "false", "true")


def test_indexes_of_all_that_is_given_are_checked():
    base = pd.Series(["a", "b", "c"])
    for more in (
        {"retrains": [base[::-1]]},
        {"slices": {"s": base[::-1]}},
        {"cluster": base[::-1]},
    ):
        with pytest.raises(InputError, match="the pandas indexes differ"):
            compare(base, base, **more)


def test_whole_floats_are_ids_like_any():
    base = pl.DataFrame({"id": [0, 1, 2], "prediction": [0, 1, 0]})
    candidate = pl.DataFrame({"id": [0.0, 1.0, 2.0], "prediction": [0, 1, 1]})
    assert compare(base, candidate).n == 3
    with pytest.raises(InputError, match=r"no id in common: 0 is the first of one, 0\.5 of the"):
        compare(base, candidate.with_columns(pl.col("id") + 0.5))


def test_a_row_without_a_prediction_is_left_out_once():
    base = pl.DataFrame({"id": [0, 1, 2, 3], "prediction": [0, 1, 0, 1]})
    said = [0, 1, None, None, 1, None, None]
    candidate = pl.DataFrame({"id": [0, 1, 2, 2, 4, None, None], "prediction": said})
    assert compare(base, candidate).paired.excluded == {
        "without a prediction in candidate": 4, "only in base": 1, "only in candidate": 1,
    }  # fmt: skip


def test_labels_whose_ids_are_written_otherwise_are_told_from_labels_of_others():
    base = pl.DataFrame({"id": [f"{i:03}" for i in range(5)], "prediction": [0, 1, 0, 1, 1]})
    labels = pl.DataFrame({"id": range(5), "label": [0, 1, 0, 1, 1]})
    none = "labels has the label of no example that the models have"
    with pytest.raises(InputError) as error:
        compare(base, base, labels)
    assert str(error.value) == (
        f"{none}. They differ in case, spaces or leading zeros, as '000' and '0': write ids alike"
    )
    for other in (
        labels.with_columns(id=pl.col("id") + 50),
        base.select("id", label=pl.lit(None, pl.Int64)),
    ):
        with pytest.raises(InputError) as error:
            compare(base, base, other)
        assert str(error.value) == none
