"""`bench`: run a study, for Python callers and the command line alike."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from unchurn.core.errors import InputError, unknown
from unchurn.core.executors import Executor, make_executor
from unchurn.core.leftovers import temporary_folder
from unchurn.core.tables import TextForm
from unchurn.datasets import DATASETS
from unchurn.datasets.base import Dataset
from unchurn.methods import Method, make_method
from unchurn.methods.registry import name_of
from unchurn.metrics.budget import Budget
from unchurn.study.design.data import load_data
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.presets import (
    as_far_as,
    preset_names,
    preset_settings,
    where_some_can,
)
from unchurn.study.design.schedule import Schedule, make_schedule
from unchurn.study.design.settings import Methods, Setting, listed
from unchurn.study.results.collect import collect
from unchurn.study.results.folder import check_room, save
from unchurn.study.results.result import Result
from unchurn.study.results.stored_probabilities import StoredProbabilities
from unchurn.study.scenarios import Scenario, Upgrade, make_scenario
from unchurn.study.trainings.fresh_runs import expected_schedule, with_fresh_runs
from unchurn.study.trainings.run import OnProgress, Trainings, carry_out
from unchurn.study.trainings.store import Store
from unchurn.study.trainings.tally import trainings_of
from unchurn.training.learners.base import Learner, RemarkWarning
from unchurn.training.learners.function import FunctionLearner
from unchurn.training.learners.make import OF_NETWORKS, check_for_networks, make_learner
from unchurn.training.loop.config import Training


def bench(
    data: Any,
    methods: Methods = None,
    *,
    target: str | None = None,
    aside: str | Sequence[str] = (),
    id: str | None = None,
    form: TextForm | None = None,
    preset: str = "quick",
    model: Any = "mlp",
    model_args: dict[str, Any] | None = None,
    learner: Any = None,
    runs: int = 5,
    epochs: int = 20,
    batch_size: int = 128,
    learning_rate: float = 0.001,
    device: str = "cpu",
    seed: int = 0,
    validation: bool | None = None,
    scenario: str | Scenario = "retrain",
    max_bad_flips: float | None = None,
    max_churn: float | None = None,
    out: str | Path | None = None,
    workers: int | None = None,
    engine: str = "local",
    ray_address: str | None = None,
    on_progress: OnProgress = lambda done, total, last: None,
) -> Result:
    """Train methods in several runs, measure churn, and choose the best setting of each method.

    If a method tries more than five settings, the chosen ones are trained again in fresh runs, and
    the results show the fresh runs: on the runs by which it was chosen, a winner looks better than
    it is.

    Parameters
    ----------
    data
        A `Dataset` from `unchurn.load`, `unchurn.load_csv` or `unchurn.load_table`; the name of a
        dataset; or a table with a column `target` to predict, as a Polars or pandas frame or the
        path of a file (text, Parquet, Arrow, a workbook).
    methods
        Names in `METHODS`, with parameters and combined as you like ("control, knn_ls(k=5)+ema"),
        method objects such as `KnnLS(k=5) + Ema()`, or settings. If not given, the preset's.
    target
        The column of a table to predict.
    aside
        Columns of a table that are not features, such as ids, dates and notes.
    id
        The column that identifies rows in written predictions and on the page, and by which an
        older model's predictions are joined; it is not a feature. If not given, a column named
        `id`, `customer_id` or the like is used, or the only column aside that is unique; it joins
        an older model's predictions if these have it, too. Without such a column, rows are numbered
        from 0.
    form
        The format of a text file that is not UTF-8 with commas and decimal points.
    preset
        Which methods to try if none are given, and which settings of each: "quick" (methods that
        lower churn at no cost, and ensembles), "best" (a dozen recipes worth trying on any data),
        "paper" (the paper's ten methods, with its choices for this dataset) or "grid" (all methods
        with all their values).
    model, model_args
        What to train: the name of a network ("mlp", "lenet5"); a function (shape, n_classes) ->
        `torch.nn.Module`; an estimator with scikit-learn's interface, or its class; a function
        train(X, targets, seed) -> predict, where predict(X) returns probabilities; or
        "module:name" of any of these. `model_args` are its keyword arguments. Models other than
        networks can be trained only by methods that change targets or rows, and in ensembles.
    learner
        A training function; the same as giving it as `model`.
    runs
        How many times to train each setting, each time with another seed.
    epochs, batch_size, learning_rate, device
        How to train networks, by Adam; the defaults are the paper's.
    seed
        Seed of all random numbers.
    validation
        Whether to choose settings on a held-out fifth of the training data instead of on the test
        part. By default, true for your own data and false for the datasets of `unchurn.load`.
    scenario
        What changes between two models: "retrain" (the seed), "resample" (the sample and the seed),
        "upgrade" (an older model is in production, and there are more data) or "replay" (history
        is replayed, with a release every period). Parameters are written as in
        "resample(share=0.9)", "upgrade(time='day', split='2024-01-01')" or
        "replay(time='day', every='30d')". Or a `unchurn.study.scenarios.Scenario` such as
        `Upgrade(base=model)`; see `Upgrade` for the ways to give the older model.
    max_bad_flips, max_churn
        A budget, as shares of all predictions. For each method, the most accurate setting that
        keeps the budget is chosen, by means over runs on the part on which settings are chosen; if
        none keeps it, the one that exceeds it least, and the table says so. Bad flips and churn are
        counted against the older model in "upgrade", and against the previous release in "replay".
        In the other scenarios churn is between runs, and there are no bad flips. Without a budget,
        settings are chosen by the paper's rule: the lowest churn at about the highest accuracy.
    out
        A folder to keep finished runs and results in. The same call with the same folder continues
        where it stopped.
    workers
        Number of processes; one per core if not given. The results do not depend on it. A short
        study runs in this process, if that is faster than starting others.
    engine
        Where runs execute: "local", or "ray" (`pip install 'unchurn[ray]'`) for the cluster at
        `ray_address`. Without an address, Ray starts a cluster on this machine's cores.
    on_progress
        Called with the number of finished trainings, their total number, and the job that was just
        finished, if any.
    """
    scenario = joining(make_scenario(scenario), id)
    budget = Budget(max_bad_flips=max_bad_flips, max_churn=max_churn)
    check_asked(methods, preset, scenario, budget)
    training = Training(epochs, batch_size, learning_rate, device=device)
    learner = _learner(model, learner, training, model_args)
    check_for_networks([name for name in OF_NETWORKS if _differs(training, name)], learner)
    experiment = make_experiment(
        load_data(data, target, form, scenario, aside, id),
        methods,
        preset=preset,
        learner=learner,
        runs=runs,
        seed=seed,
        validation=validation,
        scenario=scenario,
        budget=budget,
        form=form,
        id=id,
    )
    executor = make_executor(engine, workers, ray_address)
    with ExitStack() as stack:
        folder = Path(out or stack.enter_context(temporary_folder()))
        return run_bench(make_schedule(experiment), folder, executor, on_progress)


def run_bench(
    schedule: Schedule, folder: Path, executor: Executor, on_progress: OnProgress
) -> Result:
    """Train all runs, fresh ones included, that the folder does not hold yet; write the results."""
    check_room(folder)
    experiment, store = schedule.experiment, Store(folder)
    expected = expected_schedule(experiment, store)
    n_expected = len(trainings_of([schedule, expected] if expected else [schedule]))
    made = [schedule]

    def train_more(more: Schedule) -> Trainings:
        n_before = len(trainings_of(made))
        made.append(more)
        n = len(trainings_of(made))
        n_again = n_before + more.n_trainings - n  # references that have been trained already
        return carry_out(
            more,
            store,
            executor,
            lambda done, _, last: on_progress(n_before - n_again + done, n, last),
        )

    with executor:
        first = carry_out(
            schedule, store, executor, lambda done, _, last: on_progress(done, n_expected, last)
        )
        result = with_fresh_runs(collect(first), experiment, train_more)
    save(result, folder, StoredProbabilities(store, made))
    return result


def _learner(
    model: Any,
    train: Callable[..., Any] | None,
    training: Training,
    arguments: dict[str, Any] | None,
) -> Learner:
    """The learner for a model of any kind, or for the training function `train`."""
    if train is None:
        found = make_learner(model, training, arguments)
        if found.remark is not None:
            warnings.warn(found.remark, RemarkWarning, stacklevel=3)
        return found
    if model != "mlp" or arguments:
        raise InputError("give a model or a learner, not both")
    return FunctionLearner(train)


def _differs(training: Training, name: str) -> bool:
    return bool(getattr(training, name) != getattr(Training(), name))


def check_asked(
    methods: Methods, preset: str, scenario: str | Scenario, budget: Budget | None = None
) -> None:
    """Check names and budget before anything slow, such as reading data."""
    if preset not in preset_names():
        raise InputError(unknown("preset", preset, preset_names()))
    make_scenario(scenario).limits(budget or Budget())
    for method in listed(methods) or ():
        if isinstance(method, str):
            make_method(method)


def joining(scenario: Scenario, id: str | None) -> Scenario:
    """The scenario; an upgrade with a given base gets the id column by which to join it."""
    if id is None or not isinstance(scenario, Upgrade) or scenario.base is None:
        return scenario
    if scenario.id not in (None, id):
        raise InputError(f"id is {id!r}, and {scenario.id!r} in the scenario: give one of them")
    return replace(scenario, id=id)


def make_experiment(
    data: Dataset,
    methods: Methods = None,
    *,
    preset: str = "quick",
    learner: Learner | None = None,
    runs: int = 5,
    seed: int = 0,
    validation: bool | None = None,
    scenario: str | Scenario = "retrain",
    budget: Budget | None = None,
    form: TextForm | None = None,
    id: str | None = None,
) -> Experiment:
    """The experiment for these options; InputError if they do not fit together."""
    learner = learner or make_learner()
    methods = listed(methods)
    if validation is None:
        validation = data.name not in DATASETS
    scene = make_scenario(scenario).scene(data, validation=validation, form=form)
    data, parts, happens = scene.data, scene.parts, scene.scenario
    learner.check(parts.x_train, parts.n_classes)
    n_steps = learner.n_steps(len(parts.x_train))
    shape = parts.x_train.shape[1:]
    own = happens.recipes(learner, parts)
    tried = own if methods is None and preset == "quick" else methods
    settings = _settings(tried, preset, data.name, n_steps)

    def can(method: Method) -> bool:
        return (
            learner.why_not(method, shape, parts.n_classes) is None
            and happens.why_not(method, learner, parts) is None
        )

    settings = as_far_as(settings, can) if methods is None else where_some_can(settings, can)
    return Experiment(
        data=data,
        parts=parts,
        settings=tuple(settings),
        learner=learner,
        runs=runs,
        seed=seed,
        scenario=happens,
        budget=budget or Budget(),
        id=id,
    )


def _settings(
    methods: Sequence[str | Method | Setting] | None, preset: str, dataset: str, n_steps: int | None
) -> Sequence[Setting]:
    """The settings of the given methods, or the preset's if `methods` is None."""
    if methods is None:
        return preset_settings(preset, dataset, None, n_steps)
    if not methods:
        raise InputError("methods is empty")
    settings: list[Setting] = []
    for method in methods:
        if isinstance(method, Setting):
            settings.append(method)
        elif isinstance(method, Method):
            settings.append(Setting(name_of(method), make_method(method)))
        else:
            settings += preset_settings(preset, dataset, [method], n_steps)
    return [one for i, one in enumerate(settings) if one not in settings[:i]]
