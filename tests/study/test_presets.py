import pytest
from sklearn.naive_bayes import GaussianNB

import toys
from unchurn import METHODS
from unchurn.core.errors import InputError
from unchurn.methods.codistill import USUAL_STEPS
from unchurn.study.api import make_experiment
from unchurn.study.design.presets import BEST, QUICK, preset_names, preset_settings
from unchurn.training.learners.make import make_learner


def test_quick_is_one_setting_a_method():
    settings = preset_settings("quick", "digits", list(METHODS), n_steps=USUAL_STEPS)
    assert [s.name for s in settings] == list(METHODS)
    assert all(s.method == METHODS[s.name]() for s in settings)


def test_without_names_quick_has_what_is_worth_it():
    for preset, listed in (("quick", QUICK), ("best", BEST)):
        settings = preset_settings(preset, "digits", n_steps=USUAL_STEPS)
        assert [s.name for s in settings] == list(listed)
        costs = [s.facts().n_trained for s in settings[:-2]]  # then come ensembles
        assert costs == sorted(costs)


@pytest.mark.parametrize(("model", "has_bag"), [(GaussianNB(), True), ("mlp", False)])
def test_what_is_no_network_tries_a_bag(model, has_bag):
    """Where a seed changes nothing, as of many trees, members of an ensemble are all the same."""
    experiment = make_experiment(toys.dataset(), learner=make_learner(model))
    names = [setting.name for setting in experiment.settings]
    assert ("bagging" in names) is has_bag
    assert has_bag is (names == ["control", "ensemble", "bagging"])


def test_grid_is_all_that_is_worth_trying():
    settings = preset_settings("grid", "digits", n_steps=USUAL_STEPS)
    assert len(settings) == len({(s.name, s.text) for s in settings}) == 257 + 25 + 21
    assert [s.text for s in preset_settings("grid", "digits", ["ensemble"])] == ["m=3", "m=5"]


def test_the_grid_of_a_combination_keeps_what_is_written():
    settings = preset_settings("grid", "digits", ["mixup(a=0.3)+ema", "mixup+ema(decay=0.5)"])
    assert [s.text for s in settings] == [
        "a=0.3 + decay=0.99", "a=0.3 + decay=0.999",
        *(f"a={a} + decay=0.5" for a in (0.2, 0.3, 0.4, 0.5)),
    ]  # fmt: skip


def test_other_rooms_hand_their_presets_down():
    assert preset_names() == ["quick", "best", "grid", "paper"]


def test_a_warm_up_keeps_its_share_of_a_short_training():
    short = preset_settings("grid", "digits", ["codistill_kl"], USUAL_STEPS // 10)
    assert {s.method.n_warm for s in short} == {100, 200}
    long = preset_settings("grid", "digits", ["codistill_kl"], 10 * USUAL_STEPS)
    assert {s.method.n_warm for s in long} == {1000, 2000}
    (written,) = preset_settings("quick", "digits", ["codistill_kl(n_warm=500)"], 200)
    assert written.method.n_warm == 500
    (both,) = preset_settings("quick", "digits", ["codistill_kl+ema"], USUAL_STEPS // 10)
    assert both.text == "a=0.5 n_warm=100 + decay=0.999"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: preset_settings("fast", "digits"),
            "no preset 'fast': there are quick",
        ),
        (lambda: preset_settings("quick", "digits", ["knn"]), "no method 'knn'"),
        (lambda: preset_settings("grid", "digits", ["knn"]), "no method 'knn'"),
        (lambda: preset_settings("paper", "mnist", ["knn"]), "no method 'knn'"),
        (lambda: preset_settings("quick", "digits", []), "methods is empty"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
