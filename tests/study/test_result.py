import csv
import io
from dataclasses import replace

import numpy as np
import pytest

import toys
from unchurn import bench
from unchurn.core.errors import InputError
from unchurn.study.design.settings import make_setting
from unchurn.study.report.charts import all_charts
from unchurn.study.results.predictions import write_predictions
from unchurn.study.results.result import Result

DATA = toys.dataset(200)
SETTINGS = [make_setting("control"), *(make_setting("label_smoothing", a=a) for a in (0.1, 0.9)),
            make_setting("ensemble", m=3)]  # fmt: skip


@pytest.fixture(scope="module")
def on_test():
    return bench(DATA, SETTINGS, runs=3, epochs=3, workers=1, validation=False)


@pytest.fixture(scope="module")
def on_validation():
    return bench(DATA, SETTINGS, runs=3, epochs=3, workers=1, validation=True)


def test_the_choice_follows_the_papers_rule_on_the_right_part(on_test, on_validation):
    for result in (on_test, on_validation):
        chosen = result.choose()
        assert list(chosen) == ["control", "label_smoothing", "ensemble"]
        pair = result.by_method["label_smoothing"]
        accuracy = [r.summary[result.chosen_on].accuracy.mean for r in pair]
        assert abs(accuracy[0] - accuracy[1]) > 0.001  # else the rule would turn on churn
        assert chosen["label_smoothing"] is pair[int(np.argmax(accuracy))]


def test_a_setting_is_printed_without_its_predictions(on_test):
    assert str(on_test.choose()["ensemble"]) == "SettingResult('ensemble(m=3)', runs=3)"


def test_the_frontier_is_of_test_accuracy_and_correct_churn(on_test):
    frontier = on_test.pareto()
    churn = [r.summary["test"].churn_correct.mean for r in frontier]
    accuracy = [r.summary["test"].accuracy.mean for r in frontier]
    assert churn == sorted(churn)
    assert accuracy == sorted(accuracy)
    assert {r.setting.name for r in on_test.pareto("control")} == {"control"}


def test_a_winner_that_the_test_set_chose_gets_no_interval(on_test, on_validation):
    winner = on_test.choose()["label_smoothing"]
    assert on_test.against_control(winner) is None
    assert on_test.against_control(on_test.choose()["ensemble"]) is not None
    assert on_test.against_control(on_test.choose()["control"]) is None
    found = on_validation.against_control(on_validation.choose()["label_smoothing"])
    accuracy, churn = found["accuracy"], found["churn"]
    control = on_validation.choose()["control"].summary["test"]
    winner = on_validation.choose()["label_smoothing"].summary["test"]
    assert accuracy.value == pytest.approx(winner.accuracy.mean - control.accuracy.mean)
    assert churn.value == pytest.approx(winner.churn.mean - control.churn.mean)


def test_csv_has_a_row_for_every_setting_in_percent(on_test):
    rows = list(csv.DictReader(io.StringIO(on_test.table("csv"))))
    assert [(r["method"], r["settings"]) for r in rows] == [
        ("control", ""),
        ("label_smoothing", "a=0.1"),
        ("label_smoothing", "a=0.9"),
        ("ensemble", "m=3"),
    ]
    assert [r["chosen"] for r in rows].count("true") == 3
    summary = on_test.settings[0].summary["test"]
    assert float(rows[0]["accuracy"]) == pytest.approx(100 * summary.accuracy.mean, abs=1e-4)
    assert float(rows[0]["churn_correct_sd"]) == pytest.approx(
        100 * summary.churn_correct.sd, abs=1e-4
    )
    assert list(rows[0]) == [
        "dataset", "method", "settings", "chosen", "runs", "accuracy", "accuracy_sd", "churn",
        "churn_sd", "churn_correct", "churn_correct_sd", "churn_incorrect", "churn_incorrect_sd",
        "churn_less_control", "churn_less_control_low", "churn_less_control_high",
        "accuracy_less_control", "accuracy_less_control_low", "accuracy_less_control_high",
        "failure",
    ]  # fmt: skip


def test_the_best_single_model_is_marked_and_never_the_ensemble(on_test):
    lines = on_test.table("markdown").splitlines()
    assert lines[0].startswith(
        "| method | setting | tried | accuracy | churn | correct | incorrect |"
    )
    ensemble = next(line for line in lines if line.startswith("| ensemble"))
    assert "**" not in ensemble
    body = lines[2:5]
    assert sum(line.count("**") for line in body) == 2 * 3  # accuracy, churn, correct churn
    assert all("**" not in line.split("|")[7] for line in body)  # never incorrect churn
    assert "3 runs of each setting" in on_test.table("markdown")
    assert "it gets no interval" in on_test.table()


def test_latex_is_escaped(on_test):
    latex = on_test.table("latex")
    assert r"label\_smoothing & a=" in latex
    assert latex.count(r"\textbf{") == 3


def test_text_fits_the_width_it_is_given(on_test):
    from unchurn.study.report.table import render

    for width, left_out in ((100, "incorrect"), (78, "incorrect, correct, accuracy")):
        text = render(on_test, "text", width=width)
        assert all(len(line) <= width for line in text.splitlines())
        assert all(word in text.splitlines()[0] for word in ("accuracy", "churn", "− control's"))
        assert f"Not shown for want of width: {left_out}" in " ".join(text.split())


def test_a_kept_bench_goes_on_and_gives_the_same_table(tmp_path, on_test):
    for _ in range(2):
        again = bench(DATA, SETTINGS, runs=3, epochs=3, workers=1, validation=False, out=tmp_path)
        assert again.table("csv") == on_test.table("csv")


def test_differences_between_any_two_methods(on_test):
    accuracy, churn = on_test.difference("ensemble", "label_smoothing")
    back = on_test.difference("label_smoothing", "ensemble")
    assert (back[0].value, back[1].value) == (-accuracy.value, -churn.value)
    assert back[1].low == pytest.approx(-churn.high)
    with pytest.raises(InputError, match="no method with a chosen setting 'mixup'"):
        on_test.difference("mixup", "control")


def test_a_page_chooses_once(on_test, tmp_path, monkeypatch):
    """What takes long where grids are large."""
    calls = []
    choose = Result.choose
    monkeypatch.setattr(Result, "choose", lambda self: calls.append(self) or choose(self))
    result = replace(on_test)
    result.report(tmp_path / "page.html")
    assert calls == [result]


def test_of_a_method_only_the_chosen_setting_is_held_against_control(on_validation):
    one, other = on_validation.by_method["label_smoothing"]
    assert on_validation.is_chosen(one) is not on_validation.is_chosen(other)
    unchosen = other if on_validation.is_chosen(one) else one
    assert on_validation.against_control(unchosen) is None


def test_own_data_are_chosen_on_validation_and_ours_on_test():
    assert bench(DATA, ["control"], runs=2, epochs=1, workers=1).chosen_on == "validation"
    ours = replace(DATA, name="phishing")
    assert bench(ours, ["control"], runs=2, epochs=1, workers=1).chosen_on == "test"
    by_name = bench("two_gaussians", ["control"], runs=2, epochs=1, workers=1)
    assert (by_name.subject.data.name, by_name.chosen_on) == ("two_gaussians", "test")


def test_names_and_settings_may_be_mixed():
    mixed = ["control", make_setting("mixup", a=np.float64(0.3))]
    result = bench(DATA, mixed, runs=2, epochs=1, workers=1, validation=False)
    assert [r.setting.text for r in result.settings] == ["", "a=0.3"]
    one = bench(DATA, "control", runs=2, epochs=1, workers=1, validation=False)
    assert [r.setting.name for r in one.settings] == ["control"]
    with pytest.raises(InputError, match="methods is empty"):
        bench(DATA, [])


def test_predictions_of_an_earlier_bench_in_the_folder_go(tmp_path):
    (tmp_path / "mine.parquet").touch()
    for methods, runs in ((["control", "mixup"], 3), (["control"], 2)):
        result = bench(DATA, methods, runs=runs, epochs=1, workers=1, validation=False)
        write_predictions(result, tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["control-0.parquet", "control-1.parquet", "mine.parquet", "written.json"]


def test_more_neighbours_than_examples_is_a_failed_setting():
    settings = [make_setting("knn_ls", k=5), make_setting("knn_ls", k=500)]
    result = bench(DATA, settings, runs=2, epochs=1, workers=1, validation=False)
    assert result.choose()["knn_ls"].setting.text.startswith("k=5 ")
    assert "run 0: k=500 is more than the 100 training examples" in result.table("csv")
    assert "1 setting failed" in result.table()


def test_when_everything_fails_tables_and_page_say_so(tmp_path):
    data = replace(DATA, x_train=np.full_like(DATA.x_train, 1e38))
    result = bench(data, ["control", "mixup"], runs=2, epochs=1, workers=1, validation=False)
    assert result.choose() == {}
    assert "loss is" in result.table()
    assert all_charts(result) == {}
    result.report(tmp_path / "page.html")
    assert "Every method failed" in (tmp_path / "page.html").read_text()


def test_a_hopeless_model_is_not_best_where_nothing_is_defined(tmp_path):
    wrong = replace(DATA, y_train=np.zeros(100, int), y_test=np.ones(100, int))
    result = bench(wrong, ["control", "mixup"], runs=2, epochs=30, workers=1, validation=False)
    assert np.isnan(result.settings[0].summary["test"].churn_correct.mean)
    assert "*–" not in result.table()
    assert result.pareto() == []
    result.report(tmp_path / "page.html")


def test_files_are_safe_to_open():
    result = bench(
        replace(DATA, name="=<b>_&x"), ["control"], runs=2, epochs=1, workers=1, validation=False
    )
    assert "\n'=<b>_&x,control" in result.table("csv")
    assert "=&lt;b&gt;_&amp;x, 2 runs" in result.table("markdown")


def test_bad_input_is_named(on_test):
    with pytest.raises(InputError, match="at least 2 runs, not 1"):
        bench(DATA, SETTINGS, runs=1)
    with pytest.raises(InputError, match="no format of table 'xml'"):
        on_test.table("xml")
    with pytest.raises(InputError, match="best_of takes runs"):
        on_test.best_of("churn")
    with pytest.raises(InputError, match="no method 'knn'"):
        bench(DATA, ["knn"])


def test_legends_are_of_what_is_shown(on_test):
    from unchurn.study.report.table import render

    assert "Brackets" in render(on_test, "text")
    assert "Brackets" in render(on_test, "text", width=80)
    assert "Brackets" not in render(on_test, "text", width=40)
    assert repr(on_test).startswith(on_test.table().rstrip())
    alone = replace(on_test, settings=[on_test.by_method["ensemble"][0]])
    assert all(word not in alone.table() for word in ("control's", "Brackets", "chosen"))
