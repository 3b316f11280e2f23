import pytest

import toys
from unchurn import bench
from unchurn.paper import figure3
from unchurn.report.charts import save
from unchurn.study.design.settings import make_setting
from unchurn.study.report.colours import COLOURS


@pytest.fixture(scope="module")
def result():
    settings = [make_setting("control")]
    settings += [make_setting("knn_ls", k=k, a=a) for k in (3, 9, 27) for a in (0.1, 0.5, 0.9)]
    return bench(toys.dataset(), settings, runs=3, epochs=2, workers=1, validation=False)


def test_frontier_data_is_of_every_setting(result):
    rows = figure3.frontiers_data(result)
    assert len(rows) == 10
    for row, setting in zip(rows, result.settings, strict=True):
        summary = setting.summary["test"]
        assert row["accuracy"] == pytest.approx(100 * summary.accuracy.mean, abs=1e-3)
        assert row["churn_correct"] == pytest.approx(100 * summary.churn_correct.mean, abs=1e-3)
    on = {(r["method"], r["setting"]) for r in rows if r["frontier"]}
    frontier = [r for method in ("control", "knn_ls") for r in result.pareto(method)]
    assert on == {(r.setting.name, r.setting.text) for r in frontier}


def test_the_zoom_leaves_the_hopeless_out():
    settings = [(1, 89.1), (2, 91), (3, 90), (99, 10), (98, 11), (2, 90.5), (2, 90.6)]
    rows = [{"method": "mixup", "churn_correct": c, "accuracy": a} for c, a in settings]
    (left, right), (low, high) = figure3._domains(rows)
    assert left < 1 < 3 < right < 98
    assert 11 < low < 89.1 < 91 < high
    control = {"method": "control", "churn_correct": 9, "accuracy": 60}
    rows.append(control)  # which all else is held against
    (_, right), (low, _) = figure3._domains(rows)
    assert 9 < right < 98
    assert 11 < low < 60


def test_every_setting_is_a_point_and_every_method_has_its_colour(result, tmp_path):
    path = tmp_path / "frontier.svg"
    save(figure3.frontiers(result), path)
    drawn = path.read_text("utf-8")
    assert drawn.count('aria-roledescription="circle"') == len(result.settings)
    for colour in (COLOURS["control"], COLOURS["knn_ls"]):
        assert f'fill="{colour}"' in drawn
