from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unchurn.core.errors import InputError
from unchurn.neighbors.logit_files import read_columns, read_logits_and_labels, write_columns

VALUES = np.array([[0.5, 0.25], [0.125, 1.0]], np.float32)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".parquet"])
def test_what_is_written_is_read_back(tmp_path, suffix):
    path = tmp_path / f"targets{suffix}"
    write_columns(path, VALUES, ["cat", "dog"])
    array, names = read_columns(path, ["targets"])
    np.testing.assert_array_equal(array, VALUES)
    assert names == (("cat", "dog") if suffix in (".csv", ".parquet") else None)
    assert list(tmp_path.iterdir()) == [path]


def test_same_content_same_bytes(tmp_path):
    for suffix in (".npy", ".npz", ".csv", ".parquet"):
        one, two = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
        for path in (one, two):
            write_columns(path, VALUES, ["cat", "dog"])
        assert one.read_bytes() == two.read_bytes()


def test_pickles_are_not_loaded(tmp_path):
    np.save(tmp_path / "evil.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(InputError, match="holds Python objects, which are never read"):
        read_columns(tmp_path / "evil.npy", [])


def write_inputs(folder: Path, logits: pl.DataFrame, labels: pl.DataFrame) -> tuple[Path, Path]:
    logits.write_csv(folder / "logits.csv")
    labels.write_parquet(folder / "labels.parquet")
    return folder / "logits.csv", folder / "labels.parquet"


NAMED = pl.DataFrame({"dog": [1.0, 0.0, 0.5], "cat": [0.0, 1.0, 0.5], "eel": [0.0, 0.0, 0.0]})


def test_labels_are_looked_up_among_the_logits_columns(tmp_path):
    labels = pl.DataFrame({"id": [7, 8, 9], "label": ["dog", "cat", "dog"]})
    data = read_logits_and_labels(*write_inputs(tmp_path, NAMED, labels))
    assert data.classes == ("dog", "cat", "eel")  # eel has no example, yet keeps its column
    assert data.labels.tolist() == [0, 1, 0]


def test_labels_are_numbered_in_sorted_order_where_columns_do_not_name_them(tmp_path):
    logits = NAMED.rename({"dog": "x", "cat": "y", "eel": "z"})
    labels = pl.DataFrame({"animal": ["dog", "cat", "eel"]})
    data = read_logits_and_labels(*write_inputs(tmp_path, logits, labels))
    assert data.classes == ("cat", "dog", "eel")
    assert data.labels.tolist() == [1, 0, 2]


def test_a_single_column_is_a_binary_margin(tmp_path):
    labels = pl.DataFrame({"label": ["yes", "no", "no"]})
    data = read_logits_and_labels(*write_inputs(tmp_path, NAMED.select("dog"), labels))
    assert data.logits.shape == (3, 1)
    assert data.classes == ("no", "yes")


@pytest.mark.parametrize(
    ("logits", "labels", "message"),
    [
        (NAMED, pl.DataFrame({"a": [0, 1, 2], "b": [0, 1, 2]}), r"\(a, b\): call the one to use"),
        (NAMED, pl.DataFrame({"label": [0, 1, 3]}), r"labels.parquet: label 3 at row 2"),
        (NAMED, pl.DataFrame({"label": [0, 1]}), "2 labels for 3 rows"),
        (NAMED, pl.DataFrame({"label": [0, None, 1]}), "missing values in label"),
        (NAMED, pl.DataFrame({"label": ["ant", "bee", "ant"]}), "2 distinct labels for 3 classes"),
        (NAMED, pl.DataFrame({"label": ["cat", "eeel", "dog"]}), "'eeel' is no column of the log"),
        (NAMED.with_columns(id=pl.Series([1, 2, 3])), NAMED, "column 'id' does not look like"),
        (NAMED.with_columns(eel=pl.lit("x")), NAMED, "logits must be a table of numbers"),
    ],
)
def test_inputs_that_do_not_fit_are_named(tmp_path, logits, labels, message):
    with pytest.raises(InputError, match=message):
        read_logits_and_labels(*write_inputs(tmp_path, logits, labels))


def test_an_archive_of_several_arrays_needs_a_name(tmp_path):
    np.savez(tmp_path / "two.npz", one=VALUES, two=VALUES)
    with pytest.raises(InputError, match="holds one, two; call the one to use logits"):
        read_columns(tmp_path / "two.npz", ["logits"])
    np.testing.assert_array_equal(read_columns(tmp_path / "two.npz", ["two"])[0], VALUES)


def test_what_pandas_writes_is_read_or_refused(tmp_path, rng):
    """A header that counts the columns is a header; the index is not a logit."""
    frame, labels = pd.DataFrame(rng.normal(size=(20, 3))), pd.Series(np.arange(20) % 3)
    files = tmp_path / "logits.csv", tmp_path / "labels.csv"
    frame.to_csv(files[0], index=False)
    labels.to_csv(files[1], index=False, header=["label"])
    np.testing.assert_allclose(read_logits_and_labels(*files).logits, frame)
    labels.to_csv(files[1], index=False)  # its header is 0, like a label
    with pytest.raises(InputError, match=r"labels\.csv: one label more than rows of logits"):
        read_logits_and_labels(*files)
    frame.to_csv(files[0])
    with pytest.raises(InputError, match="column '' does not look like logits"):
        read_logits_and_labels(*files)
    frame[[0]].to_csv(files[0], index=False)
    with pytest.raises(InputError, match="is the 0 in its first line a name"):
        read_logits_and_labels(*files)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\nnan,4\n5,6\n", "(row 1 holds NaN|a has 'nan' in row 1)"),
        ("a,b\n1,2\nNA,4\n5,6\n", "a has 'NA' in row 1"),
        ("a,b\n1,2\ninf,4\n5,6\n", "(row 1 holds NaN or infinity|a has 'inf' in row 1)"),
        ("\n1,2\n", "its first line is empty"),
    ],
)
def test_logits_that_are_not_all_numbers_are_named_by_row(tmp_path, text, message):
    (tmp_path / "logits.csv").write_text(text)
    np.save(tmp_path / "labels.npy", [0, 1, 1])
    with pytest.raises(InputError, match=rf"logits\.csv: {message}"):
        read_logits_and_labels(tmp_path / "logits.csv", tmp_path / "labels.npy")


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".parquet"])
def test_a_full_disk_is_named_and_nothing_is_left(tmp_path, monkeypatch, suffix):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    for target in ("numpy.save", "numpy.savez", "polars.DataFrame.write_csv"):
        monkeypatch.setattr(target, full)
    monkeypatch.setattr("polars.DataFrame.write_parquet", full)
    with pytest.raises(InputError, match=rf"cannot write .*soft\{suffix}: No space left"):
        write_columns(tmp_path / f"soft{suffix}", VALUES, ["cat", "dog"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_any_damage_to_an_archive_is_an_input_error(tmp_path, rng, suffix):
    path = tmp_path / f"targets{suffix}"
    write_columns(path, np.tile(VALUES, (500, 1)), ["cat", "dog"])
    whole = path.read_bytes()
    for _ in range(60):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), 8):
            damaged[place] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            read_columns(path, ["targets"])
        except InputError as error:
            assert path.name in str(error)  # noqa: PT017


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".parquet"])
def test_damaged_files_are_named(tmp_path, suffix):
    path = tmp_path / f"bad{suffix}"
    for content in (b"", bytes(range(256))):
        path.write_bytes(content)
        with pytest.raises(InputError, match=rf"bad\{suffix}"):
            read_columns(path, [])


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"must end in \.csv, .*, \.xlsx, \.npy, \.npz"):
        read_columns(tmp_path / "x.pkl", [])
