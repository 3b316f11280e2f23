"""Phishing: inside the package; tiny ARFF and CSV files are read, and bad ones named."""

from pathlib import Path

import numpy as np
import pytest

from unchurn.core.errors import InputError
from unchurn.datasets import load, phishing
from unchurn.datasets.embedded import PHISHING_FILE, pack
from unchurn.datasets.find import cache_dir

# Of what the ARFF file gives: the runs that are committed, and kept by others, are known by it.
FINGERPRINT = "732529fe9d137c70383776da0a0e1913814a2c18198a1351c3e8e0968f86b333"


def phishing_rows(n: int = 12) -> list[str]:
    features = np.random.default_rng(0).integers(-1, 2, (n, 30))
    return [",".join(map(str, [*row, 1 if i % 3 else -1])) for i, row in enumerate(features)]


def write_arff(folder: Path, rows: list[str]) -> Path:
    names = [*phishing.FEATURES, phishing.TARGET]
    head = ["@relation phishing", "", *(f"@attribute {name} {{-1,0,1}}" for name in names), "@data"]
    path = folder / "phishing/Training Dataset.arff"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\r\n".join([*head, *rows]))
    return path


def test_phishing_arff_and_csv_are_the_same(tmp_path):
    rows = phishing_rows()
    write_arff(tmp_path, rows)
    arff = load("phishing", tmp_path)
    names = ["index", *phishing.FEATURES, phishing.TARGET]
    csv = tmp_path / "csv/phishing/phishing.csv"
    csv.parent.mkdir(parents=True)
    csv.write_text("\n".join([",".join(names), *(f"{i},{row}" for i, row in enumerate(rows))]))
    from_csv = load("phishing", tmp_path / "csv")
    assert arff.fingerprint == from_csv.fingerprint
    assert arff.x_train.shape == (8, 30)
    assert len(arff.x_test) == 4
    assert set(np.unique(arff.x_train)) == {-1, 0, 1}
    assert arff.classes == ("phishing", "legitimate")


def test_damaged_phishing_files(tmp_path):
    rows = phishing_rows()
    path = write_arff(tmp_path, rows)
    path.write_text(path.read_text()[:-20])
    with pytest.raises(InputError, match=r"Training Dataset\.arff: damaged, or not an ARFF file"):
        load("phishing", tmp_path)
    write_arff(tmp_path, [*rows, ",".join(["0"] * 31)])
    with pytest.raises(InputError, match="Result −1 or 1"):
        load("phishing", tmp_path)
    write_arff(tmp_path, rows[:1])
    with pytest.raises(InputError, match="1 rows are too few to split"):
        load("phishing", tmp_path)
    path.unlink()
    (path.parent / "phishing.csv").write_text("a,Result\n1,1\n")
    with pytest.raises(InputError, match=r"phishing\.csv: no column having_IP_Address, "):
        load("phishing", tmp_path)


def test_what_is_embedded_needs_no_file_and_is_what_was_published(tmp_path):
    data = load("phishing", tmp_path)  # a folder of one's own, without it
    assert data.fingerprint == FINGERPRINT
    assert data.notes == ()
    assert data.test_rows.columns == list(phishing.FEATURES)
    assert not cache_dir().exists()
    assert PHISHING_FILE.stat().st_size < 100_000


def test_the_publishers_file_gives_the_same(real_data, tmp_path):
    assert load("phishing", real_data).fingerprint == FINGERPRINT
    again = tmp_path / "again.npy"
    pack(phishing.read(real_data / phishing.ARFF.path), again)
    assert again.read_bytes() == PHISHING_FILE.read_bytes()


def test_a_file_of_ones_own_goes_before_what_is_embedded(tmp_path, monkeypatch):
    write_arff(tmp_path, phishing_rows())
    monkeypatch.setenv("UNCHURN_DATA", str(tmp_path))
    data = load("phishing")
    assert len(data.x_train) == 8
    assert "not the published file" in data.notes[0]


def test_all_three_values_are_packed_in_any_column(tmp_path, monkeypatch):
    from unchurn.datasets import embedded

    values = np.random.default_rng(0).integers(-1, 2, (50, 32))
    pack(values, tmp_path / "packed.npy")
    monkeypatch.setattr(embedded, "PHISHING_FILE", tmp_path / "packed.npy")
    assert (embedded.unpack(32) == values).all()
