"""What is given in place of a table: refused in one line, or taken for what it is."""

import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from unchurn import Columns, InputError, compare

P = np.linspace(0.1, 0.9, 60)
TABLE = pl.DataFrame({"id": range(60), "0": 1 - P, "1": P, "label": np.arange(60) % 2})
TWICE = ["id", "prediction", "prediction"]


@pytest.mark.parametrize("positive", [1, np.int64(1), "1"])
def test_a_class_may_be_a_number(positive):
    asked = {"positive": positive, "probabilities": [0, 1], "threshold": 0.3}
    assert compare(TABLE, TABLE, columns=asked).thresholds_for == "1"


def test_names_go_as_a_list_where_several_go_by_comma():
    two = TABLE.with_columns(shop=pl.lit("a"))
    asked = {"id": ["shop", "id"], "probabilities": ["0", "1"]}
    assert compare(two, two, columns=asked).taken["base"]["id"] == "shop,id"
    for asked in (Columns(prediction="0,1"), {"prediction": [0, 1]}, {"prediction": ("0", "1")}):
        whole = pl.DataFrame({"0": [1, 2], "1": [1, 3]})
        assert compare(whole, whole, columns=asked).estimates["churn"].value == 0.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": {"prediction": 7}}, "base: no column '7'"),
        ({"columns": {"label": ["label"]}}, r"columns: label must be a name, not \['label'\]"),
        ({"columns": {"probabilities": {}}}, "columns: probabilities must be a name, not {}"),
        ({"slices": 3}, "slices must be names of columns, or arrays by name, not 3"),
        ({"slices": [3]}, "no column '3' for slices="),
        ({"min_slice": "5"}, "min_slice must be a whole number of at least 1, not '5'"),
        ({"retrains": 3}, "retrains must be a list of retrainings, or a folder, not 3"),
    ],
)
def test_an_argument_that_cannot_be_is_one_line(given, message):
    with pytest.raises(InputError, match=message):
        compare(TABLE, TABLE, **{"columns": {"probabilities": "0,1"}, **given})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (io.StringIO("id,prediction\n1,a\n"), "is an open file: give its path"),
        (TABLE.lazy(), r"is a LazyFrame: collect\(\) it first"),
        ({"prediction": [1]}, "must be a file's path, a frame, labels .*, not a dict"),
        ({1, 2}, "not a set"),
        ((one for one in "ab"), "not a generator"),
        (None, "not a single value"),
        (np.eye(3, dtype=int), r"labels, one per example, and there are \(3, 3\): of one-hot rows"),
        (np.zeros((2, 2, 2)), r"not \(2, 2, 2\) float64"),
        (pd.DataFrame([[1, "a", "b"]], columns=TWICE), "2 columns are called 'prediction'"),
        (pd.DataFrame([[1, "a", "b"]], columns=["id", "1", 1]), "2 columns are called '1'"),
    ],
)
def test_what_is_no_table_is_one_line(source, message):
    with pytest.raises(InputError, match=f"base: .*{message}"):
        compare(source, ["a", "b"])


def test_a_frame_may_call_its_columns_as_files_and_tables_call_what_they_do():
    frame = pd.DataFrame({"read": [1, 2], "collect": [1, 2], "to_batches": [1, 2]})
    frame["column_names"] = frame["prediction"] = ["a", "b"]
    assert compare(frame, frame).n == 2


def test_a_table_of_pyarrow_is_a_table():
    table = pa.table({"id": [2, 1], "prediction": ["b", "a"]})
    frame = pl.DataFrame({"id": [1, 2], "prediction": ["a", "c"]})
    assert compare(table, frame).estimates["churn"].value == 0.5


def test_a_header_with_a_name_twice_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,prediction,prediction\n1,a,b\n2,a,b\n")
    with pytest.raises(InputError, match="base: 2 columns are called 'prediction'"):
        compare(path, path)
    path.write_text(",,prediction\n1,7,a\n2,8,b\n")  # the levels of an index that has no names
    assert compare(path, path).n == 2


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_json_with_a_key_twice_is_refused(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    first, second = '{"id": 1, "prediction": "a", "prediction": "b"}', '{"id": 2}'
    path.write_text(f"[{first}, {second}]" if ending == "json" else f"{first}\n{second}\n")
    with pytest.raises(InputError, match="2 columns are called 'prediction'"):
        compare(path, path)
    long = [{"id": i, "prediction": "a" * 100_000} for i in range(2)]  # beyond what is looked at
    rows = [json.dumps(row) for row in long]
    path.write_text(f"[{','.join(rows)}]" if ending == "json" else "\n".join(rows))
    assert compare(path, path).n == 2


def test_rows_that_go_by_their_place_have_no_ids_to_lack():
    with pytest.raises(InputError, match=r"^no row has a prediction in both base and candidate$"):
        compare([None, "a"], ["a", None])


def test_a_column_without_a_name_is_listed_as_such():
    table = pl.DataFrame({"": [5, 7], "a": ["x", "y"], "b": ["x", "y"]})
    with pytest.raises(InputError, match=r"there are \(one without a name\), a, b"):
        compare(table, table, columns={"id": ""})
    with pytest.raises(InputError, match=r"'c': there are \(one without a name\), a, b"):
        compare(table, table, columns={"prediction": "c"})
