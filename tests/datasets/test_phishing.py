"""Phishing: tiny ARFF and CSV files are read, and bad ones named."""

from pathlib import Path

import numpy as np
import pytest

from unchurn.core.errors import InputError
from unchurn.datasets import load, phishing


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
