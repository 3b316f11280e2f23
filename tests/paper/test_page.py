"""The page of results whose numbers are known by counting."""

import json
from dataclasses import replace

import numpy as np
import pytest

import toys
from unchurn import InputError
from unchurn.paper import figures
from unchurn.paper.page import page, write_page
from unchurn.paper.records import keep, read_all
from unchurn.paper.studies import STUDIES

N = 400
LABELS = np.arange(N) % 2
SINGLE = [setting.name for setting in STUDIES["table1"].settings("phishing")]


def runs(flips):
    """Five runs, each of which is wrong on so many examples of its own: two differ on 2 * flips."""
    predictions = np.tile(LABELS, (5, 1))
    for run in range(5):
        predictions[run, run * flips : (run + 1) * flips] ^= 1
    return predictions


def fabricate(folder, study, dataset, predictions, notes=()):
    """Keep a result of a study with these predictions; a method without any failed."""
    settings = STUDIES[study].settings(dataset)
    rows = [(setting, predictions(setting)) for setting in settings]
    rows = [(setting, "run 0: it failed" if p is None else p) for setting, p in rows]
    made = toys.result(rows, LABELS, name=dataset, runs=5, n_train=N, notes=notes)
    result = replace(made, made_by=("by hand",), seconds=1.0)
    keep(folder, f"{study}-{dataset}", study, result, f"unchurn reproduce {study}")


def fabricate_part(folder, study, dataset, names, options="", keep_only=None):
    """Keep a result of some methods of a study, or of only their first settings."""
    settings = [one for one in STUDIES[study].settings(dataset) if one.name in names][:keep_only]
    made = toys.result(
        [(one, runs(3)) for one in settings], LABELS, name=dataset, runs=5, n_train=N
    )
    command = f"unchurn reproduce {study} --dataset {dataset}{options} --methods {','.join(names)}"
    result = replace(made, made_by=("by hand",), seconds=1.0)
    keep(folder, f"{study}-{dataset}-{'-'.join(names)}", study, result, command)


def row_of(text, heading, start="| phishing"):
    lines = text[text.index(heading) :].splitlines()
    return next([c.strip() for c in line.split("|")] for line in lines if line.startswith(start))


def test_the_summary_counts(tmp_path):
    flips = {name: 10 + i for i, name in enumerate(SINGLE)} | {"knn_ls": 2, "mixup": 1}
    fabricate(tmp_path, "table1", "phishing", lambda setting: runs(flips[setting.name]))
    text = page(tmp_path)
    assert "lower than control's on 1 of 1 datasets, beyond chance on 1." in text
    against = row_of(text, "control → k-NN")
    assert against[2] == "5.00 → 1.00"  # 20 and 4 of 400 differ
    assert against[3].startswith("-4.00 [")
    assert against[4:6] == ["falls", "-1.21"]
    lowest = row_of(text, "lowest churn")
    assert lowest[2:6] == ["mixup 0.50", "knn_ls 1.04", "2", "1"]
    assert lowest[6].startswith("+0.50 [")
    assert "- phishing (400 of 7,406 train, 400 of 3,649 test), control: accuracy 97.50" in text
    assert "knn_ls: churn" not in text  # 1.00 agrees with 1.04 (0.21)


def test_a_failed_method_leaves_the_papers_order_as_it_is(tmp_path):
    fabricate(
        tmp_path, "table1", "svhn", lambda setting: None if setting.name == "mixup" else runs(3)
    )
    lowest = row_of(page(tmp_path), "lowest churn", "| svhn")
    assert lowest[3:6] == ["mixup 9.56", "", "2"]


def test_a_constant_method_has_a_page_but_no_point_on_a_logarithmic_scale(tmp_path):
    constant = np.ones((5, N), int)
    fabricate(
        tmp_path / "r", "table1", "phishing",
        lambda setting: constant if setting.name == "l1_reg" else runs(3),
    )  # fmt: skip
    assert (tmp_path / "r.md") in write_page(tmp_path / "r")
    points = figures.against_paper_data(read_all(tmp_path / "r"))
    assert {p["metric"] for p in points if p["method"] == "l1_reg"} == {"error"}
    assert {p["metric"] for p in points if p["method"] == "mixup"} == {"error", "churn"}


def test_figures_are_drawn_from_what_did_not_fail(tmp_path):
    fabricate(tmp_path / "r", "figure2", "svhn", lambda setting: runs(3))
    fabricate(tmp_path / "r", "figure3", "phishing", lambda setting: runs(3))
    fabricate(tmp_path / "r", "figure3", "mnist", lambda setting: None)
    written = {path.name for path in write_page(tmp_path / "r")}
    assert {"figure2-svhn.svg", "figure3-phishing.svg", "figure3-phishing.csv"} <= written
    assert "figure3-mnist.svg" not in written
    text = (tmp_path / "r.md").read_text()
    assert "Every setting failed" in text
    assert "figure3-mnist.svg" not in text


def test_figure2_is_drawn_from_table3_which_has_its_settings(tmp_path):
    fabricate(tmp_path / "r", "table3", "svhn", lambda setting: runs(3))
    drawn = {path.name for path in write_page(tmp_path / "r")}
    assert "figure2-svhn.svg" in drawn
    image = "(r/figure2-svhn.svg)"
    text = (tmp_path / "r.md").read_text()
    assert text.count(image) == 1
    assert "| figure2" not in text  # no result of its own
    fabricate(tmp_path / "r", "figure2", "svhn", lambda setting: runs(3))
    text = page(tmp_path / "r")
    assert text.count(image) == 1
    assert "`unchurn reproduce figure2`" in text


def test_figure2_is_not_drawn_from_a_part_of_table3(tmp_path):
    fabricate_part(tmp_path / "r", "table3", "svhn", ["knn_ls"], keep_only=25)
    assert "figure2" not in page(tmp_path / "r")


def test_parts_that_make_up_a_study_are_shown_as_it(tmp_path):
    fabricate(tmp_path / "whole", "figure3", "phishing", lambda setting: runs(3))
    whole = page(tmp_path / "whole").replace("whole", "r")
    others = [name for name in SINGLE if name != "knn_ls"]
    fabricate_part(tmp_path / "r", "figure3", "phishing", others)
    apart = page(tmp_path / "r")
    assert "63 settings × 5 runs" in apart
    assert f"--methods {','.join(others)}`" in apart
    fabricate_part(tmp_path / "r", "figure3", "phishing", ["knn_ls", "control"])
    command = "unchurn reproduce figure3"
    united = page(tmp_path / "r").replace(f"{command} --dataset phishing`", f"{command}`")
    assert united == whole
    written = {path.name for path in write_page(tmp_path / "r")}
    assert {"figure3-phishing.svg", "figure3-phishing-knn_ls-control.csv"} <= written
    assert (tmp_path / "r.md").read_text() == page(tmp_path / "r")


def test_parts_of_a_smaller_size_stay_apart(tmp_path):
    for names in (["control"], [name for name in SINGLE if name != "control"]):
        fabricate_part(tmp_path, "table1", "phishing", names, " --runs 3")
    assert page(tmp_path).count("### Table 1: phishing (table1-phishing-") == 2


def test_only_what_all_results_note_is_said_of_the_files(tmp_path):
    files = "/a/b/train.mat: not the published file, km/h"
    fabricate(tmp_path, "table1", "phishing", lambda setting: runs(3), (files,))
    fabricate(tmp_path, "table2", "phishing", lambda setting: runs(3), (files, "split once more"))
    assert "phishing's files: train.mat: not the published file, km/h.\n" in page(tmp_path)


def test_the_page_is_named_after_its_folder(tmp_path, monkeypatch):
    folder = tmp_path / "results.v2"
    fabricate(folder, "table2", "phishing", lambda setting: runs(3))
    monkeypatch.chdir(folder)
    for given in (folder, folder.relative_to(folder)):
        assert write_page(given)[-1].resolve() == tmp_path / "results.v2.md"


@pytest.mark.parametrize("text", ["{", "{}", '{"rows": []}'])
def test_a_damaged_simulation_is_named(tmp_path, text):
    (tmp_path / "theorem1.json").write_text(text)
    with pytest.raises(InputError, match=r"theorem1\.json: "):
        page(tmp_path)


@pytest.mark.parametrize(("key", "value"), [("command", None), ("data", {"name": "digits"})])
def test_a_result_that_is_not_ours_is_named(tmp_path, key, value):
    fabricate(tmp_path, "table2", "phishing", lambda setting: runs(3))
    path = tmp_path / "table2-phishing.json"
    facts = json.loads(path.read_text("utf-8"))
    facts.pop(key)
    path.write_text(json.dumps(facts | ({key: value} if value else {})))
    with pytest.raises(InputError, match=r"table2-phishing\.json: "):
        page(tmp_path)


def test_a_result_of_another_page_is_named(tmp_path):
    fabricate(tmp_path, "table2", "phishing", lambda setting: runs(3))
    path = tmp_path / "table2-phishing.json"
    path.write_text(path.read_text().replace('"study": "table2"', '"study": "beyond"'))
    with pytest.raises(InputError, match="phishing is of `unchurn reproduce beyond`, not of"):
        page(tmp_path)


def test_a_result_half_kept_is_none(tmp_path):
    fabricate(tmp_path, "table2", "phishing", lambda setting: runs(3))
    fabricate(tmp_path, "table1", "phishing", lambda setting: runs(3))
    (tmp_path / "table2-phishing.json").unlink()
    assert [one.name for one in read_all(tmp_path)] == ["table1-phishing"]


def test_nothing_is_written_where_the_page_cannot_be_made(tmp_path):
    fabricate(tmp_path / "r", "table2", "phishing", lambda setting: runs(3))
    (tmp_path / "r/explanations.md.jinja").write_text("{% block made %}{{ no }}{% endblock %}")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="'no' is undefined"):
        write_page(tmp_path / "r")
    assert sorted(tmp_path.rglob("*")) == before
