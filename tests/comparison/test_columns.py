"""Which column is what, and what its values stand for."""

import numpy as np
import polars as pl
import pytest

from unchurn import compare
from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.inputs.predictions import read_labels, read_predictions
from unchurn.core.errors import InputError


def predictions(source, **columns):
    return read_predictions(source, "m", Columns(**columns))


def labels_of(source, **columns):
    return predictions(source, **columns).predicted.to_list()


def test_labels_that_mean_the_same_are_the_same():
    for values in ([1, 0], [1.0, 0.0], ["1", "0"], np.array([1, 0], np.uint8)):
        assert labels_of(pl.DataFrame({"prediction": values})) == [1, 0]
    assert labels_of(pl.DataFrame({"prediction": [True, False]})) == ["true", "false"]
    assert labels_of(pl.DataFrame({"prediction": ["1", "x"]})) == ["1", "x"]
    assert labels_of(pl.DataFrame({"prediction": ["01", "1"]})) == ["01", "1"]


def test_names_are_guessed_whatever_their_case_and_named_where_they_are_not():
    table = pl.DataFrame({"Example ID": [1], "Y-Pred": ["x"], "Truth": ["x"]})
    assert predictions(table).taken == {
        "id": "Example ID",
        "prediction": "Y-Pred",
        "label": "Truth",
    }
    odd = pl.DataFrame({"k": [1], "said": ["x"]})
    assert predictions(odd, id="k", prediction="said").taken == {"id": "k", "prediction": "said"}


def test_a_named_column_is_not_guessed_for_something_else_too():
    found = predictions(pl.DataFrame({"label": [0, 1], "y": [1, 1]}), prediction="label")
    assert found.taken["label"] == "y"
    found = predictions(pl.DataFrame({"score": ["a", "b"]}), prediction="score")
    assert "probabilities" not in found.taken


def test_what_stands_for_a_gap_among_numbers_is_no_class():
    found = predictions(pl.DataFrame({"prediction": ["0", "NA", "1"]}))
    assert found.predicted.to_list() == [0, 1]
    assert found.excluded == {"without a prediction in m": 1}
    assert labels_of(pl.DataFrame({"prediction": ["NA", "DE"]})) == ["NA", "DE"]  # countries
    found = predictions(pl.DataFrame({"p_0": ["0.5", "NA"], "p_1": ["0.5", "0.1"]}))
    assert found.excluded == {"without a prediction in m": 1}


def test_labels_as_pandas_writes_them_beside_gaps():
    assert labels_of(pl.DataFrame({"prediction": ["1.0", "NA", "0.0"]})) == [1, 0]
    assert labels_of(pl.DataFrame({"prediction": ["True", "<NA>", "False"]})) == ["true", "false"]
    assert labels_of(pl.DataFrame({"prediction": ["007", "7"]})) == ["007", "7"]


def test_the_models_columns_are_not_asked_of_the_labels():
    truth = pl.DataFrame({"id": [1], "label": ["a"]})
    assert read_labels(truth, "labels", Columns(prediction="out")).labels.to_list() == ["a"]


def test_a_class_is_spelled_alike_whatever_stands_beside_it():
    assert labels_of(pl.DataFrame({"prediction": ["True", "False"]})) == ["true", "false"]
    assert labels_of(pl.DataFrame({"prediction": ["True", "Unknown"]})) == ["true", "Unknown"]
    assert labels_of(pl.DataFrame({"prediction": ["1.0", "Unknown"]})) == ["1", "Unknown"]
    table = pl.DataFrame({"proba_False": [0.9, 0.2], "proba_True": [0.1, 0.8]})
    found = predictions(table, positive="True", threshold=0.5)
    assert list(found.probabilities) == ["false", "true"]
    assert found.predicted.to_list() == ["false", "true"]
    with pytest.raises(InputError, match="two columns are probabilities of '1'"):
        predictions(pl.DataFrame({"p_1": [0.5], "p_1.0": [0.5]}))


def test_a_column_of_probabilities_names_a_class_even_where_it_reads_like_a_gap():
    table = pl.DataFrame({"p_1": [0.1, 0.9], "p_None": [0.9, 0.1]})
    assert labels_of(table) == ["None", "1"]


def test_a_label_that_a_file_of_labels_does_not_have_is_named():
    base = pl.DataFrame({"id": [1, 2], "prediction": [0, 1]})
    truth = pl.DataFrame({"id": [1, 2], "status": [0, 1], "note": ["x", "y"]})
    with pytest.raises(InputError) as error:
        compare(base, base, truth, columns=Columns(label="statu"))
    assert str(error.value) == (
        "labels: no column 'statu' (did you mean 'status'?): there are id, status, note"
    )


def test_columns_may_be_a_dict_of_their_fields():
    base = pl.DataFrame({"ticket": [3, 1, 2], "said": ["a", "b", "b"], "land": ["x", "y", "y"]})
    other = base[::-1].with_columns(said=pl.Series(["b", "b", "b"]))
    found = compare(base, other, columns={"id": "ticket", "prediction": "said", "slices": "land"})
    assert found.estimates["churn"].value == 1 / 3
    assert list(found.paired.slices) == ["land"]
    with pytest.raises(InputError, match=r"columns: no field 'idd' \(did you mean 'id'\?\): there"):
        compare(base, other, columns={"idd": "ticket"})
    with pytest.raises(
        InputError, match="columns must be Columns or a dict of its fields, not 'ti"
    ):
        compare(base, other, columns="ticket")


def test_a_prediction_that_one_file_calls_otherwise_is_guessed_in_the_other():
    base = pl.DataFrame({"id": [1, 2, 3], "prediction": ["a", "b", "b"], "x": ["a", "a", "a"]})
    candidate = base.rename({"prediction": "pred_label"})
    for one, two in ((base, candidate), (candidate, base)):
        result = compare(one, two, columns={"prediction": "pred_label"}, retrains=[base, candidate])
        assert result.estimates["churn"].value == 0
        assert result.taken["base" if one is base else "candidate"]["prediction"] == "prediction"
    with pytest.raises(InputError, match="no column 'prediction', which base has: name both"):
        compare(
            base, candidate.rename({"pred_label": "said"}), columns={"prediction": "prediction"}
        )
    with pytest.raises(InputError, match="base: no column 'label_'"):
        compare(base, base, columns={"prediction": "label_"})


WIDE = pl.DataFrame(
    {"id": [1, 2, 3, 4], "v1": [0, 1, 1, 0], "v2": [0, 1, 0, 1], "label": [0, 1, 0, 0]}
)


def test_base_and_candidate_may_call_the_prediction_differently():
    base, candidate = WIDE.drop("v2"), WIDE.drop("v1").reverse()
    candidate = candidate.with_columns(seg=pl.lit("x"))
    asked = {"prediction": "v1, v2"}
    for one, two in ((base, candidate), (WIDE, WIDE)):
        found = compare(one, two, columns=asked, retrains=[base, candidate, WIDE])
        assert found.estimates["churn"].value == 0.5  # 3 and 4
        assert found.estimates["bad_flips"].value == found.estimates["good_flips"].value == 0.25
        assert [found.taken[name]["prediction"] for name in ("base", "candidate")] == ["v1", "v2"]
        assert found.floor.each == (0, 0.5, 0)  # of a file that has both, base's
    with pytest.raises(InputError, match="base: no column 'v1'"):
        compare(candidate, base, columns=asked)
    with pytest.raises(InputError, match="one name, or two by comma"):
        compare(WIDE, WIDE, columns={"prediction": "v1,v2,v3"})


def test_a_prediction_with_a_comma_in_its_name_is_one():
    odd = WIDE.select("id", "v2", pl.col("v1").alias("v1,v2"))
    assert compare(odd, odd, columns={"prediction": "v1,v2"}).estimates["churn"].value == 0


def test_a_column_that_only_one_file_has_is_asked_for_by_both_names():
    base, candidate = (WIDE.drop(one).with_columns(seg=pl.lit("x")) for one in ("v2", "v1"))
    with pytest.raises(InputError, match=r"prediction\? Name it with prediction= \(two by comma"):
        compare(base.drop("label"), candidate.drop("label"))
    with pytest.raises(InputError, match="candidate: no column 'v1', which base has: name both"):
        compare(base, candidate, columns={"prediction": "v1"})


def test_two_thresholds_are_the_bases_and_the_candidates():
    base = pl.DataFrame({"id": [1, 2, 3, 4], "score": [0.45, 0.6, 0.1, 0.3]})
    for given in ((0.5, 0.4), [0.5, 0.4]):
        columns = {"threshold": given}
        found = compare(base, base, columns=columns, retrains=[base, base])
        assert found.estimates["churn"].value == 0.25  # 0.45 lies between
        assert found.floor.each == (0, 0)  # retrainings are of base's recipe
        assert found.taken["candidate"]["prediction"] == "1 from a probability of 0.4"
    assert compare(base, base, columns={"threshold": 0.5}).estimates["churn"].value == 0
    said = base.with_columns(prediction=pl.Series([0, 1, 0, 0]))  # by another threshold
    for given, churn in (((0.4, None), 0.25), ((None, 0.4), 0.25), ((0.5, None), 0), (0.4, 0)):
        found = compare(said, said, columns={"threshold": given})
        assert found.estimates["churn"].value == churn  # the side of None has its own answers
    for wrong in (2, (0.5, 2), (0.5,), "a"):
        with pytest.raises(InputError, match="threshold must be"):
            compare(base, base, columns={"threshold": wrong})
