"""Files, frames and arrays are opened alike, and what is no table is named."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import toys
from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.inputs.predictions import read_predictions
from unchurn.comparison.inputs.sources import open_source
from unchurn.core.errors import InputError

ROWS = toys.PREDICTIONS
write = toys.write_table


def predictions(source, **columns):
    return read_predictions(source, "m", Columns(**columns))


def labels_of(source, **columns):
    return predictions(source, **columns).predicted.to_list()


@pytest.mark.parametrize(
    "name", ["p.csv", "p.parquet", "p.json", "p.jsonl", "p.ndjson", "p.npz", "p.xlsx", "p.feather"]
)
def test_every_kind_of_file_is_read_alike(tmp_path, name):
    found = predictions(write(tmp_path / name, ROWS))
    assert found.predicted.to_list() == ["cat", "dog", "dog"]
    assert found.labels.to_list() == ["cat", "dog", "eel"]
    assert found.taken == {"id": "id", "prediction": "prediction", "label": "label"}


def test_frames_and_arrays_are_read_alike():
    for source in (pl.DataFrame(ROWS), pd.DataFrame(ROWS), np.array(ROWS["prediction"]),
                   ROWS["prediction"]):  # fmt: skip
        assert labels_of(source) == ["cat", "dog", "dog"]
    assert labels_of(np.array([[0.1, 0.9], [0.8, 0.2]])) == [1, 0]


def test_a_file_of_one_array_is_read_as_the_array(tmp_path):
    np.save(tmp_path / "labels.npy", np.array(ROWS["prediction"]))
    assert labels_of(tmp_path / "labels.npy") == ["cat", "dog", "dog"]
    np.save(tmp_path / "p.npy", np.array([[0.1, 0.9], [0.8, 0.2]]))
    assert labels_of(tmp_path / "p.npy") == [1, 0]
    with pytest.raises(InputError, match=r"m: no column 'x': it is an array"):
        predictions(tmp_path / "labels.npy", prediction="x")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", b"", "p.csv"),
        ("p.jsonl", b"", "p.jsonl: is empty"),
        ("p.jsonl", b"{not json", "p.jsonl: damaged"),
        ("p.parquet", b"\x00\xff\x00", "p.parquet: damaged"),
        ("p.npz", b"PK\x03\x04rest", "p.npz: damaged"),
        ("p.npy", b"\x93NUMPY\x01\x00", "p.npy: damaged"),
        ("p.csv", b"", "p.csv: is empty"),
        ("p.json", b"", "p.json: is empty"),
        ("p.json", b'{"id": {"0": 1}}', "p.json: is no list of rows: pandas writes one by"),
        ("p.json", b'[{"id": 1}, ', "p.json: damaged"),
        ("p.xlsx", b"", "p.xlsx: damaged, or not an Excel workbook"),
        ("p.ods", b"", "p.ods: is a workbook: save it as .xlsx"),
        ("p.dat", b"", "the name must end in .csv"),
    ],
)
def test_bad_files_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        predictions(tmp_path / name)
    assert message in str(error.value)


def test_objects_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "p.npz", prediction=np.array([{"a": 1}], object))
    fix = r"holds Python objects, which are never read: save it as text, \.astype\(str\), or as"
    with pytest.raises(InputError, match=rf"p\.npz: prediction {fix} numbers"):
        predictions(tmp_path / "p.npz")
    np.save(tmp_path / "p.npy", np.array(["cat", "dog"], object), allow_pickle=True)
    with pytest.raises(InputError, match=rf"p\.npy: the array {fix}"):
        predictions(tmp_path / "p.npy")


def test_json_lines_with_missing_keys(tmp_path):
    rows = [{"id": 1, "prediction": "x"}, {"id": 2}]
    (tmp_path / "p.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    assert predictions(tmp_path / "p.jsonl").excluded == {"without a prediction in m": 1}


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
    assert found.predicted.to_list() == ["cat", "dog"]
    assert list(found.probabilities) == ["cat", "dog"]


def test_what_is_no_file_of_its_kind_is_said(tmp_path):
    (tmp_path / "p.npz").write_text("hello")
    with pytest.raises(InputError, match=r"p\.npz: damaged, .*: nothing in it can be read"):
        predictions(tmp_path / "p.npz")
    with pytest.raises(InputError, match="is a folder"):
        predictions(tmp_path)


def test_a_file_s_name_is_no_pattern(tmp_path):
    path = tmp_path / "c[1]*.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(path)
    pl.DataFrame({"b": [1]}).write_parquet(tmp_path / "c1.parquet")
    assert open_source(path, "it").names == ("a",)


def test_of_a_parquet_file_only_the_needed_columns_are_read(tmp_path):
    path = write(tmp_path / "p.parquet", {**ROWS, "embedding": [1, 2, 3]})
    source = open_source(path, "m")
    assert source.names == ("id", "prediction", "label", "embedding")
    assert source.read(["prediction", "id"]).columns == ["prediction", "id"]


def test_a_column_that_an_array_cannot_have_is_named():
    with pytest.raises(InputError, match="m: no column 'key': it is an array"):
        predictions(["cat", "dog"], id="key")


def test_a_list_of_rows_may_begin_with_a_mark_and_must_have_rows(tmp_path):
    rows = json.dumps([{"id": 1, "prediction": "a"}, {"id": 2, "prediction": "b"}])
    (tmp_path / "p.json").write_bytes(b"\xef\xbb\xbf" + rows.encode())
    assert labels_of(tmp_path / "p.json") == ["a", "b"]
    (tmp_path / "p.json").write_text("[ ]")
    with pytest.raises(InputError, match=r"p.json: has no rows"):
        labels_of(tmp_path / "p.json")
