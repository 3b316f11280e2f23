"""One rule, tried on results made for each case: runs that flip as many examples as we say."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

import toys
from unchurn.cli.options import in_options
from unchurn.metrics.budget import Budget
from unchurn.study.advice.advice import advice
from unchurn.study.advice.beyond_chance import is_better
from unchurn.study.advice.words import cost_of
from unchurn.study.design.settings import make_setting
from unchurn.study.results.result import SettingResult
from unchurn.study.scenarios import Upgrade, make_scenario
from unchurn.training.learners.sklearn import SklearnLearner

N = 2000
LABELS = np.arange(N) % 2
RUNS = 5


def runs(flips, errors=100):
    """Runs that are all wrong on the last examples, and each on so many of its own."""
    predictions = np.tile(LABELS, (RUNS, 1))
    predictions[:, N - errors :] ^= 1
    for run in range(RUNS):
        predictions[run, run * flips : (run + 1) * flips] ^= 1
    return predictions


def said(*, n_runs=RUNS, **methods):
    """What is advised of methods by their (flips, errors), or why they failed."""
    rows = [
        (make_setting(name), found if isinstance(found, str) else runs(*found)[:n_runs])
        for name, found in methods.items()
    ]
    return advice(toys.result(rows, LABELS, runs=n_runs))


def test_what_lowers_churn_beyond_chance_at_no_loss_is_recommended():
    text = said(control=(60,), mixup=(20,), ema=(30,))
    assert text.startswith("Use mixup: 94.00% accurate, with 2.00% of its predictions")
    assert "(plain training: 92.00% and 6.00%); churn falls by 4.00 points (" in text
    assert re.search(r"falls by 4\.00 points \([0-3]\.\d\d to [4-9]\.\d\d\)", text)
    assert "chosen on the test data itself" in text


def test_a_loss_of_accuracy_is_never_recommended():
    """Less churn, but two points less accurate; another is better at no loss."""
    text = said(control=(60, 100), mixup=(5, 195), ema=(40, 100))
    assert text.startswith("Use ema: ")
    text = said(control=(60, 100), mixup=(5, 195))
    assert text.startswith("Use plain training: the method tried does not lower churn beyond")
    assert "; it is 92.00% accurate, with 6.00% of its predictions changing" in text


def test_a_loss_of_accuracy_that_may_be_chance_is_named():
    text = said(control=(60, 100), mixup=(20, 143))
    assert text.startswith("Use plain training: the method tried does not lower churn beyond")
    assert re.search(
        r"mixup lowers it beyond chance, by 4\.00 points \([^)]*\), at no cost: one network is "
        r"trained and served; its accuracy is 0\.15 points lower, which may be "
        r"chance \(-\d\.\d\d to \+\d\.\d\d\)\.",
        text,
    )


def test_equal_numbers_are_no_reason_to_change():
    text = said(control=(30,), bi_tempered=(30,), mixup=(31,))
    assert text.startswith(
        "Use plain training: none of the 2 methods tried lowers churn beyond chance at no loss of "
        "accuracy; it is 93.50% accurate, with 3.00% of its predictions changing"
    )
    assert text.endswith("Try weight_decay+safe_ema or ensemble.")


def test_a_difference_without_an_interval_is_not_beyond_chance():
    """One example flips, in another run than control's: nothing tells how far that may go."""
    flips = [np.tile(LABELS, (RUNS, 1)) for _ in range(2)]
    for run, own in enumerate(flips):
        own[run, 0] ^= 1
    rows = [
        (make_setting(name), own) for name, own in zip(("control", "mixup"), flips, strict=True)
    ]
    text = advice(toys.result(rows, LABELS, runs=RUNS))
    assert text.startswith("Use plain training: the method tried does not lower churn beyond")
    assert text.endswith("Try weight_decay+safe_ema or ensemble.")


def test_what_may_be_chance_is_not_recommended():
    other = np.roll(runs(19), 700, axis=1)  # flips of its own, hardly fewer
    rows = [(make_setting("control"), runs(20)), (make_setting("ema"), other)]
    text = advice(toys.result(rows, LABELS))
    assert "the method tried does not lower churn beyond chance" in text


def test_an_ensemble_is_said_to_be_several_models():
    text = said(control=(60,), mixup=(60,), ensemble=(10,))
    assert text.startswith(
        "Use plain training: no method tried that serves a single model lowers churn beyond chance"
    )
    assert "Several models do: ensemble lowers it by" in text
    assert text.endswith("at the cost of training 5 networks for one, of which 5 serve.")


def test_of_what_chance_cannot_tell_apart_the_cheaper_is_recommended():
    """k-NN smoothing trains a reference too: a hair less churn is no reason for it."""
    close = {"control": runs(60), "ema": runs(20), "knn_ls": np.roll(runs(19), 700, axis=1)}
    text = advice(toys.result([(make_setting(n), r) for n, r in close.items()], LABELS))
    assert text.startswith("Use ema")
    assert ", at no cost: one network is trained and served;" in text
    text = said(control=(60,), ema=(40,), knn_ls=(5,))
    assert text.startswith("Use knn_ls")
    assert ", at the cost of training 2 networks for one, of which one serves;" in text


def test_of_several_models_that_chance_cannot_tell_apart_the_cheaper_is_named():
    rows = {"control": runs(60), "ensemble(m=3)": runs(20),
            "bagging(m=9)": np.roll(runs(19), 700, axis=1)}  # fmt: skip
    text = advice(toys.result([(make_setting(n), r) for n, r in rows.items()], LABELS))
    assert "Several models do: ensemble(m=3) lowers it by" in text


@pytest.mark.parametrize(("flips", "is_used"), [(59, True), (61, False)])
def test_a_successor_that_is_more_accurate_and_breaks_no_more_is_recommended(flips, is_used):
    mixup = runs(0, 50)
    for run in range(RUNS):  # other rows than control's: so few fewer may be chance
        mixup[run, 700 + run * flips : 700 + (run + 1) * flips] ^= 1
    rows = [(make_setting("control"), runs(60, 150)), (make_setting("mixup"), mixup)]
    base = runs(0, 150)[0]
    text = advice(toys.result(rows, LABELS, base=base, scenario=Upgrade(per_base=1)))
    assert text.startswith("Use mixup: 94.55% accurate") is is_used
    assert ("; it is more accurate by 5.05 points (" in text) is is_used
    assert advice(toys.result(rows, LABELS)).startswith("Use plain")  # nobody asked for accuracy


def test_few_runs_are_the_first_thing_to_mend():
    assert "3 runs tell little: try 5 or more." in said(n_runs=3, control=(20,), ema=(20,))


def test_winners_of_the_test_set_have_no_interval():
    rows = [(make_setting("control"), runs(60))]
    rows += [(make_setting("mixup", a=a), runs(10)) for a in (0.2, 0.3)]
    text = advice(toys.result(rows, LABELS))
    assert text.startswith("Use plain training")
    assert text.endswith(
        "Settings of mixup were chosen on the test data: choose them on validation."
    )


def test_without_control_nothing_is_recommended_over_it():
    text = said(mixup=(20,), ema=(30,))
    assert text.startswith("Of these, mixup is 94.00% accurate")
    assert text.endswith("add control to see whether that is better than plain training.")


def test_failures_and_plain_training_alone():
    assert said(n_runs=2, control="run 0: no", ema="run 1: no").startswith("Every method failed")
    alone = said(control=(60,))
    assert alone.startswith("Use plain training: nothing else was tried; it is 92.00% accurate")
    assert said(control=(60,), mixup="run 0: no", ema=(20,)).startswith("Use ema")


def test_the_tolerance_is_the_papers():
    """A tenth of a point less is too much, whatever the last bit of a mean."""
    text = said(control=(60, 100), mixup=(20, 142))  # accuracy: 92.00 → 91.90
    assert text.startswith("Use plain training")
    assert said(control=(60, 100), mixup=(20, 141)).startswith("Use mixup")


def identical(rng, n_methods, n=400):
    """A study of methods that train as control does: runs are more or less accurate, by chance."""
    margins, facts = rng.normal(1.5, 1, n), make_setting("control").facts()
    rows = []
    for name in ("control", *(f"method{i}" for i in range(n_methods))):
        moved = 0.1 * rng.normal(size=(RUNS, 1)) + 0.3 * rng.normal(size=(RUNS, n))
        rows.append((replace(facts, name=name), (margins + moved < 0).astype(int)))
    return toys.result(rows, np.zeros(n, int))


def test_of_many_that_are_like_control_one_is_hardly_ever_recommended(rng):
    """Each at 95 %, one of twelve looks better in many studies; told together, it does not."""
    studies = [identical(rng, 12) for _ in range(150)]
    lucky = [
        study
        for study in studies
        if any(is_better(study, row, alone=True) for row in study.choose().values())
    ]
    said = [advice(study) for study in studies]
    assert len(lucky) > 0.1 * len(studies)
    assert sum(text.startswith("Use method") for text in said) < 0.04 * len(studies)
    hint = "by itself would be told from it, but of 12 methods one may be so by chance"
    assert any(text.startswith("Use plain") and hint in text for text in map(advice, lucky))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("safe_ema", "at no cost: one network is trained and served"),
        ("stay", "at no cost in training, but 2 models serve"),
        ("knn_ls", "at the cost of training 2 networks for one, of which one serves"),
        ("ensemble(m=3)", "at the cost of training 3 networks for one, of which 3 serve"),
    ],
)
def test_what_an_upgrade_costs(text, said):
    result = toys.result([(make_setting("control"), runs(1))], LABELS)
    assert cost_of(result, SettingResult(make_setting(text).facts("upgrade"), {})) == said


def trees(n_runs=RUNS, n=N, scenario="retrain", **methods):
    """A study of trees, by methods and their flips; the last n test rows of it."""
    rows = [(make_setting(name), runs(flips)[:n_runs, -n:]) for name, flips in methods.items()]
    found = toys.result(rows, LABELS[-n:], runs=n_runs, scenario=make_scenario(scenario))
    learner = SklearnLearner(ExtraTreesClassifier())
    subject = replace(found.subject, learner=learner.identity, learner_facts=learner.facts)
    return replace(found, subject=subject)


def of_trees(**options):
    return advice(trees(**options))


def test_trees_are_no_networks():
    """Neither in what a method costs, nor in what to try next: averaged weights they have not."""
    text = of_trees(control=60, label_smoothing=20)
    assert text.endswith("; chosen on the test data itself, it may look better here than it is.")
    assert ", at no cost: one model is trained and served;" in text
    text = of_trees(control=60, ensemble=10)
    assert text.endswith("at the cost of training 5 models for one, of which 5 serve.")
    assert of_trees(control=30, label_smoothing=30).endswith("Try ensemble or bagging.")


def test_an_ensemble_of_a_model_that_ignores_its_seed_is_plain_training():
    """More runs cannot change an exact zero; members that see other rows can."""
    same = (
        "The ensemble is plain training number for number: as far as 2,000 test rows tell, the "
        "model does not depend on its seed. "
    )
    text = of_trees(n_runs=3, scenario="resample", control=60, ensemble=60)
    assert text.endswith(f"{same}Try bagging, whose members each see other rows.")
    text = of_trees(n_runs=3, scenario="resample", control=60, ensemble=60, bagging=60)
    assert text.endswith(f"{same}3 runs tell little: try 5 or more.")
    text = of_trees(scenario="resample", control=60, ensemble=60, bagging=10)
    assert f"{same}Several models do: bagging lowers it by" in text
    assert "number for number" not in of_trees(scenario="resample", control=60, ensemble=59)
    assert "number for number" not in said(control=(60,), ensemble=(60,))  # of networks: by chance


def test_a_model_that_ignores_its_seed_is_tried_on_other_data():
    text = of_trees(n_runs=3, control=0, label_smoothing=0)
    assert text.endswith("to see what other data changes, give scenario= resample.")
    assert "tell little" not in text
    assert "--scenario resample." in in_options(text)
    assert "scenario=" not in of_trees(scenario="resample", control=0, ensemble=0)


@pytest.mark.parametrize(
    ("result", "note"),
    [
        (trees(control=0), "2,000 test rows: as far as they tell, plain training does not depend"),
        (trees(n=99, control=0), "99 test rows: so few tell little."),
        (trees(scenario="resample", control=0), "2,000 test rows."),
        (toys.result([(make_setting("control"), runs(0))], LABELS), "2,000 test rows."),
    ],
)
def test_of_runs_that_agree_only_what_is_known_is_said(result, note):
    """Classes may agree where probabilities do not: of networks, and on few rows, of anything."""
    table = " ".join(result.table().split())
    assert f"All runs of control agree on all {note}" in table
    assert ("does not depend on its seed" in table) is ("depend" in note)


def test_few_test_rows_tell_little():
    rows = [(make_setting(name), runs(0)[:3, :3]) for name in ("control", "ema")]
    text = advice(toys.result(rows, LABELS[:3]))
    assert text.endswith("3 test rows tell little: test on 100 or more. 3 runs tell little: try 5 "
                         "or more.")  # fmt: skip
    assert "test rows tell" not in of_trees(n=100, control=0)


def test_two_older_models_are_too_few():
    """No interval over two of them is promised to hold (docs/statistics.md): there is none."""
    few = "Cannot tell yet: 2 older models are too few: train 5 runs or more. Plain training is 9"
    for per_base, begins in ((1, "Use focal"), (2, few)):
        scenario = Upgrade(per_base=per_base)
        flips = {"control": 60, "focal": 20}
        rows = [(make_setting(n).facts(scenario), runs(own)[:3]) for n, own in flips.items()]
        result = toys.result(rows, LABELS, runs=3, base=LABELS, scenario=scenario)
        assert advice(result).startswith(begins)
        assert ("; focal has the lowest bad flips, " in advice(result)) is (per_base == 2)
        assert ("[" in result.table()) is (per_base == 1)


def test_the_lowest_of_too_few_older_models_is_that_of_single_models_where_others_are_lower():
    scenario = Upgrade(per_base=2)
    flips = {"control": 60, "focal": 20, "stay": 5}
    rows = [(make_setting(n).facts(scenario), runs(own)[:3]) for n, own in flips.items()]
    text = advice(toys.result(rows, LABELS, runs=3, base=LABELS, scenario=scenario))
    assert "; focal has the lowest bad flips of single models, " in text


@pytest.mark.parametrize(
    ("per_base", "n_runs", "runs_"), [(1, 2, 5), (2, 2, 5), (3, 2, 7), (4, 2, 9), (4, 5, 9)]
)
def test_so_many_runs_are_asked_for_that_three_older_models_are_there(per_base, n_runs, runs_):
    """And never fewer than there were: those of one older model alone would count by themselves."""
    scenario = Upgrade(per_base=per_base)
    rows = [(make_setting(n).facts(scenario), runs(60)[:n_runs]) for n in ("control", "focal")]
    result = toys.result(rows, LABELS, runs=n_runs, base=LABELS, scenario=scenario)
    assert f"too few: train {runs_} runs or more." in advice(result)


def test_trees_that_ignore_their_seed_are_told_of_without_more_runs():
    assert of_trees(n_runs=2, control=0, bagging=0).startswith("Use plain training: ")
    assert of_trees(n_runs=2, control=9, bagging=0).startswith("Cannot tell yet: 2 runs are too")


def test_a_result_ends_with_its_advice():
    result = toys.result([(make_setting("control"), runs(60))], LABELS)
    assert result.advice == advice(result)
    assert repr(result).endswith(f"\n\n{result.advice}")


def test_two_runs_recommend_nothing():
    """With an older model there are intervals of two runs, too; none is promised to hold."""
    few = "Cannot tell yet: 2 runs are too few: train 5 runs or more."
    for n_runs, begins in ((3, "Use focal: "), (2, few)):
        flips, scenario = {"control": 60, "focal": 20}, Upgrade(per_base=1)
        rows = [(make_setting(n).facts(scenario), runs(own)[:n_runs]) for n, own in flips.items()]
        text = advice(toys.result(rows, LABELS, runs=n_runs, base=LABELS, scenario=scenario))
        assert text.startswith(begins)


@pytest.mark.parametrize("n_runs", [2, RUNS])
def test_what_few_runs_say_of_a_budget_is_little(n_runs):
    rows = [(make_setting(n), runs(own)[:n_runs]) for n, own in {"control": 60, "ema": 20}.items()]
    for limit in (0.001, 0.03, 0.5):  # kept by none, by one, by both
        text = advice(toys.result(rows, LABELS, budget=Budget(max_churn=limit)))
        assert text.endswith("2 runs are too few: train 5 runs or more.") is (n_runs == 2)


def test_what_is_steady_by_a_shared_reference_is_said_to_need_one():
    text = said(control=(60,), anchor=(20,))
    assert text.startswith("Use anchor: ")
    assert text.endswith("only if each is given the same model as reference=.")
    assert "reference" not in said(control=(60,), mixup=(20,))
