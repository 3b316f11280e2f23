"""The chart of churn and accuracy: its numbers are those of the table, its names can be read."""

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import toys
from unchurn.report.charts import save
from unchurn.report.labels import FONT, LETTER, Box
from unchurn.study.design.settings import make_setting
from unchurn.study.report.axis_domains import are_worth_showing, axis_domains
from unchurn.study.report.frontier import (
    MOST_NAMES,
    PLAIN,
    SEVERAL,
    WIDE,
    _pixels,
    caption,
    frontier,
    frontier_data,
)

N, RUNS = 1000, 4
LABELS = np.zeros(N, int)


def runs(rng, errors):
    """Runs that are wrong on so many examples, drawn from the first half."""
    found = np.zeros((RUNS, N), int)
    for run in found:
        run[rng.choice(N // 2, errors, replace=False)] = 1
    return found


def study(rng, **errors):
    """A result of methods by how many examples their runs have wrong."""
    return toys.result([(make_setting(n), runs(rng, k)) for n, k in errors.items()], LABELS)


def test_points_are_the_chosen_settings_and_bars_their_differences_from_control(rng):
    result = study(rng, control=60, ema=30, mixup=55)
    rows = {row["method"]: row for row in frontier_data(result)}
    for name, row in rows.items():
        own = result.choose()[name].predictions["test"]
        pairs = [np.mean(own[i] != own[j]) for i, j in combinations(range(RUNS), 2)]
        assert row["churn"] == pytest.approx(100 * np.mean(pairs), abs=1e-3)
        assert row["accuracy"] == pytest.approx(100 * np.mean(own == 0), abs=1e-3)
        if name != "control":
            less = result.differences(name, "control")
            for metric in ("churn", "accuracy"):
                for end in ("low", "high"):
                    at = rows["control"][metric] + 100 * getattr(less[metric], end)
                    assert row[f"{metric}_{end}"] == pytest.approx(at, abs=1e-3)
                assert row[f"{metric}_low"] < row[metric] < row[f"{metric}_high"]
    assert "churn_low" not in rows["control"]
    assert [name for name, row in rows.items() if row["frontier"]] == ["ema"]


def test_a_bar_that_meets_plain_trainings_line_is_a_difference_that_may_be_chance(rng):
    result = study(rng, control=60, ema=20, mixup=59)
    rows = {row["method"]: row for row in frontier_data(result)}
    line = rows["control"]["churn"]
    for name in ("ema", "mixup"):
        told = result.differences(name, "control")["churn"].high < 0
        assert told is (rows[name]["churn_high"] < line) is (name == "ema")


def test_other_settings_are_faint_and_what_the_test_data_chose_has_no_bar(rng):
    rows = [(make_setting("control"), runs(rng, 60))]
    rows += [(make_setting("mixup", a=a), runs(rng, k)) for a, k in ((0.2, 40), (0.3, 50))]
    result = toys.result(rows, LABELS)
    found = frontier_data(result)
    assert [row["chosen"] for row in found] == [True, True, False]
    assert not any("churn_low" in row for row in found)
    assert "Faint: the other settings that were tried." in caption(result)
    assert "Bars" not in caption(result)


def test_chosen_settings_stand_where_their_fresh_runs_are(rng):
    result = study(rng, control=60, ema=30)
    fresh = [
        replace(row, fresh=replace(row, runs={"test": replace(row.runs["test"], predictions=own)}))
        for row, own in zip(result.settings, (runs(rng, 80), runs(rng, 10)), strict=True)
    ]
    found = frontier_data(replace(result, settings=fresh))
    assert [row["accuracy"] for row in found] == [92.0, 99.0]


def test_several_models_are_no_rival_of_single_ones(rng):
    rows = {row["method"]: row for row in frontier_data(study(rng, control=60, ensemble=5))}
    assert (rows["control"]["kind"], rows["ensemble"]["kind"]) == (PLAIN, SEVERAL)
    assert rows["control"]["frontier"]
    assert not rows["ensemble"]["frontier"]


def labels(chart):
    """The rows of a chart's labels."""
    spec = chart.to_dict()
    return spec["datasets"][spec["layer"][-1]["data"]["name"]]


def test_names_stand_at_their_points_and_none_upon_another(rng):
    errors = {"control": 60, "ema": 58, "mixup": 57, "anchor": 30, "knn_ls": 31, "l2_reg": 29}
    result = study(rng, **errors)
    rows, domains = frontier_data(result), axis_domains(frontier_data(result), "churn")
    shown = labels(frontier(result))
    assert {row["label"] for row in shown} == {f"control ({PLAIN})", *list(errors)[1:]}
    boxes = []
    for row in shown:
        x, y = _pixels(row["churn"], row["accuracy"], domains, WIDE)
        width = LETTER * len(row["label"])
        left = x + row["dx"] - {"left": 0, "center": width / 2, "right": width}[row["align"]]
        top = y + row["dy"] - FONT / 2
        boxes.append(Box(left, top, left + width, top + FONT))
    assert not any(one.meets(other) for one, other in combinations(boxes, 2))
    assert len(rows) == len(boxes)


def test_many_methods_are_numbered_and_so_are_all_on_a_phone(rng):
    facts, own = make_setting("ema").facts(), runs(rng, 40)
    many = [(make_setting("control"), runs(rng, 60))]
    many += [(replace(facts, name=f"method{i}"), own) for i in range(MOST_NAMES)]
    for result, narrow in ((toys.result(many, LABELS), False), (study(rng, control=60), True)):
        chart = frontier(result, narrow=narrow)
        numbers = {row["label"]: row["name"] for row in labels(chart)}
        assert set(numbers) == {str(i + 1) for i in range(len(result.settings))}
        assert numbers["1"] == f"1 control ({PLAIN})"


def test_kinds_are_told_by_shape_in_the_file_too(rng, tmp_path):
    save(frontier(study(rng, control=60, ema=30, ensemble=10)), tmp_path / "frontier.svg")
    drawn = (tmp_path / "frontier.svg").read_text("utf-8")
    assert drawn.count('aria-roledescription="point"') == 3
    for words in (f"control ({PLAIN})", "ema", "ensemble", "churn, %", SEVERAL):
        assert f">{words}</text>" in drawn


def test_the_zoom_leaves_the_hopeless_out_and_shows_the_bars():
    near = [(1, 89.1), (2, 91), (3, 90), (2, 90.5), (2, 90.6), (2, 90.7)]
    rows = [{"method": "mixup", "churn": c, "accuracy": a} for c, a in (*near, (99, 10))]
    (left, right), (low, high) = axis_domains(rows, "churn")
    assert left == 0  # all of it is near
    assert 3 < right < 99
    assert 10 < low < 89.1 < 91 < high
    bar = {"churn_low": 2.5, "churn_high": 6, "accuracy_low": 89, "accuracy_high": 93}
    (_, right), (_, high) = axis_domains([*rows, {**rows[1], **bar}], "churn")
    assert right > 5
    assert high > 93
    far = [{"method": "mixup", "churn": c, "accuracy": 90} for c in (20, 21)]
    assert axis_domains(far, "churn")[0][0] > 19


def point(method, churn, accuracy, **more):
    return {"method": method, "churn": churn, "accuracy": accuracy, "chosen": True, **more}


def test_what_a_reader_looks_for_is_never_left_out():
    """Of settings that are far below: the frontier, the lowest churn, and what may be chance."""
    near = [point("control", 3, 90), point("ema", 2, 90.2), point("mixup", 4, 89.9)]
    near += [point(f"method{i}", 3, 90) for i in range(5)]
    kept = [
        point("on the frontier", 1, 80, frontier=True),
        point("lowest churn", 0.5, 80),
        point("may be chance", 6, 80, accuracy_low=70, accuracy_high=90),
    ]
    told = {"accuracy_low": 70, "accuracy_high": 89.9, "churn_low": 5, "churn_high": 7}
    gone = [point("told", 6, 80, **told), {**point("faint", 0.1, 80), "chosen": False}]
    shown = are_worth_showing([*near, *kept, *gone], "churn")
    assert shown == [True] * len([*near, *kept]) + [False] * len(gone)
    for one in kept:
        (left, right), (low, high) = axis_domains([*near, one], "churn")
        assert left < one["churn"] < right
        assert low < 80 < 90.2 < high


def test_a_point_without_churn_is_not_cut_in_half():
    rows = [point("control", 4, 90), point("stay", 0, 90)]
    (left, right), _ = axis_domains(rows, "churn")
    assert 0.02 * right < -left < 0.03 * right


def test_what_is_outside_has_neither_name_nor_bars(rng, tmp_path):
    """Its bars reach into the chart, where they would be nobody's."""
    errors = {"control": 60, "ema": 52, "mixup": 55, "anchor": 54, "knn_ls": 58}
    result = study(rng, **errors, label_smoothing=75)
    rows = {row["method"]: row for row in frontier_data(result)}
    domain = axis_domains(list(rows.values()), "churn")[1]
    assert (
        rows["label_smoothing"]["accuracy"] < domain[0] < rows["label_smoothing"]["accuracy_high"]
    )
    said = caption(result)
    assert said.endswith(
        "Not in the picture, as much less accurate: label_smoothing (drag the chart)."
    )
    save(frontier(result), tmp_path / "frontier.svg")
    drawn = (tmp_path / "frontier.svg").read_text("utf-8")
    hidden = re.findall(r'opacity="0"[^>]*>([^<]*)</text>', drawn)
    assert set(hidden) == {"label_smoothing"}
    assert len(re.findall(r'<line[^>]* opacity="0"', drawn)) == 2
    shown = study(rng, **errors)
    save(frontier(shown), tmp_path / "frontier.svg")
    assert 'opacity="0"' not in (tmp_path / "frontier.svg").read_text("utf-8")
    assert "Not in the picture" not in caption(shown)


def test_markers_at_one_point_show_below_one_another(rng):
    """Drawn first is largest; what has its point for itself is as small as ever."""
    one = study(rng, control=60, ema=52)
    again = replace(one.settings[1], setting=replace(one.settings[1].setting, name="mixup"))
    drawn = frontier(replace(one, settings=[*one.settings, again])).to_dict()
    points = next(layer for layer in drawn["layer"] if layer["mark"]["type"] == "point")
    rows = drawn["datasets"][points["data"]["name"]]
    areas = {row["method"]: row["area"] for row in rows}
    assert list(areas) == ["ema", "mixup", "control"]
    assert areas["ema"] > areas["mixup"] == 95
    assert areas["control"] == 190


@pytest.mark.parametrize(("n", "width"), [(3, 1110), (20, 900)])
def test_a_chart_is_as_wide_as_its_page_unless_a_key_stands_beside_it(rng, n, width):
    one = study(rng, control=60, ema=52)
    more = [
        replace(one.settings[1], setting=replace(one.settings[1].setting, name=f"own{i}"))
        for i in range(n - 2)
    ]
    result = replace(one, settings=[*one.settings, *more])
    assert frontier(result, whole=True).to_dict()["width"] == width
