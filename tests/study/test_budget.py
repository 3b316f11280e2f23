"""Choice by a budget, on results made for each case, and what is said of it."""

import json
from dataclasses import replace

import numpy as np
import pytest

import toys
from unchurn import bench
from unchurn.core.errors import InputError
from unchurn.metrics.budget import Budget
from unchurn.study.advice.advice import advice
from unchurn.study.api import make_experiment
from unchurn.study.design.settings import make_setting
from unchurn.study.results.result import Result
from unchurn.study.scenarios import Upgrade, make_scenario

N = 1000
LABELS = np.arange(N) % 2
BASE = np.concatenate([LABELS[: N - 100], 1 - LABELS[N - 100 :]])  # 90 % accurate
RUNS = 3
DATA = toys.dataset(120)


def successor(bad, good):
    """Runs that break `bad` of what the base has right, and mend `good` of what it has wrong."""
    predictions = BASE.copy()
    predictions[:bad] ^= 1
    predictions[N - good : N] ^= 1
    return np.tile(predictions, (RUNS, 1))


def upgraded(settings, **limits):
    """A result of settings by their (bad, good) flips, chosen on the test part."""
    scenario, budget = Upgrade(per_base=1), Budget(**limits)
    rows = [(make_setting(n).facts(scenario), successor(*flips)) for n, flips in settings.items()]
    return toys.result(rows, LABELS, base=BASE, scenario=scenario, budget=budget)


# Anchored ever less: more accurate, more bad flips.
ANCHORED = {"anchor(a=0.9)": (1, 10), "anchor(a=0.5)": (3, 30), "anchor(a=0.1)": (8, 60)}
SEVERAL = {"control": (20, 90), **ANCHORED, "focal": (5, 20), "ensemble(m=3)": (2, 80)}


def test_two_successors_differ_in_bad_flips():
    accuracy, bad = upgraded(SEVERAL).difference("control", "focal")
    assert bad.value == pytest.approx((20 - 5) / N)
    assert accuracy.value == pytest.approx((90 - 20 - (20 - 5)) / N)


def texts(chosen):
    return {name: row.setting.text for name, row in chosen.items()}


def words(result):
    return " ".join(result.table().split())


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, "a=0.1"),  # the paper's rule: more than 0.1 points more accurate than the others
        ({"max_bad_flips": 0.01}, "a=0.1"),
        ({"max_bad_flips": 0.003}, "a=0.5"),
        ({"max_bad_flips": 0.0029}, "a=0.9"),
        ({"max_churn": 0.04}, "a=0.5"),  # 3 + 30 of 1000; the next has 68
        ({"max_bad_flips": 0.01, "max_churn": 0.02}, "a=0.9"),  # 11
        ({"max_bad_flips": 0}, "a=0.9"),  # none keeps it: the nearest
        ({"max_churn": 0.001}, "a=0.9"),
    ],
)
def test_the_most_accurate_setting_that_keeps_the_budget_is_chosen(limits, expected):
    result = upgraded(ANCHORED, **limits)
    assert texts(result.choose()) == {"anchor": expected}
    assert texts(upgraded(ANCHORED).choose(**limits)) == {"anchor": expected}


def test_another_budget_is_taken_in_the_place_of_the_studys():
    result = upgraded(ANCHORED, max_bad_flips=0.0)
    assert texts(result.choose(max_churn=1)) == {"anchor": "a=0.1"}
    with pytest.raises(InputError, match="max_churn must be from 0 to 1, not 2"):
        result.choose(max_churn=2)


def test_of_equally_accurate_settings_the_one_of_lower_churn_is_chosen():
    tied = {"anchor(a=0.9)": (5, 25), "anchor(a=0.5)": (4, 24), "anchor(a=0.1)": (6, 26)}
    assert texts(upgraded(tied, max_churn=0.5).choose()) == {"anchor": "a=0.5"}


def test_in_retraining_churn_is_between_runs_and_there_are_no_bad_flips():
    steady, jumpy = np.tile(1 - LABELS, (2, 1)), np.tile(LABELS, (2, 1))
    jumpy[0, :30] ^= 1  # 3 % between its two runs, and more accurate by far
    rows = [(make_setting("mixup", a=0.2), steady), (make_setting("mixup", a=0.3), jumpy)]
    result = toys.result(rows, LABELS)
    assert texts(result.choose(max_churn=0.03)) == {"mixup": "a=0.3"}
    assert texts(result.choose(max_churn=0.02)) == {"mixup": "a=0.2"}
    for name in ("retrain", "resample"):
        with pytest.raises(InputError, match=f"bad flips need an older model, and {name} has none"):
            make_scenario(name).limits(Budget(max_bad_flips=0.1))
        with pytest.raises(InputError, match="for max_bad_flips= take the scenario upgrade"):
            bench(DATA, "control", scenario=name, max_bad_flips=0.1)
    with pytest.raises(InputError, match="for max_bad_flips= take"):
        make_experiment(DATA, "control", budget=Budget(max_bad_flips=0.1))


def on_validation(settings, **limits):
    """The same with another part to choose on, where every setting breaks one more in a hundred."""
    result = upgraded(settings, **limits)
    rows = []
    for row in result.settings:
        test = row.runs["test"]
        worse = test.predictions.copy()
        worse[:, 100:110] ^= 1
        rows.append(replace(row, runs={**row.runs, "validation": replace(test, predictions=worse)}))
    labels = {"test": LABELS, "validation": LABELS}
    return replace(result, settings=rows, subject=replace(result.subject, labels=labels))


def test_the_budget_is_of_the_part_on_which_settings_are_chosen():
    assert texts(on_validation(ANCHORED, max_bad_flips=0.013).choose()) == {"anchor": "a=0.5"}
    assert "on the validation part" in words(on_validation(ANCHORED, max_bad_flips=0.013))


def test_the_note_says_who_keeps_it_and_who_does_not():
    said = words(upgraded(SEVERAL, max_bad_flips=0.003))
    assert (
        "Budget: bad flips at most 0.30%, on the test part: kept by anchor, ensemble; not by "
        "control (bad flips 2.00%), focal (bad flips 0.50%)." in said
    )
    assert "on the test part: highest accuracy of those that keep the budget; where none" in said
    both = words(upgraded(SEVERAL, max_bad_flips=0.003, max_churn=0.09))
    assert "Budget: bad flips at most 0.30%, churn to base at most 9.00%, on the test part" in both
    assert "control (bad flips 2.00%, churn to base 11.00%)" in both
    assert "kept by control, anchor, focal, ensemble." in words(upgraded(SEVERAL, max_churn=0.5))
    assert "kept by none; not by anchor (bad flips 0.10%)" in words(
        upgraded(ANCHORED, max_bad_flips=0)
    )
    assert "Budget" not in words(upgraded(SEVERAL))


def test_the_most_accurate_single_model_that_keeps_it_is_advised():
    text = advice(upgraded(SEVERAL, max_bad_flips=0.003))
    assert text == (
        "Use anchor: 92.70% accurate, with 0.30% of its predictions wrong where the model "
        "before was right (plain training: 97.00% and 2.00%), at no cost: one network is trained "
        "and served; of the single models that keep the budget (bad flips at most 0.30%) on the "
        "test part, it is the most accurate; chosen on the test data itself, it may look better "
        "here than it is."
    )
    text = advice(upgraded(SEVERAL, max_bad_flips=0.02))
    assert text.startswith(
        "Use plain training: it is 97.00% accurate, with 2.00% of its predictions"
    )
    assert "it keeps the budget (bad flips at most 2.00%) on the test part, and no single" in text
    alone = {name: flips for name, flips in SEVERAL.items() if name != "control"}
    assert advice(upgraded(alone, max_bad_flips=0.003)).startswith("Use anchor: 92.70%")


def test_within_a_budget_chance_is_no_reason_to_leave_plain_training():
    """One more right in a thousand is chance; twenty more in every run are not."""
    hair = upgraded({"control": (10, 10), "focal": (9, 10)}, max_bad_flips=0.5)
    assert advice(hair).startswith("Use plain training: it is ")
    told = upgraded({"control": (30, 10), "focal": (10, 10)}, max_bad_flips=0.5)
    assert advice(told).startswith("Use focal")


def test_several_models_are_advised_only_where_no_single_one_keeps_it():
    some = {name: SEVERAL[name] for name in ("control", "focal", "ensemble(m=3)")}
    text = advice(upgraded(some, max_bad_flips=0.003))
    assert text.startswith("Use ensemble(m=3): 97.80% accurate")
    assert ", at the cost of training 3 networks for one, of which 3 serve; of what keeps" in text
    assert "on the test part, as no single model does, it is the most accurate" in text


def test_where_none_keeps_it_the_nearest_is_said_to_be_that():
    assert advice(upgraded(SEVERAL, max_bad_flips=0)) == (
        "No method keeps the budget (bad flips at most 0.00%) on the test part: anchor(a=0.9) "
        "comes nearest, with bad flips 0.10%; it is 90.90% accurate, with 0.10% of its predictions "
        "wrong where the model before was right. Try stay+safe_ema: it keeps the old answer unless "
        "the new model is surer, and both models serve; unchurn blend does so with two files of "
        "predictions."
    )


def test_where_stay_does_not_keep_it_a_larger_ratio_may():
    tried = {**SEVERAL, "stay(ratio=0.5)+safe_ema": (9, 60), "stay(ratio=3)": (8, 60)}
    assert advice(upgraded(tried, max_bad_flips=0)).endswith(
        "Try stay with a ratio above 3: it keeps more of the old answers."
    )


def test_what_cannot_be_averaged_is_told_to_stay_as_it_is():
    result = upgraded(SEVERAL, max_bad_flips=0)
    trees = replace(result.subject, learner_facts={"model": "trees"})
    assert "right. Try stay: it keeps" in advice(replace(result, subject=trees))


def test_without_an_older_model_it_is_what_was_not_tried():
    """Runs that each have another hundred wrong, where nothing may change."""
    wrong = np.stack([LABELS ^ (np.arange(N) // 100 == run) for run in range(5)])
    budget = Budget(max_churn=0)
    some = [(make_setting(n), wrong) for n in ("control", "weight_decay+safe_ema")]
    assert "next. Try ensemble. " in advice(toys.result(some, LABELS, budget=budget))
    every = [*some, (make_setting("ensemble"), wrong)]
    assert "to the next. Each" in advice(toys.result(every, LABELS, budget=budget))


def test_settings_that_were_not_tried_are_told_of():
    one_each = {name: SEVERAL[name] for name in ("control", "focal")}
    hint = "Each method was tried at one setting: methods without parameters, with the preset grid"
    assert hint in advice(upgraded(one_each, max_bad_flips=0.003))
    assert hint not in advice(upgraded(SEVERAL, max_bad_flips=0.003))
    assert hint not in advice(upgraded({"control": (10, 10)}, max_bad_flips=0.003))


def test_what_a_budget_costs_in_accuracy_is_said_beyond_chance():
    cheap = upgraded({"control": (20, 90), "focal": (1, 20)}, max_bad_flips=0.003)
    assert "the most accurate, but 5.10 points less so than plain training (" in advice(cheap)
    free = upgraded({"control": (20, 60), "focal": (2, 42)}, max_bad_flips=0.003)
    assert "less so than plain" not in advice(free)


def test_that_it_is_not_kept_on_the_test_part_is_said():
    result = on_validation(ANCHORED, max_bad_flips=0.013)
    assert "does not keep it" not in advice(result)
    (chosen,) = result.choose().values()
    place = result.settings.index(chosen)
    worse = replace(chosen.runs["test"], predictions=successor(20, 30))
    result.settings[place] = replace(chosen, runs={**chosen.runs, "test": worse})
    text = advice(replace(result, settings=result.settings))
    assert text.endswith("; on the test part it does not keep it: bad flips 2.00%.")


def test_runs_that_all_failed_keep_nothing():
    rows = [(make_setting("control"), "run 0: no")]
    result = toys.result(rows, LABELS, runs=2, budget=Budget(max_churn=0.1))
    assert result.choose() == {}
    assert "Budget" not in result.table()
    assert advice(result).startswith("Every method failed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("budget")
    options = {"runs": 2, "epochs": 2, "workers": 1, "scenario": "upgrade", "out": folder}
    bench(DATA, ["control", "anchor"], max_bad_flips=0.03, max_churn=0.3, **options)
    return folder


def test_a_budget_is_saved_and_read_again(folder, tmp_path):
    loaded = Result.load(folder)
    assert loaded.subject.budget == Budget(max_bad_flips=0.03, max_churn=0.3)
    assert "Budget: bad flips at most 3.00%, churn to base at most 30.00%" in words(loaded)
    record = json.loads((folder / "result.json").read_text())
    assert record["subject"]["budget"] == {"max_bad_flips": 0.03, "max_churn": 0.3}
    loaded.save(tmp_path)
    for name in ("result.json", "table.md"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_the_same_runs_serve_any_budget(folder):
    """It is no part of a run's identity: nothing is trained again, and without one none is kept."""
    runs = {path.name for path in (folder / "runs").iterdir()}
    options = {"runs": 2, "epochs": 2, "workers": 1, "scenario": "upgrade", "out": folder}
    before = json.loads((folder / "result.json").read_text())
    bench(DATA, ["control", "anchor"], **options)
    assert {path.name for path in (folder / "runs").iterdir()} == runs
    assert "budget" not in json.loads((folder / "result.json").read_text())["subject"]
    bench(DATA, ["control", "anchor"], max_bad_flips=0.03, max_churn=0.3, **options)
    after = json.loads((folder / "result.json").read_text())
    assert (after["subject"], after["settings"]) == (before["subject"], before["settings"])


@pytest.mark.parametrize(
    "edited", [{"max_churn": 3}, {"max_churn": "0.1"}, {"max_flips": 0.1}, [], 3]
)
def test_an_edited_budget_is_refused(folder, tmp_path, edited):
    for name in ("result.json", "result.npz"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    record = json.loads((tmp_path / "result.json").read_text())
    record["subject"]["budget"] = edited
    (tmp_path / "result.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match="damaged, or not a bench's result"):
        Result.load(tmp_path)
    record["subject"] |= {"budget": {"max_bad_flips": 0.1}, "scenario": "retrain"}
    (tmp_path / "result.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match="for max_bad_flips= take the scenario upgrade"):
        Result.load(tmp_path)


def test_fresh_runs_are_of_what_the_budget_chose():
    """And whether it is kept is told of them, not of the runs that chose."""
    settings = [make_setting("label_smoothing", a=a) for a in (0.01, 0.05, 0.1, 0.3, 0.7, 0.95)]
    options = {"runs": 2, "epochs": 3, "workers": 1, "validation": True}
    free = bench(DATA, settings, **options)
    accuracy, churn = (
        [one.summary["validation"].__dict__[name].mean for one in free.settings]
        for name in ("accuracy", "churn")
    )
    limit = sorted(churn)[1]
    kept = [i for i, value in enumerate(churn) if value <= limit]
    expected = max(kept, key=lambda i: (accuracy[i], -churn[i]))
    result = bench(DATA, settings, max_churn=limit, **options)
    (chosen,) = result.choose().values()
    assert result.settings.index(chosen) == expected
    assert [one.fresh is not None for one in result.settings].count(True) == 1
    keeps_it = chosen.fresh.summary["validation"].churn.mean <= limit
    said = words(result)
    assert "on the validation part of fresh runs: kept by" in said
    assert ("kept by label_smoothing" in said) == keeps_it


@pytest.mark.parametrize(
    ("flips", "expected"),
    [
        ((12, 10), " The model before is as accurate, 90.00%, as far as 1,000 rows tell."),
        ((40, 10), " But the model before is more accurate than any of these, 90.00%: keep it."),
    ],
)
def test_the_model_before_is_to_be_kept_where_it_is_better_beyond_chance(flips, expected):
    assert advice(upgraded({"control": flips})).endswith(expected)
