"""What goes beyond the paper: its settings, its tables, what is kept and what the page says."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import toys
from unchurn.core.errors import InputError
from unchurn.core.executors.local import Local
from unchurn.metrics.calibration import calibration_error, log_loss
from unchurn.metrics.churn import churn_summary
from unchurn.metrics.intervals import Interval
from unchurn.metrics.registry import Runs
from unchurn.paper import beyond
from unchurn.paper.beyond.decision import decide
from unchurn.paper.beyond.facts import setting_facts
from unchurn.paper.beyond.goals import Goals
from unchurn.paper.beyond.page import page, write_beyond
from unchurn.paper.beyond.resampled import both_ways
from unchurn.paper.beyond.rows import Row, over_tables, read_rows
from unchurn.paper.beyond.study import FREE, SEVERAL, SINGLE, SMOOTH, experiment, settings
from unchurn.paper.beyond.tables import ALL_TABLES, FRESH, NEWEST, load_other
from unchurn.paper.records import keep, read
from unchurn.paper.studies import RECIPES
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.parts import make_parts
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import make_setting
from unchurn.study.results.collect import collect
from unchurn.study.scenarios import make_scenario
from unchurn.study.trainings.run import carry_out
from unchurn.study.trainings.store import Store
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.config import Training


def test_settings_are_sorted_by_what_they_cost():
    for group, trains, serves in (
        (FREE, lambda n: n == 1, lambda n: n == 1),
        (SINGLE, lambda n: n > 1, lambda n: n == 1),
        (SEVERAL, lambda n: n > 1, lambda n: n > 1),
    ):
        for text in group:
            facts = make_setting(text).facts()
            assert trains(facts.n_trained), text
            assert serves(facts.n_models), text


@pytest.mark.parametrize("dataset", [*RECIPES, "wine"])
def test_every_dataset_has_control_ema_and_the_ensemble(dataset):
    tried = settings(dataset)
    assert len({(s.name, repr(s.method)) for s in tried}) == len(tried)
    assert {"control", "ema", "ensemble", "knn_ls+ema"} <= {s.name for s in tried}


def test_warm_ups_are_suited_to_short_trainings():
    (setting, *_) = experiment("wine", ["codistill_symmetric"]).settings
    assert setting.method.n_warm < 5  # of 20 steps


def test_unknown_names_are_told():
    with pytest.raises(InputError, match="beyond has no dataset 'iris': it has svhn, "):
        experiment("iris")
    with pytest.raises(InputError, match="beyond has no method 'anchor': it has control, "):
        experiment("wine", ["anchor"])


def test_the_script_writes_the_tables_that_there_are():
    script = Path(beyond.__file__).with_name("tables.R").read_text()
    listed = set(re.findall(r'"(\w+)"[,)]', script.partition("list(")[2].partition("))")[0] + ")"))
    listed |= set(NEWEST)  # which it reads from where they are listed
    assert '"newest.csv"' in script
    assert listed == {n for n, table in ALL_TABLES.items() if table.source != "scikit-learn"}


def test_a_table_that_is_not_there_says_how_to_make_it(tmp_path, monkeypatch):
    monkeypatch.setenv("UNCHURN_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"DNA.csv is not there: Rscript .*tables.R"):
        load_other("DNA")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/DNA.csv").write_text("a,Class\n1,x\n")
    with pytest.raises(InputError, match="its checksum is not that of DNA of R's mlbench"):
        load_other("DNA")


def test_scikit_learns_tables_need_no_file():
    assert len(load_other("wine").classes) == 3
    assert load_other("breast_cancer").x_train.shape[1] == 30


def test_calibration_against_a_loop(rng):
    p = rng.dirichlet([1, 1, 1], size=400)
    y = rng.integers(3, size=400)
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    expected = 0.0
    for low in np.arange(15) / 15:
        inside = (confidence > low) & (confidence <= low + 1 / 15)
        if inside.any():
            gap = abs(right[inside].mean() - confidence[inside].mean())
            expected += inside.mean() * gap
    assert calibration_error(p, y) == pytest.approx(expected)
    each = [-np.log(q[i]) for q, i in zip(p, y, strict=True)]
    assert log_loss(p, y) == pytest.approx(np.mean(each))
    assert np.isfinite(log_loss(np.array([[1.0, 0.0]]), np.array([1])))


TRIED = (
    "control", "ema(decay=0.5)", "ema", "safe_ema", "weight_decay+safe_ema", "mixup(a=0.2)",
    "knn_ls(k=5, a=0.5, b=0.5)+ema", "ensemble(m=5)", "ensemble(m=2)+ema",
)  # fmt: skip


def kept(folder, name, tried=TRIED, validation=True, part="", scenario="retrain"):
    """Results of a small study, or of a part of it, under the name of a dataset."""
    data = toys.dataset(300, name=name)
    what = Experiment(
        data=data,
        parts=make_parts(data, validation=validation),
        settings=tuple(map(make_setting, tried)),
        learner=TorchLearner("mlp", Training(epochs=2, batch_size=32)),
        runs=3,
        scenario=make_scenario(scenario),
    )
    store, schedule = Store(folder / "store"), make_schedule(what)
    result = collect(carry_out(schedule, store, Local(1)))
    facts = setting_facts(schedule, store, result)
    study = "beyond" if scenario == "retrain" else "beyond-resampled"
    keep(folder / "beyond", f"{study}-{name}{part}", study, result, "unchurn reproduce", facts)
    return result


def test_what_is_kept_of_combinations_is_read_back(tmp_path):
    result = kept(tmp_path, "wine")
    again = read(tmp_path / "beyond/beyond-wine.json")
    for ours, theirs in zip(again.result.settings, result.settings, strict=True):
        assert ours.setting == theirs.setting
        assert ours.summary["test"] == theirs.summary["test"]
    rows = json.loads((tmp_path / "beyond/beyond-wine.json").read_text())["settings"]
    assert [row["trained"] for row in rows] == [1, 1, 1, 1, 1, 1, 2, 5, 2]
    assert [row["served"] for row in rows] == [1, 1, 1, 1, 1, 1, 1, 5, 2]
    assert all(row["log_loss"] > 0 and 0 <= row["calibration_error"] <= 1 for row in rows)
    assert rows[0]["validation"]["churn"] == pytest.approx(
        result.settings[0].summary["validation"].churn.mean, abs=1e-6
    )


def test_the_page_has_every_dataset_and_recipe(tmp_path, monkeypatch):
    listed = tuple(map(make_setting, TRIED))
    monkeypatch.setattr("unchurn.paper.beyond.page.settings", lambda dataset: listed)
    kept(tmp_path, "wine")
    kept(tmp_path, "phishing", (*TRIED, "knn_ls(k=5, a=0.5, b=0.5)"), validation=False)
    paths = write_beyond(tmp_path / "beyond")
    assert {path.name for path in paths} == {
        "beyond.md", "tables.svg", "tasks.svg", "six-tasks.svg", "beyond-wine.csv",
        "beyond-phishing.csv",
    }  # fmt: skip
    text = (tmp_path / "beyond.md").read_text("utf-8")
    assert text == page(tmp_path / "beyond")
    for recipe in ("`ema`", "`ema(decay=0.5)`", "`mixup`", "`ensemble`", "`ensemble(m=2)+ema`"):
        assert recipe in text
    assert "**Not measured yet**: svhn" in text
    assert "## phishing" in text
    assert "nan" not in text
    assert "in part" not in text
    assert "drawn anew" not in text
    later = (*listed, make_setting(SMOOTH[0]))  # which takes no chart away
    monkeypatch.setattr("unchurn.paper.beyond.page.settings", lambda dataset: later)
    assert {path.name for path in write_beyond(tmp_path / "beyond")} == {p.name for p in paths}


def test_parts_of_a_result_are_one(tmp_path):
    tried = (*TRIED, "knn_ls(k=5, a=0.5, b=0.5)")
    kept(tmp_path / "whole", "phishing", tried, validation=False)
    kept(tmp_path, "phishing", tried[:4], validation=False, part="-free")
    kept(tmp_path, "phishing", tried[3:], validation=False, part="-others")  # one of them again
    whole, united = (
        read_rows(folder / "beyond")["phishing"] for folder in (tmp_path / "whole", tmp_path)
    )
    assert united == whole
    assert [row.summary for row in united] == [row.summary for row in whole]
    # Five of the ten are on its list.
    assert f"phishing, 5 of {len(settings('phishing'))} settings;" in page(tmp_path / "beyond")


def test_parts_of_other_trainings_are_not_united(tmp_path):
    kept(tmp_path, "phishing", TRIED[:4], validation=False, part="-free")
    path = tmp_path / "beyond/beyond-phishing-free.json"
    facts = json.loads(path.read_text())
    facts["training"]["epochs"] += 1
    path.with_stem("beyond-phishing-other").write_text(json.dumps(facts))
    other = path.with_stem("beyond-phishing-other").with_suffix(".npz")
    other.write_bytes(path.with_suffix(".npz").read_bytes())
    with pytest.raises(InputError, match="phishing-other is of other training than beyond-phi"):
        read_rows(tmp_path / "beyond")


def test_the_page_holds_new_samples_against_new_seeds(tmp_path):
    tried = (*TRIED[2:5], "control", "ensemble(m=5)", "knn_ls(k=5, a=0.5, b=0.5)")
    for scenario in ("retrain", "resample"):
        kept(tmp_path, "phishing", tried, validation=False, scenario=scenario)
        kept(tmp_path, "wine", tried, scenario=scenario)
    text = page(tmp_path / "beyond")
    assert "**wine**: plain training churns" in text
    assert "**phishing**: plain training churns" in text
    both = [read_rows(tmp_path / "beyond", s) for s in ("beyond", "beyond-resampled")]
    assert both_ways(*both, ["mnist"]) is None
    found = both_ways(*both, ["phishing", "wine", "mnist"])
    ensemble, plain = (found.of(name).resampled for name in ("ensemble", "control"))
    pairs = zip(ensemble.rows, plain.rows, strict=True)
    ratios = [e.summary.churn.mean / p.summary.churn.mean for e, p in pairs]
    assert ensemble.ratio == pytest.approx(np.mean(ratios))
    assert plain.ratio == found.of("control").retrained.ratio == 1
    of_wine = both_ways(*both, ["wine"]).of("ensemble").resampled.ratio
    assert f"the ensemble of five to {100 * of_wine:.0f} %" in " ".join(text.split())
    assert "control" not in found.names
    assert f"The order of the {len(tried) - 1} recipes" in text


def test_goals_keep_costs(tmp_path):
    kept(tmp_path, "phishing", validation=False)
    rows = read_rows(tmp_path / "beyond")["phishing"]
    goals, by_recipe = Goals(rows), {row.recipe: row for row in rows}
    for choice, most_trained, most_served in (
        (goals.free, 1, 1), (goals.within_two, 2, 1), (goals.single, 99, 1), (goals.any, 99, 99)
    ):  # fmt: skip
        for recipe in choice.recipes:
            assert by_recipe[recipe].trained <= most_trained
            assert by_recipe[recipe].served <= most_served
        assert choice.plain_churn == pytest.approx(goals.control.summary.churn.mean)
    assert {part for recipe in goals.simple.recipes for part in re.split(r"[+(]", recipe)} <= {
        "control", "ema", "safe_ema", "decay", "label_smoothing", "decay=0.99)", "a=0.02)"
    }  # fmt: skip


def test_what_looked_best_by_chance_is_told_of_other_rows(rng):
    """Of forty recipes that are plain training the best looks better: not on rows not chosen on."""
    labels = np.zeros(2000, int)

    def row(name, share):
        runs = Runs(predictions=(rng.random((4, 2000)) < share).astype(int), labels=labels)
        is_plain = name == "control"
        difference = None if is_plain else Interval(0, -1, 1)
        return Row(
            dataset="toy", recipe=name, runs=runs, control=runs.summary, churn=difference,
            accuracy=difference, trained=1, served=1,
        )  # fmt: skip

    chance = [row("control", 0.1), row("ensemble", 0.1), *(row(f"r{i}", 0.1) for i in range(40))]
    lowest = min(one.summary.churn.mean for one in chance)
    free = Goals(chance).free
    expected = 2 * 0.1 * 0.9  # two runs differ so often, whatever the recipe
    assert lowest < expected - 0.01
    assert free.churn == pytest.approx(expected, abs=0.008)
    better = Goals([*chance, row("steady", 0.02)]).free
    assert better.recipes == ("steady",)
    assert better.churn == pytest.approx(2 * 0.02 * 0.98, abs=0.008)
    assert better.gain == pytest.approx(0.08, abs=0.01)


def test_recipes_over_tables_count_what_lies_beyond_chance(tmp_path):
    for name in ("wine", "Glass"):
        kept(tmp_path, name)
    every = over_tables(read_rows(tmp_path / "beyond"))
    assert [len(one.rows) for one in every] == [2] * len(TRIED)
    control = next(one for one in every if one.recipe == "control")
    assert control.ratio == 1
    assert control.count("lowers_churn") == control.count("loses") == 0
    ratios = [one.ratio for one in every]
    assert ratios == sorted(ratios)


def test_a_folder_without_results_says_so(tmp_path):
    with pytest.raises(InputError, match="has no results of `unchurn reproduce beyond`"):
        page(tmp_path)


def decided(fresh, on_tasks, loses=0, raises=0):
    """A decision between a default of 90 % churn and a candidate with these ratios and harms."""
    plain = churn_summary(np.array([[0, 1] * 50, [0, 0] * 50]), np.zeros(100, int))

    def rows(recipe, ratio, n, loses=0, raises=0):
        each = []
        for number in range(n):
            harm, none = Interval(-0.1, -0.2, -0.05), Interval(0, -0.1, 0.1)
            accuracy = harm if number < loses else none
            churn = Interval(0.1, 0.05, 0.2) if number < raises else none
            flips = round(50 * ratio)
            runs = np.array([[0] * 100, [1] * flips + [0] * (100 - flips)])
            each.append(
                Row(
                    dataset="toy", recipe=recipe, control=plain, churn=churn, accuracy=accuracy,
                    runs=Runs(predictions=runs, labels=np.zeros(100, int)), trained=1, served=1,
                )
            )  # fmt: skip
        return each

    candidate = "weight_decay+safe_ema"
    on_fresh = zip(
        FRESH, rows("safe_ema", 0.9, 17), rows(candidate, fresh, 17, loses, raises), strict=True
    )
    tasks = zip(RECIPES, rows("safe_ema", 0.9, 6), rows(candidate, on_tasks, 6), strict=True)
    return {name: list(both) for name, *both in (*on_fresh, *tasks)}


@pytest.mark.parametrize(
    ("given", "is_taken"),
    [
        (decided(0.9, 0.7), True),
        (decided(0.92, 0.88, loses=1, raises=1), True),
        (decided(0.94, 0.7), False),  # lowers churn less on tables
        (decided(0.9, 0.9), False),  # and no more on tasks
        (decided(0.8, 0.7, loses=2), False),
        (decided(0.8, 0.7, raises=2), False),
    ],
)
def test_the_default_is_decided_by_the_rule_that_was_settled(given, is_taken):
    assert decide(given).is_taken == is_taken
    del given["svhn"]
    assert decide(given) is None
