import csv
import io
import json

import numpy as np
import pytest

import toys
from unchurn.core.errors import InputError
from unchurn.paper.experiments import experiments
from unchurn.paper.page import page, write_page
from unchurn.paper.record_numbers import numbers
from unchurn.paper.records import NEVER_RIGHT, as_published, keep, read

pytestmark = pytest.mark.usefixtures("small_phishing")
COMMAND = "unchurn reproduce table1 --dataset phishing --runs 3 --epochs 2"


@pytest.fixture
def result(tmp_path):
    (experiment,) = experiments("table1", "phishing", runs=3, epochs=2).values()
    # k=500 needs more rows than these: one setting that fails is wanted here
    return as_published(toys.carry_out(experiment, tmp_path))


def test_what_is_kept_is_read_back(result, tmp_path):
    keep(tmp_path / "r", "table1-phishing", "table1", result, COMMAND)
    kept = read(tmp_path / "r/table1-phishing.json")
    assert kept.is_main
    for ours, theirs in zip(kept.result.settings, result.settings, strict=True):
        assert ours.setting == theirs.setting
        assert ours.summary == theirs.summary
        assert ours.failures == theirs.failures
    assert kept.result.difference("anchor", "control") == result.difference("anchor", "control")
    assert kept.result.subject.to_dict() == result.subject.to_dict()
    assert numbers("table1", kept.result, COMMAND) == numbers("table1", result, COMMAND)


def test_labels_are_kept_only_where_a_run_was_right(result, tmp_path):
    keep(tmp_path, "t", "table1", result, COMMAND)
    with np.load(tmp_path / "t.npz") as arrays:
        hit = (arrays["predictions"] == result.subject.labels["test"][:, None, None]).any((1, 2))
        right = arrays["right"]
    assert (right[~hit] == NEVER_RIGHT).all()
    np.testing.assert_array_equal(right[hit], result.subject.labels["test"][hit])


def test_rows_name_their_command_the_papers_numbers_and_a_hash(result):
    rows = list(csv.DictReader(io.StringIO(numbers("table1", result, COMMAND))))
    by_method = {row["method"]: row for row in rows}
    control = by_method["control"]
    assert control["paper_churn"] == "2.25"
    assert control["paper_churn_sd"] == "0.59"
    assert control["command"] == f"{COMMAND} --methods control"
    assert float(control["churn"]) == pytest.approx(
        100 * result.choose()["control"].summary["test"].churn.mean, abs=1e-4
    )
    assert len({row["predictions_sha256"] for row in rows if not row["failure"]}) > 5
    assert "k=500 is more than the 201 training examples" in by_method["knn_ls"]["failure"]
    assert by_method["knn_ls"]["churn"] == ""


def test_damage_is_noticed(result, tmp_path):
    keep(tmp_path, "t", "table1", result, COMMAND)
    damaged = bytearray((tmp_path / "t.npz").read_bytes())
    damaged[-100] ^= 1
    (tmp_path / "t.npz").write_bytes(damaged)
    with pytest.raises(InputError, match=r"t\.npz: its checksum is not the one recorded"):
        read(tmp_path / "t.json")
    (tmp_path / "t.json").write_text("{")
    with pytest.raises(InputError, match="damaged, or not a kept result"):
        read(tmp_path / "t.json")


def test_the_page_shows_ours_beside_the_papers(result, tmp_path):
    keep(tmp_path / "r", "table1-phishing", "table1", result, COMMAND)
    written = write_page(tmp_path / "r")
    assert {path.name for path in written} == {
        "r.md", "table1-phishing.csv", "figure1.svg", "against-the-paper.svg",
    }  # fmt: skip
    text = (tmp_path / "r.md").read_text()
    assert text == page(tmp_path / "r")
    assert "Smaller than the study: 201 of 7,406 train" in text
    assert "| control |" in text
    assert "2.25 (0.59)" in text
    assert f"`{COMMAND}`" in text
    commit = json.loads((tmp_path / "r/table1-phishing.json").read_text())["commit"]
    assert commit in text


def test_a_page_needs_results(tmp_path):
    with pytest.raises(InputError, match="no results are there"):
        write_page(tmp_path)
