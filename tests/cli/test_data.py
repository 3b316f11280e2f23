import re

from unchurn.datasets import DATASETS


def test_data_list_says_what_is_here(run, tmp_path, monkeypatch):
    (tmp_path / "data/phishing").mkdir(parents=True)
    (tmp_path / "data/phishing/Training Dataset.arff").touch()
    (tmp_path / "cache/svhn").mkdir(parents=True)
    for part in ("train", "test"):
        (tmp_path / f"cache/svhn/{part}_32x32.mat").touch()
    (tmp_path / "cache/mnist").mkdir()
    (tmp_path / "cache/mnist/t10k-labels-idx1-ubyte.gz").touch()
    monkeypatch.setenv("UNCHURN_DATA", str(tmp_path / "data"))
    code, out, _ = run("data", "list")
    assert code == 0
    rows = [re.split(r"  +", line.strip()) for line in out.splitlines()]
    here = {row[0]: row[-1] for row in rows if row[0] in DATASETS}
    assert here == {
        "digits": "embedded",
        "two_gaussians": "embedded",
        "mnist": "1 of 4",
        "fashion_mnist": "no",
        "svhn": "cache",
        "celeba_smiling": "no",
        "celeba_high_cheekbones": "no",
        "phishing": "data folder",
    }
    assert max(map(len, out.splitlines()[:9])) <= 80
    assert str(tmp_path / "cache") in out
    monkeypatch.delenv("UNCHURN_DATA")
    assert re.search(r"phishing +2 +7,406 +3,649 +nothing +embedded", run("data", "list")[1])


def test_data_fetch_says_where_the_files_are(run, tmp_path, monkeypatch):
    assert run("data", "fetch", "digits") == (0, "digits: needs no files\n", "")
    assert run("data", "fetch", "phishing") == (0, "phishing: needs no files\n", "")
    (tmp_path / "data/phishing").mkdir(parents=True)
    (tmp_path / "data/phishing/phishing.csv").touch()
    monkeypatch.setenv("UNCHURN_DATA", str(tmp_path / "data"))
    code, out, _ = run("data", "fetch", "phishing")
    assert (code, out) == (0, f"phishing: {tmp_path}/data/phishing/phishing.csv\n")
