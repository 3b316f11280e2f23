import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unchurn.comparison.inputs.predictions import LABEL, Columns, read_labels, read_predictions
from unchurn.comparison.inputs.sources import PREDICTION
from unchurn.core.errors import InputError

ROWS = {"id": ["a", "b", "c"], "prediction": ["cat", "dog", "dog"], "label": ["cat", "dog", "eel"]}


def predictions(source, **columns):
    return read_predictions(source, "m", Columns(**columns))


def labels_of(source, **columns):
    return predictions(source, **columns).table[PREDICTION].to_list()


def write(path, columns):
    """A file of the kind that its name says."""
    frame = pl.DataFrame(columns)
    if path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".npz":
        np.savez(path, **{name: np.array(values) for name, values in columns.items()})
    else:
        frame.write_ndjson(path)
    return path


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.jsonl", "p.ndjson", "p.npz"])
def test_every_kind_of_file_is_read_alike(tmp_path, name):
    found = predictions(write(tmp_path / name, ROWS))
    assert found.table[PREDICTION].to_list() == ["cat", "dog", "dog"]
    assert found.table[LABEL].to_list() == ["cat", "dog", "eel"]
    assert found.taken == {"id": "id", "prediction": "prediction", "label": "label"}


def test_frames_and_arrays_are_read_alike():
    for source in (pl.DataFrame(ROWS), pd.DataFrame(ROWS), np.array(ROWS["prediction"]),
                   ROWS["prediction"]):  # fmt: skip
        assert labels_of(source) == ["cat", "dog", "dog"]
    assert labels_of(np.array([[0.1, 0.9], [0.8, 0.2]])) == [1, 0]


def test_probabilities_give_the_most_probable_class_or_go_by_a_threshold(tmp_path):
    table = {"id": [1, 2], "prob_no": [0.6, 0.2], "prob_yes": [0.4, 0.8]}
    found = predictions(pl.DataFrame(table))
    assert found.table[PREDICTION].to_list() == ["no", "yes"]
    assert found.classes == ("no", "yes")
    assert found.taken["prediction"] == "the most probable class"
    assert labels_of(pl.DataFrame(table), threshold=0.3, positive="yes") == ["yes", "yes"]
    with pytest.raises(InputError, match="threshold for\\? --positive no or yes"):
        labels_of(pl.DataFrame(table), threshold=0.3)
    for names in (("p_0", "p_1"), ("p_1", "p_0")):  # the columns' order does not matter
        pair = pl.DataFrame({name: [0.4 if name == "p_1" else 0.6] for name in names})
        assert labels_of(pair, threshold=0.3) == [1]
    with pytest.raises(InputError, match="a threshold needs probabilities"):
        labels_of([0, 1], threshold=0.3)
    assert labels_of(pl.DataFrame(table), threshold=0.3, positive="no") == ["no", "yes"]
    single = pl.DataFrame({"score": [0.4, 0.8]})
    assert labels_of(single) == [0, 1]
    assert labels_of(single, threshold=0.3, positive="spam") == ["spam", "spam"]
    assert labels_of(pl.DataFrame({"q": [0.4, 0.8]}), probabilities="q") == [0, 1]
    beside = pl.DataFrame({"p": [0.4, 0.8], "price": [3, 4], "place": ["x", "y"]})
    assert labels_of(beside) == [0, 1]
    path = tmp_path / "p.npz"
    np.savez(path, proba=np.array([[0.1, 0.9], [0.7, 0.3]]), classes=np.array(["no", "yes"]))
    assert labels_of(path) == ["yes", "no"]


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


def test_rows_without_a_prediction_are_left_out_and_counted():
    found = predictions(pl.DataFrame({"id": [1, 2, 3], "prediction": ["x", None, "y"]}))
    assert found.table[PREDICTION].to_list() == ["x", "y"]
    assert found.excluded == {"without a prediction in m": 1}
    gaps = pl.DataFrame({"p_a": [0.5, float("nan")], "p_b": [0.5, 0.5]})
    assert predictions(gaps).excluded == {"without a prediction in m": 1}


def test_labels_may_have_a_file_of_their_own(tmp_path):
    path = write(tmp_path / "l.csv", {"id": [2, 1], "label": ["x", "y"]})
    assert read_labels(path, "labels", Columns()).table[LABEL].to_list() == ["x", "y"]
    assert read_labels([1, 0], "labels", Columns()).n_rows == 2


@pytest.mark.parametrize(
    ("table", "columns", "message"),
    [
        ({"id": [1, 1], "prediction": [0, 1]}, {}, "m: 1 ids are there more than once, such as 1"),
        ({"id": [1, None], "prediction": [0, 1]}, {}, "m: 1 rows have no id, first row 1"),
        ({"id": [1], "guess": [0]}, {}, "m: which column is the prediction?"),
        ({"id": [1], "prediction": [0]}, {"id": "key"}, "m: no column 'key'; there are id"),
        ({"prediction": [0.5]}, {}, "holds fractions, no labels"),
        ({"prediction": [[0]]}, {}, "no labels"),
        ({"p_a": [0.5], "p_b": [0.4]}, {}, "1 rows do not sum to 1, first in row 0"),
        ({"p_a": [1.5], "p_b": [-0.5]}, {}, "has 1.5 in row 0: no probability"),
        ({"p_a": ["x"], "p_b": ["y"]}, {}, "column 'p_a' is not all numbers"),
        ({"prediction": [1]}, {"probabilities": "z_"}, "no column 'z_' and no two columns"),
        ({"p_a": [1.0], "p_b": [0.0]}, {"positive": "c"}, "no probability of 'c'; of a, b"),
        (
            {"p_a": [1.0], "p_b": [0.0], "p_c": [0.0]}, {"threshold": 0.5},
            "a threshold is for two classes, not 3",
        ),
        ({"prediction": [None, None]}, {}, "no row has a prediction"),
        ({"id": [], "prediction": []}, {}, "has no rows"),
    ],
)  # fmt: skip
def test_bad_tables_are_named(table, columns, message):
    with pytest.raises(InputError) as error:
        predictions(pl.DataFrame(table), **columns)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", b"", "p.csv"),
        ("p.jsonl", b"", "p.jsonl: is empty"),
        ("p.jsonl", b"{not json", "p.jsonl: damaged"),
        ("p.parquet", b"\x00\xff\x00", "p.parquet: damaged"),
        ("p.npz", b"PK\x03\x04rest", "p.npz: damaged"),
        ("p.xlsx", b"", "the name must end in .csv"),
    ],
)
def test_bad_files_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        predictions(tmp_path / name)
    assert message in str(error.value)


def test_objects_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "p.npz", prediction=np.array([{"a": 1}], object))
    with pytest.raises(InputError, match="damaged"):
        predictions(tmp_path / "p.npz")


def test_json_lines_with_missing_keys(tmp_path):
    rows = [{"id": 1, "prediction": "x"}, {"id": 2}]
    (tmp_path / "p.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    assert predictions(tmp_path / "p.jsonl").excluded == {"without a prediction in m": 1}


def test_a_named_column_is_not_guessed_for_something_else_too():
    found = predictions(pl.DataFrame({"label": [0, 1], "y": [1, 1]}), prediction="label")
    assert found.taken["label"] == "y"
    found = predictions(pl.DataFrame({"score": ["a", "b"]}), prediction="score")
    assert "probabilities" not in found.taken


def test_what_stands_for_a_gap_among_numbers_is_no_class():
    found = predictions(pl.DataFrame({"prediction": ["0", "NA", "1"]}))
    assert found.table[PREDICTION].to_list() == [0, 1]
    assert found.excluded == {"without a prediction in m": 1}
    assert labels_of(pl.DataFrame({"prediction": ["NA", "DE"]})) == ["NA", "DE"]  # countries
    found = predictions(pl.DataFrame({"p_0": ["0.5", "NA"], "p_1": ["0.5", "0.1"]}))
    assert found.excluded == {"without a prediction in m": 1}


def test_a_guess_of_probabilities_may_be_wrong_beside_a_prediction():
    table = pl.DataFrame({"prediction": [0, 1], "score": [-3.2, 4.1]})
    found = predictions(table)
    assert found.classes == ()
    assert found.taken["probabilities"].startswith("none ('score' has -3.2 in row 0: no prob")
    with pytest.raises(InputError, match="no probability"):
        predictions(table, probabilities="score")
    with pytest.raises(InputError, match="no probability"):
        predictions(table, threshold=0.5)


def test_probabilities_may_miss_their_range_by_rounding():
    found = predictions(pl.DataFrame({"p_0": [1 + 1e-9, 0.0], "p_1": [-1e-9, 1.0]}))
    assert found.table["\0p 0"].to_list() == [1.0, 0.0]


def test_a_guessed_score_is_of_the_class_1_or_of_none():
    table = pl.DataFrame({"prediction": ["a", "b"], "score": [0.3, 0.9]})
    found = predictions(table)
    assert found.classes == ()
    assert found.taken["probabilities"] == "none (of which class is 'score'? Say --positive)"
    assert predictions(table, positive="a").taken["probabilities"] == "score (of class a)"
    named = predictions(pl.DataFrame({"prediction": [0, 1], "score": [0.3, 0.9]}))
    assert named.taken["probabilities"] == "score (of class 1)"


def test_labels_as_pandas_writes_them_beside_gaps():
    assert labels_of(pl.DataFrame({"prediction": ["1.0", "NA", "0.0"]})) == [1, 0]
    assert labels_of(pl.DataFrame({"prediction": ["True", "<NA>", "False"]})) == ["true", "false"]
    assert labels_of(pl.DataFrame({"prediction": ["007", "7"]})) == ["007", "7"]


def test_the_models_columns_are_not_asked_of_the_labels():
    truth = pl.DataFrame({"id": [1], "label": ["a"]})
    assert read_labels(truth, "labels", Columns(prediction="out")).table[LABEL].to_list() == ["a"]


def test_a_class_is_spelled_alike_whatever_stands_beside_it():
    assert labels_of(pl.DataFrame({"prediction": ["True", "False"]})) == ["true", "false"]
    assert labels_of(pl.DataFrame({"prediction": ["True", "Unknown"]})) == ["true", "Unknown"]
    assert labels_of(pl.DataFrame({"prediction": ["1.0", "Unknown"]})) == ["1", "Unknown"]
    table = pl.DataFrame({"proba_False": [0.9, 0.2], "proba_True": [0.1, 0.8]})
    found = predictions(table, positive="True", threshold=0.5)
    assert found.classes == ("false", "true")
    assert found.table[PREDICTION].to_list() == ["false", "true"]
    with pytest.raises(InputError, match="two columns are probabilities of '1'"):
        predictions(pl.DataFrame({"p_1": [0.5], "p_1.0": [0.5]}))


def test_a_column_of_probabilities_names_a_class_even_where_it_reads_like_a_gap():
    table = pl.DataFrame({"p_1": [0.1, 0.9], "p_None": [0.9, 0.1]})
    assert labels_of(table) == ["None", "1"]


def test_tensors_are_arrays():
    torch = pytest.importorskip("torch")
    logits = torch.tensor([[0.1, 0.9], [0.8, 0.2]], requires_grad=True)
    assert labels_of(logits) == [1, 0]
    with pytest.raises(InputError, match=r"m has dtype torch.bfloat16: pass m.float\(\)"):
        labels_of(logits.bfloat16())
    with pytest.raises(InputError, match="m: the array holds fractions"):
        labels_of([1.5, 2.5])


def test_spaces_behind_a_csvs_commas_do_not_matter(tmp_path):
    (tmp_path / "p.csv").write_text(
        "id, prediction, p_cat, p_dog\n1, cat, 0.9, 0.1\n2, dog, 0, 1\n"
    )
    found = predictions(tmp_path / "p.csv", prediction="prediction")
    assert found.table[PREDICTION].to_list() == ["cat", "dog"]
    assert found.classes == ("cat", "dog")


def test_what_is_no_file_of_its_kind_is_said(tmp_path):
    (tmp_path / "p.npz").write_text("hello")
    with pytest.raises(InputError, match=r"p\.npz: damaged, .*: nothing in it can be read"):
        predictions(tmp_path / "p.npz")
    with pytest.raises(InputError, match="is a folder"):
        predictions(tmp_path)
