"""The study of upgrades: its settings, what is kept and read back, its choice and its page."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

import toys
from unchurn.core.errors import InputError
from unchurn.core.executors.local import Local
from unchurn.metrics.churn import MeanSd
from unchurn.metrics.intervals import Interval
from unchurn.paper.beyond.facts import setting_facts
from unchurn.paper.beyond.tables import FRESH, NEWEST
from unchurn.paper.records import keep, read
from unchurn.paper.studies import RECIPES
from unchurn.paper.upgrade.charts import DEFAULT, IS_DEFAULT, KINDS, OTHERS, PLAIN, frontier
from unchurn.paper.upgrade.fresh import on_fresh
from unchurn.paper.upgrade.page import WITHOUT_WEIGHTS, reached, write_upgrade
from unchurn.paper.upgrade.rows import Row, choose, over, read_rows
from unchurn.paper.upgrade.study import (
    BOTH,
    CANDIDATE,
    EVERYTHING,
    FORMER,
    ON_FRESH,
    SINGLE,
    experiment,
)
from unchurn.paper.upgrade.task_charts import frontiers
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.parts import make_parts
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import make_setting
from unchurn.study.results.collect import collect
from unchurn.study.scenarios import Upgrade
from unchurn.study.trainings.run import carry_out
from unchurn.study.trainings.store import Store
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.config import Training

TRIED = (
    "control", "longer+safe_ema", "warm_start+safe_ema", DEFAULT, WITHOUT_WEIGHTS,
    "stay(ratio=2)+safe_ema",
)  # fmt: skip


def test_settings_are_sorted_by_what_answers():
    for texts, served in ((SINGLE, 1), (BOTH, 2)):
        assert {make_setting(text).facts("upgrade").n_models for text in texts} == {served}
    every = {make_setting(text).facts().written for text in EVERYTHING}
    assert {DEFAULT, WITHOUT_WEIGHTS} <= every


def test_three_bases_have_three_successors_each():
    study = experiment("wine", ["control"])
    bases = [study.scenario.base_of(run)[0] for run in study.run_numbers]
    assert bases == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    with pytest.raises(InputError, match="upgrade has no dataset 'iris': it has svhn, "):
        experiment("iris")
    with pytest.raises(InputError, match="upgrade has no method 'ema': it has control, "):
        experiment("wine", ["ema"])


def test_methods_are_asked_for_by_name_or_as_they_are_written():
    every = experiment("wine", ["warm_start+safe_ema"]).settings
    assert [one.text for one in every] == ["a=1 + decay=0.999", "a=0.5 + decay=0.999"]
    (one,) = experiment("wine", ["warm_start(a=0.5)+safe_ema"]).settings
    assert one.text == "a=0.5 + decay=0.999"
    with pytest.raises(InputError, match=r"upgrade has no method 'anchor\(a=0.7\)\+safe_ema': "):
        experiment("wine", ["anchor(a=0.7)+safe_ema"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The kept results of a small study, under the name of a dataset; and the result."""
    path = tmp_path_factory.mktemp("upgrade")
    data = toys.dataset(300, name="wine", distance=1)
    what = Experiment(
        data=data,
        parts=make_parts(data, validation=True),
        settings=tuple(map(make_setting, TRIED)),
        learner=TorchLearner("mlp", Training(epochs=4, batch_size=32)),
        runs=6,
        scenario=Upgrade(per_base=2),
    )
    store, schedule = Store(path / "store"), make_schedule(what)
    result = collect(carry_out(schedule, store, Local(1)))
    facts = setting_facts(schedule, store, result)
    keep(path / "upgrade", "upgrade-wine", "upgrade", result, "unchurn reproduce upgrade", facts)
    return path / "upgrade", result


def test_what_is_kept_is_read_back_with_its_bases(folder):
    path, result = folder
    again = read(path / "upgrade-wine.json").result
    assert again.subject.scenario == Upgrade(per_base=2)
    for ours, theirs in zip(again.settings, result.settings, strict=True):
        assert ours.setting == theirs.setting
        one, two = ours.runs["test"], theirs.runs["test"]
        np.testing.assert_array_equal(one.base, two.base)
        for name, metric in Upgrade().metrics.items():
            assert metric.of(one) == pytest.approx(metric.of(two), nan_ok=True), name
    row = (path / "upgrade-wine.csv").read_text().splitlines()[1].split(",")
    heading = (path / "upgrade-wine.csv").read_text().splitlines()[0].split(",")
    runs = result.settings[0].runs["test"]
    bad = (runs.base == runs.labels) & (runs.predictions != runs.labels)
    assert row[heading.index("bad_flips")] == f"{100 * bad.mean():.4f}"


def test_the_page_says_what_the_rows_say(folder):
    path, _ = folder
    chart, *_, page = write_upgrade(path)
    assert chart.read_text().startswith("<svg")
    text, (rows,) = page.read_text(), read_rows(path).values()
    by_recipe = {row.recipe: row for row in rows}
    plain, default = by_recipe["control"], by_recipe[DEFAULT]
    assert f"| wine | {100 * plain.mean('accuracy_base'):.2f} |" in text
    assert f"fall to {100 * default.ratio:.0f} %" in text
    assert all(f"`{recipe}`" in text for recipe in by_recipe if recipe != "control")
    assert default.gain == pytest.approx(default.mean("accuracy") - plain.mean("accuracy"))


def test_the_page_says_which_recipe_it_lacks(folder, tmp_path):
    path, _ = folder
    (tmp_path / "upgrade").mkdir()
    for file in path.glob("upgrade-wine.*"):
        shutil.copy(file, tmp_path / "upgrade")
    facts = json.loads((path / "upgrade-wine.json").read_text())
    lost = next(row for row in facts["settings"] if row["method"] == "warm_start+safe_ema")
    lost["failures"] = ["run 0: lost"]
    (tmp_path / "upgrade/upgrade-wine.json").write_text(json.dumps(facts))
    message = r"the page needs results of warm_start\+safe_ema: unchurn reproduce upgrade"
    with pytest.raises(InputError, match=message):
        write_upgrade(tmp_path / "upgrade")


def row(recipe, accuracy, flips, dataset="a", plain=0.04, served=1):
    """A row whose validation part says the same as its test part."""
    metrics = {"accuracy": MeanSd(accuracy, 0, 3), "bad_flips": MeanSd(flips, 0, 3)}
    of_plain = {"accuracy": MeanSd(0.9, 0, 3), "bad_flips": MeanSd(plain, 0, 3)}
    return Row(
        dataset=dataset, recipe=recipe, served=served, measured=metrics, plain=of_plain,
        less_plain={}, validation={"accuracy": accuracy, "bad_flips": flips},
    )  # fmt: skip


def test_the_choice_loses_no_accuracy_on_validation():
    plain, better, lossy = row("control", 0.9, 0.04), row("x", 0.91, 0.02), row("y", 0.89, 0.01)
    assert choose([plain, better, lossy]) is better
    assert choose([plain, lossy]) is plain
    tied = row("z", 0.92, 0.02)
    assert choose([plain, better, tied]) is tied
    unlucky = replace(better, measured=lossy.measured)  # what the test part says does not matter
    assert choose([plain, unlucky]) is unlucky


def test_goals_are_counted_on_all_datasets_and_on_the_tasks_among_them():
    def tried(default, single, both):
        return [row("control", 0.9, 0.04), row(DEFAULT, 0.9, default), row("x", 0.9, single),
                row("stay", 0.9, both, served=2)]  # fmt: skip

    rows = {
        "mnist": tried(0.02, 0.013, 0.008),  # a third and a fifth, but not by the default
        "svhn": tried(0.014, 0.014, 0.009),
        "wine": tried(0.01, 0.01, 0.001),
    }
    found = reached(rows)
    assert (found["single"], found["both"], found["default"]) == (
        ["mnist", "wine"], ["mnist", "wine"], ["wine"],
    )  # fmt: skip
    assert found["on_tasks"] == {"single": 1, "both": 1, "default": 0}


def test_a_mean_over_datasets_leaves_out_where_nothing_was_broken():
    rows = {
        "a": [row("control", 0.9, 0.04), row("x", 0.91, 0.01)],
        "b": [row("control", 0.9, 0, plain=0), row("x", 0.9, 0, plain=0)],
    }
    x = next(one for one in over(rows) if one.recipe == "x")
    assert x.ratio == pytest.approx(0.25)
    assert x.gain == pytest.approx(0.005)


def test_the_chart_colours_what_is_best_of_its_kind_and_names_it_where_there_is_room():
    rows = [
        row("control", 0.9, 0.04),
        row(DEFAULT, 0.91, 0.02),
        row("worse", 0.905, 0.03),
        row("here+safe_ema", 0.9101, 0.0201),  # as good as where the default is
        row("both+safe_ema", 0.905, 0.01, served=2),
    ]
    spec = frontier(over({"a": rows}), "a title").to_dict()
    every = (one for values in spec["datasets"].values() for one in values)
    shown = {one["recipe"]: one for one in every if "recipe" in one}
    kinds = {recipe: one["kind"] for recipe, one in shown.items()}
    one, two = KINDS
    assert kinds == {
        "control": PLAIN, DEFAULT: one, "here+safe_ema": one, "both+safe_ema": two, "worse": OTHERS,
    }  # fmt: skip
    named = {recipe: one.get("name", "") for recipe, one in shown.items()}
    assert named["control"] == "plain retraining"
    assert named[DEFAULT] == "the default"
    assert named["both+safe_ema"] == "both"
    assert named["worse"] == ""
    assert shown["here+safe_ema"].get("place") != shown[DEFAULT]["place"]


def test_a_small_chart_for_each_task_shades_the_goals():
    rows = [
        row("control", 0.9, 0.04),
        row(DEFAULT, 0.91, 0.02),
        row("behind", 0.905, 0.03),
        row("ahead", 0.92, 0.03),
        row("both", 0.905, 0.01, served=2),
        row("loses", 0.87, 0.001),  # both are left out
        row("breaks", 0.93, 0.08),
    ]
    spec = frontiers({"mnist": rows, "a": rows}, (0.5, 0.25)).to_dict()
    assert [chart["title"] for chart in spec["concat"]] == ["MNIST", "a"]
    every = [one for values in spec["datasets"].values() for one in values]
    kinds = {one["recipe"]: one["kind"] for one in every if "recipe" in one}
    assert kinds == {
        "control": PLAIN, DEFAULT: IS_DEFAULT, "behind": OTHERS, "ahead": KINDS[0],
        "both": KINDS[1],
    }  # fmt: skip
    assert {one["most"] for one in every if "most" in one} == {50, 25}


def fresh_rows(flips, accuracy=0.9, lost=0, recipes=ON_FRESH):
    """Rows of all fresh tables and tasks: bad flips by recipe; the candidate loses on some."""
    lower = Interval(-0.02, -0.03, -0.01)
    found = {}
    for number, name in enumerate((*FRESH, *NEWEST, *RECIPES)):
        rows = [row(make_setting(text).facts().written, accuracy, flips.get(text, 0.04), name)
                for text in recipes]  # fmt: skip
        if number < lost:
            rows[-1] = replace(rows[-1], less_plain={"accuracy": lower, "bad_flips": lower})
        found[name] = rows
    return found


def test_the_candidate_is_taken_by_the_rule_alone():
    better = {CANDIDATE: 0.019, FORMER: 0.02}
    ahead = fresh_rows(better)
    for name in RECIPES:  # more accurate than the default there
        ahead[name][-1] = replace(ahead[name][-1], measured=row("x", 0.91, 0.019).measured)
    found = on_fresh(ahead)
    assert (found.harms_few, found.keeps_up, found.is_better_on_tasks) == (True, True, True)
    assert found.is_taken
    assert found.former.ratio == pytest.approx(0.5)
    assert not on_fresh(fresh_rows(better)).is_better_on_tasks  # as accurate is not more accurate
    assert on_fresh(fresh_rows(better, lost=3)).harms_few
    assert not on_fresh(fresh_rows(better, lost=4)).harms_few
    assert not on_fresh(fresh_rows({CANDIDATE: 0.021, FORMER: 0.02})).keeps_up


def test_nothing_is_decided_while_a_table_is_missing():
    rows = fresh_rows({})
    del rows["Zoo"]
    assert on_fresh(rows) is None
    assert on_fresh(fresh_rows({}, recipes=ON_FRESH[:-1])) is None
