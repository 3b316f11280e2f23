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
    with pytest.raises(InputError, match="candidate: no column 'prediction': there are id, said"):
        compare(
            base, candidate.rename({"pred_label": "said"}), columns={"prediction": "prediction"}
        )
    with pytest.raises(InputError, match="base: no column 'label_'"):
        compare(base, base, columns={"prediction": "label_"})
