"""Scenarios of a user's own, each a class."""

import numpy as np

import toys
from experiments import DATA, TRAINING, experiment, train
from unchurn.methods import METHODS
from unchurn.metrics.churn import MeanSd
from unchurn.metrics.over_runs import Excess
from unchurn.metrics.registry import METRICS, Metric
from unchurn.study.design.job import Job
from unchurn.study.design.settings import make_setting
from unchurn.study.results.collect import collect
from unchurn.study.scenarios.retrain import Retrain
from unchurn.study.trainings.store import Store
from unchurn.training.networks.factories import mlp


class Bootstrap(Retrain):
    """Every run sees its own sample: a scenario in one class."""

    name = "bootstrap"

    def rows(self, seed, run, fit, n):
        return np.random.default_rng((seed, run)).integers(0, n, n)


class Upgrade(Bootstrap):
    """A base on the first half of the data; every run, on all, is held against it."""

    name = "upgrade"
    churn = "churn_to_base"
    BASE = 7

    def rows(self, seed, run, fit, n):
        return np.arange(n // 2) if fit == self.BASE else None

    def base_of(self, run):
        return 0, self.BASE

    @property
    def metrics(self):
        def churn(runs):
            moved = np.mean(runs.predictions != runs.base, axis=1)
            return MeanSd(moved.mean(), moved.std(ddof=1), len(moved))

        own = Metric(name="churn_to_base", heading="churn to base", better="lower", of=churn)
        return {"accuracy": METRICS["accuracy"], own.name: own}

    def differences(self, ours, theirs):
        moved = [runs.predictions != runs.base for runs in (ours, theirs)]
        return {"churn_to_base": Excess.of(moved[0][0], moved[1]).interval()}


def test_a_scenario_decides_what_runs_see(tmp_path):
    store = Store(tmp_path)
    settings = [make_setting("control"), make_setting("knn_ls", k=5), make_setting("ensemble", m=2)]
    sampled = experiment(settings, scenario=Bootstrap())
    result = collect(train(sampled, store))
    rows = Bootstrap().rows(0, 1, 0, 60)
    for setting, found in zip(settings, result.settings, strict=True):
        alone = toys.fit_run(
            setting.method, mlp, DATA.x_train[rows], DATA.y_train[rows], 3,
            training=TRAINING, seed=0, run=1,
        )  # fmt: skip
        expected = alone.probabilities(DATA.x_test).argmax(axis=1)
        np.testing.assert_array_equal(found.predictions["test"][1], expected)
    plain = collect(train(experiment(settings), store))  # in the same folder, and apart
    assert (plain.settings[0].predictions["test"] != result.settings[0].predictions["test"]).any()


def test_a_scenario_may_hold_every_run_against_an_older_model(tmp_path):
    settings = [make_setting("control"), make_setting("label_smoothing", a=0.5)]
    upgraded = experiment(settings, scenario=Upgrade())
    result = collect(train(upgraded, Store(tmp_path)))
    half = toys.fit_run(
        METHODS["control"](), mlp, DATA.x_train[:30], DATA.y_train[:30], 3,
        training=TRAINING, seed=0, fit=Upgrade.BASE,
    )  # fmt: skip
    before = half.probabilities(DATA.x_test).argmax(axis=1)
    for found in result.settings:
        np.testing.assert_array_equal(found.runs["test"].base, np.tile(before, (3, 1)))
    churn = np.mean(result.settings[1].predictions["test"] != before)
    assert f"{100 * churn:.2f}" in result.table()
    assert "churn to base − control's" in result.table()
    assert list(result.choose()) == ["control", "label_smoothing"]


def test_scenarios_are_never_taken_for_each_other():
    """Even one that forgets to say what it is has runs of its own."""
    job = Job(METHODS["control"](), 0)
    kinds = [Retrain(), Bootstrap(), Upgrade()]
    assert len({str(experiment(scenario=kind).identity(job)) for kind in kinds}) == 3


def test_more_neighbours_than_a_run_sees_is_a_failed_run(tmp_path):
    class Few(Bootstrap):
        def rows(self, seed, run, fit, n):
            return np.arange(4)

    settings = [make_setting("control"), make_setting("knn_ls", k=5)]
    result = collect(train(experiment(settings, scenario=Few()), Store(tmp_path)))
    assert result.settings[1].failures[0] == "run 0: k=5 is more than the 4 training examples"
