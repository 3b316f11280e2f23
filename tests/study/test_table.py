"""Tables of a result whose numbers are known by counting."""

import json
from dataclasses import replace

import numpy as np
import pytest

import toys
from unchurn.metrics.churn import MeanSd
from unchurn.metrics.registry import METRICS, Metric, Runs
from unchurn.report.table import Cell
from unchurn.study.design.settings import make_setting
from unchurn.study.report.table import Beside, chosen_table, render, settings_table
from unchurn.study.results.result import SettingResult

N = 200
LABELS = np.arange(N) % 2


def row(setting, flips):
    """Three runs, each wrong on so many examples of its own: two differ on twice as many."""
    runs = np.tile(LABELS, (3, 1))
    for run in range(3):
        runs[run, run * flips : (run + 1) * flips] ^= 1
    return SettingResult(setting.facts(), {"test": Runs(predictions=runs, labels=LABELS)})


@pytest.fixture
def result():
    rows = [
        row(make_setting("control"), 8),
        row(make_setting("mixup", a=0.3), 4),
        row(make_setting("ensemble", m=3), 1),
    ]
    return toys.result([(r.setting, r.predictions["test"]) for r in rows], LABELS)


def column(table, heading):
    at = table.headings.index(heading)
    return [cells[at] for cells in table.rows]


def test_a_table_has_numbers_beside_their_text(result):
    table = chosen_table(result)
    assert [cell.text for cell in column(table, "method")] == ["control", "mixup", "ensemble"]
    assert [cell.text for cell in column(table, "churn")] == ["8.00", "4.00", "1.00"]
    assert [cell.value for cell in column(table, "churn")] == pytest.approx([0.08, 0.04, 0.01])
    assert [cell.text for cell in column(table, "accuracy")] == ["96.00", "98.00", "99.50"]
    differences = column(table, "churn − control's")
    assert differences[0] == Cell(text="")
    assert [cell.text.split(" [")[0] for cell in differences[1:]] == ["-4.00", "-7.00"]
    assert [cell.value for cell in differences[1:]] == pytest.approx([-0.04, -0.07])


def test_the_best_is_of_single_models_and_of_what_can_be_best(result):
    table = chosen_table(result)
    marked = {
        (table.headings[i], cells[0].text)
        for cells in table.rows
        for i, cell in enumerate(cells)
        if cell.is_best
    }
    assert marked == {("accuracy", "mixup"), ("churn", "mixup"), ("correct", "mixup")}


def test_another_metric_is_a_column_of_every_table(result, monkeypatch):
    def worst(runs):
        accuracy = np.mean(runs.predictions == runs.labels, axis=1)
        return MeanSd(1 - accuracy.min(), 0.0, len(accuracy))

    mine = Metric(name="worst_error", heading="worst error", better="lower", of=worst)
    monkeypatch.setitem(METRICS, "worst_error", mine)
    cells = column(chosen_table(result), "worst error")
    assert [cell.text for cell in cells] == ["4.00", "2.00", "0.50"]
    assert [cell.is_best for cell in cells] == [False, True, False]
    assert [cell.text for cell in column(settings_table(result), "worst_error")] == [
        "4.0000", "2.0000", "0.5000",
    ]  # fmt: skip
    assert "| worst error |" in render(result, "markdown")


def test_a_failed_method_has_its_reason_in_the_place_of_numbers(result):
    failed = SettingResult(make_setting("anchor").facts(), {}, ("run 1: <b>no</b>",))
    with_failed = replace(result, settings=[*result.settings, failed])
    table = chosen_table(with_failed)
    assert [cell.text for cell in table.rows[-1]] == ["anchor", "failed", "run 1: <b>no</b>"]
    assert "run 1: &lt;b&gt;no" in render(with_failed, "markdown")  # a notebook shows it
    last = json.loads(render(with_failed, "json"))["rows"][-1]
    assert (last["runs"], last["churn"], last["failure"]) == (2, None, "run 1: <b>no</b>")


def test_what_somebody_else_measured_stands_beside(result, monkeypatch):
    without = chosen_table(result).headings
    known = {("toy", "mixup"): "1 / 2"}
    beside = Beside(heading="theirs", of=lambda dataset, name: known.get((dataset, name), ""))
    monkeypatch.setattr("unchurn.study.report.table.handed_down", lambda: (beside,))
    table = chosen_table(result)
    assert [cell.text for cell in column(table, "theirs")] == ["", "1 / 2", ""]
    known.clear()
    assert chosen_table(result).headings == without


def test_programs_get_every_setting_and_readers_the_chosen_ones(result):
    other = row(make_setting("mixup", a=0.9), 20)
    both = replace(result, settings=[*result.settings, other])
    assert [cell.text for cell in column(chosen_table(both), "setting")] == ["", "a=0.3", "m=3"]
    assert [cell.value for cell in column(chosen_table(both), "tried")] == [1, 2, 1]
    rows = json.loads(render(both, "json"))["rows"]
    assert [(r["settings"], r["chosen"]) for r in rows] == [
        (None, True), ("a=0.3", True), ("m=3", True), ("a=0.9", False),
    ]  # fmt: skip
    assert rows[-1]["churn"] == pytest.approx(20)  # percent, as in the CSV
    # What has a difference that the text shows has it here, too, with its interval.
    less = both.against_control(both.choose()["ensemble"])["churn"]
    ends = [rows[2][f"churn_less_control{end}"] for end in ("", "_low", "_high")]
    assert ends == pytest.approx([100 * less.value, 100 * less.low, 100 * less.high])
    assert [rows[i]["accuracy_less_control"] for i in (0, 3)] == [None, None]
    assert render(both, "csv").splitlines()[-1].startswith("toy,mixup,a=0.9,false,3,90.0000,")


def test_the_difference_from_control_stays_at_80_columns_whatever_methods_are_called(result):
    written = "codistill_ce(a=0.05, n_warm=1000)+label_smoothing(a=0.005)+ema(decay=0.9999)"
    rows = [*result.settings, row(make_setting(written), 3)]
    lines = render(replace(result, settings=rows), "text", width=80).splitlines()
    assert lines[0].endswith("accuracy  churn     churn − control's")
    assert lines[4].startswith("codistill_ce+label_sm")
    assert lines[4].endswith("]")
    assert max(map(len, lines)) == 80
    # What is cut is there in full.
    cut = " ".join(" ".join(lines).partition("In full, what is cut above: ")[2].split())
    assert cut == f"codistill_ce+label_smoothing+ema: {make_setting(written).text}"
    assert "cut above" not in render(replace(result, settings=rows), "text")


def test_what_a_column_is_is_said_where_it_is_shown(result):
    narrow = " ".join(render(result, "text", width=60).split())
    wide = " ".join(render(result, "text", width=200).split())
    for words in ("Correct, incorrect: churn among", "Parentheses: standard deviation."):
        assert words in wide
        assert words not in narrow
    assert "(" not in narrow.partition("Percent")[0]


def test_runs_that_share_a_reference_are_said_not_to_be_independent(result):
    def notes(*settings):
        rows = [*result.settings, *(row(setting, 3) for setting in settings)]
        return [note.text for note in chosen_table(replace(result, settings=rows)).notes]

    shared = "runs share one reference"
    assert not any(shared in note for note in notes(make_setting("knn_ls")))
    fixed = make_setting("knn_ls", fixed_reference=True)
    for setting, name in ((fixed, "knn_ls"), (make_setting("anchor"), "Anchor")):
        (note,) = (note for note in notes(setting) if shared in note)
        assert note.startswith(f"{name}'s {shared}, which makes them agree")
    assert not any(shared in n for n in notes(make_setting("anchor", fixed_reference=False)))
