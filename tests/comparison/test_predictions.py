import numpy as np
import polars as pl
import pytest

import toys
from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.inputs.predictions import read_labels, read_predictions
from unchurn.core.errors import InputError

ROWS = toys.PREDICTIONS
write = toys.write_table


def predictions(source, **columns):
    return read_predictions(source, "m", Columns(**columns))


def labels_of(source, **columns):
    return predictions(source, **columns).predicted.to_list()


def test_probabilities_give_the_most_probable_class_or_go_by_a_threshold(tmp_path):
    table = {"id": [1, 2], "prob_no": [0.6, 0.2], "prob_yes": [0.4, 0.8]}
    found = predictions(pl.DataFrame(table))
    assert found.predicted.to_list() == ["no", "yes"]
    assert list(found.probabilities) == ["no", "yes"]
    assert found.taken["prediction"] == "the most probable class"
    assert labels_of(pl.DataFrame(table), threshold=0.3, positive="yes") == ["yes", "yes"]
    with pytest.raises(InputError, match="threshold for\\? Give positive= no or yes"):
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


def test_rows_without_a_prediction_are_left_out_and_counted():
    found = predictions(pl.DataFrame({"id": [1, 2, 3], "prediction": ["x", None, "y"]}))
    assert found.predicted.to_list() == ["x", "y"]
    assert found.excluded == {"without a prediction in m": 1}
    gaps = pl.DataFrame({"p_a": [0.5, float("nan")], "p_b": [0.5, 0.5]})
    assert predictions(gaps).excluded == {"without a prediction in m": 1}


def test_labels_may_have_a_file_of_their_own(tmp_path):
    path = write(tmp_path / "l.csv", {"id": [2, 1], "label": ["x", "y"]})
    assert read_labels(path, "labels", Columns()).labels.to_list() == ["x", "y"]
    assert read_labels([1, 0], "labels", Columns()).n_rows_if_no_ids == 2


@pytest.mark.parametrize(
    ("table", "columns", "message"),
    [
        ({"id": [1, 1], "prediction": [0, 1]}, {}, "m: 1 ids are there more than once, such as 1"),
        ({"id": [1, 1], "prediction": [0, 1]}, {}, "who has several, name it with cluster="),
        ({"id": [1, None], "prediction": [0, 1]}, {}, "m: 1 rows have no id, first row 1"),
        ({"id": [1], "guess": [0], "hunch": [0]}, {}, "m: which column is the prediction?"),
        ({"id": [1], "prediction": [0]}, {"id": "key"}, "m: no column 'key': there are id"),
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


def test_a_guess_of_probabilities_may_be_wrong_beside_a_prediction():
    table = pl.DataFrame({"prediction": [0, 1], "score": [-3.2, 4.1]})
    found = predictions(table)
    assert found.probabilities == {}
    assert found.taken["probabilities"].startswith("none ('score' has -3.2 in row 0: no prob")
    with pytest.raises(InputError, match="no probability"):
        predictions(table, probabilities="score")
    with pytest.raises(InputError, match="no probability"):
        predictions(table, threshold=0.5)


def test_probabilities_may_miss_their_range_by_rounding():
    found = predictions(pl.DataFrame({"p_0": [1 + 1e-9, 0.0], "p_1": [-1e-9, 1.0]}))
    assert found.probabilities["0"].to_list() == [1.0, 0.0]


def test_a_guessed_score_is_of_the_class_1_or_of_none():
    table = pl.DataFrame({"prediction": ["a", "b"], "score": [0.3, 0.9]})
    found = predictions(table)
    assert found.probabilities == {}
    assert found.taken["probabilities"] == (
        "none (of which class is 'score'? Name the positive one, a or b)"
    )
    assert predictions(table, positive="a").taken["probabilities"] == (
        "score (taken for the probability of class a)"
    )
    named = predictions(pl.DataFrame({"prediction": [0, 1], "score": [0.3, 0.9]}))
    assert named.taken["probabilities"] == ("score (taken for the probability of class 1)")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("cat\ndog\ncat\n", {}),
        ("7,cat\n8,dog\n9,cat\n", {"prediction": "cat"}),
        ("7,cat,ant\n8,dog,bee\n9,eel,ant\n", {"prediction": "cat", "label": "ant"}),
    ],
)
def test_a_text_without_a_header_does_not_lose_its_first_row(tmp_path, text, asked):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=r"a\.csv: seems to have no header: .* Write names above"):
        read_predictions(tmp_path / "a.csv", "a.csv", Columns(**asked))


def test_a_class_may_be_called_as_its_column(tmp_path):
    (tmp_path / "a.csv").write_text("id,spam\n1,spam\n2,ham\n")
    assert len(read_predictions(tmp_path / "a.csv", "a", Columns(prediction="spam")).ids) == 2
    (tmp_path / "b.csv").write_text("ham\nspam\nham\n")
    with pytest.raises(InputError, match="labels: seems to have no header"):
        read_labels(tmp_path / "b.csv", "labels", Columns())
