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
from unchurn.core.frames import is_frame
from unchurn.core.leftovers import temporary_folder
from unchurn.core.tables import TABLES, TextForm, ending
from unchurn.core.workbooks import OTHER_WORKBOOKS
from unchurn.datasets import DATASETS, load, load_csv, load_table
from unchurn.datasets.base import Dataset
from unchurn.methods import Method, make_method
from unchurn.methods.registry import name_of
from unchurn.metrics.budget import Budget
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.presets import as_far_as, preset_names, preset_settings
from unchurn.study.design.schedule import Schedule, make_schedule
from unchurn.study.design.settings import Methods, Setting, listed
from unchurn.study.results.collect import collect
from unchurn.study.results.folder import check_room, save
from unchurn.study.results.ids import check_id
from unchurn.study.results.result import Result
from unchurn.study.results.stored_probabilities import StoredProbabilities
from unchurn.study.scenarios import Scenario, Upgrade, make_scenario
from unchurn.study.trainings.fresh_runs import expected_schedule, with_fresh_runs
from unchurn.study.trainings.run import OnProgress, Trainings, carry_out
from unchurn.study.trainings.store import Store
from unchurn.study.trainings.tally import trainings_of
from unchurn.training.learners.base import Learner, RemarkWarning
from unchurn.training.learners.function import FunctionLearner
from unchurn.training.learners.make import make_learner
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
    """Train methods over their settings × runs, measure churn, choose a setting of each.

    Where a method tries more than five settings, those that are chosen are trained again with
    fresh runs, and their figures are of these: on the runs that chose it, a winner looks better
    than it is.

    Parameters
    ----------
    data
        From `unchurn.load` or `unchurn.load_csv`; the name of a dataset; or a table, as a Polars or
        pandas frame or the path of a file (text, Parquet, Arrow, a workbook), and the column
        `target` to predict.
    aside
        Columns of a table that are no features, such as ids, dates and notes.
    id
        The column that identifies rows in written predictions and on the page, and by which an
        older model's predictions are joined; no feature. If not given, it is a column called `id`,
        `customer_id` or the like, or the only column aside that is unique, and it joins an older
        model's predictions if they have it, too; else rows are numbered from 0.
    form
        How a text file is written, if not with commas, decimal points and in UTF-8.
    methods
        Names in `METHODS`, with parameters and combined as one likes ("control, knn_ls(k=5)+ema"),
        methods such as `KnnLS(k=5) + Ema()`, or settings; if not given, those of the preset.
    preset
        Which methods, if none are given, and which settings of each: "quick" (what lowers churn at
        no cost, and ensembles), "best" (a dozen recipes worth trying on any data), "paper" (the
        paper's ten and its choices for this dataset) or "grid" (all methods, all their values).
    model, model_args
        What is trained: the name of a network ("mlp", "lenet5"); a function (shape, n_classes) ->
        `torch.nn.Module`; an estimator with scikit-learn's interface, or its class; a function
        train(X, targets, seed) -> predict, where predict(X) gives probabilities; or
        "module:name" of any of these. `model_args` are given to it by name. A model that is no
        network is trained with methods that only change targets, and in ensembles.
    learner
        Another name for `model`, for a training function.
    epochs, batch_size, learning_rate, device
        Of networks, trained by Adam; the defaults are the paper's.
    validation
        Choose settings on a fifth of the training data, held out, instead of on the test part; by
        default for data of your own, as opposed to those of `unchurn.load`.
    scenario
        What happens between two models: "retrain" (another seed), "resample" (another sample and
        another seed), "upgrade" (an older model is in production, and more data has come) or
        "replay" (history played again, a release every period), with parameters as in
        "resample(share=0.9)", "upgrade(time='day', split='2024-01-01')" or
        "replay(time='day', every='30d')"; or a `unchurn.study.scenarios.Scenario`, as
        `Upgrade(base=model)`: see `Upgrade` for the ways to say what the older model is.
    max_bad_flips, max_churn
        A budget to choose settings by, as shares of all predictions: of each method the most
        accurate setting that keeps it, on the part on which settings are chosen, as a mean over
        runs; where none does, the one that exceeds it least, and the table says so. Bad flips, and
        churn, are to the older model in "upgrade", to the release before in "replay"; else churn is
        between runs, and there are no bad flips. If not given, settings are chosen by the paper's
        rule: the lowest churn at about the highest accuracy.
    out
        A folder to keep finished runs and results in; the same call goes on where it stopped.
    workers
        Processes; one per core if not given. The results do not depend on it. A study that is done
        sooner than other processes would start runs in this one.
    engine
        Where runs execute: "local", or "ray" (`pip install 'unchurn[ray]'`) for the cluster at
        `ray_address` or, if none is given, one that is made of this machine's cores.
    """
    scenario = joining(make_scenario(scenario), id)
    budget = Budget(max_bad_flips=max_bad_flips, max_churn=max_churn)
    check_asked(methods, preset, scenario, budget)
    training = Training(epochs, batch_size, learning_rate, device=device)
    learner = _learner(model, learner, training, model_args)
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
    """Train what a folder does not hold yet, fresh runs too, and leave all results in it."""
    check_room(folder)
    experiment, store = schedule.experiment, Store(folder)
    expected = expected_schedule(experiment, store)
    n_expected = len(trainings_of([schedule, expected] if expected else [schedule]))
    made = [schedule]

    def train_more(more: Schedule) -> Trainings:
        n_before = len(trainings_of(made))
        made.append(more)
        n = len(trainings_of(made))
        n_again = n_before + more.n_trainings - n  # references that are trained already
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
    """The learner for a model of any kind, or for a training function."""
    if train is None:
        found = make_learner(model, training, arguments)
        if found.remark is not None:
            warnings.warn(found.remark, RemarkWarning, stacklevel=3)
        return found
    if model != "mlp" or arguments:
        raise InputError("give a model or a learner, not both")
    return FunctionLearner(train)


def check_asked(
    methods: Methods, preset: str, scenario: str | Scenario, budget: Budget | None = None
) -> None:
    """Check names and budget before anything slow, such as reading data; InputError if wrong."""
    if preset not in preset_names():
        raise InputError(unknown("preset", preset, preset_names()))
    make_scenario(scenario).limits(budget or Budget())
    for method in listed(methods) or ():
        if isinstance(method, str):
            make_method(method)


def joining(scenario: Scenario, id: str | None) -> Scenario:
    """The scenario; an upgrade with a given base is told the id column by which to join it."""
    if id is None or not isinstance(scenario, Upgrade) or scenario.base is None:
        return scenario
    if scenario.id not in (None, id):
        raise InputError(f"id is {id!r}, and {scenario.id!r} in the scenario: give one of them")
    return replace(scenario, id=id)


def load_data(
    data: Any,
    target: str | None = None,
    form: TextForm | None = None,
    scenario: Scenario | None = None,
    aside: str | Sequence[str] = (),
    id: str | None = None,
) -> Dataset:
    """Load data: a Dataset as it is, a dataset by name, a table by path, or a frame.

    The id and the columns that a scenario uses are no features. A table with the same columns as
    the older model's is prepared as that one was, so that new models can start from its weights.
    """
    if isinstance(data, Dataset) or (isinstance(data, str) and not is_table(data)):
        if isinstance(data, str) and data not in DATASETS and target is not None:
            raise InputError(
                f"{data!r} is no dataset, and its name has no ending of a table: .csv, .parquet, …"
            )
        if target is not None or aside:
            name = "aside" if target is None else "target"
            raise InputError(f"{name} is for a table of your own")
        return _with_id(load(data) if isinstance(data, str) else data, id)
    if not isinstance(data, str | Path) and not is_frame(data):
        kind = type(data).__name__
        raise InputError(f"data must be a dataset's name, a table's path or a frame, not {kind}")
    if target is None:
        what = f"{data}: " if isinstance(data, str | Path) else ""
        raise InputError(f"{what}which column is to be predicted? Give target=")
    scenario = scenario or make_scenario()
    left_out = [*scenario.columns, *([aside] if isinstance(aside, str) else aside)]
    left_out += [] if id is None else [id]

    def load_as(**options: Any) -> Dataset:
        if isinstance(data, str | Path):
            return load_csv(data, target, form=form, aside=left_out, **options)
        return load_table(data, target, aside=left_out, **options)

    loaded, before = _with_id(load_as(), id), scenario.preparation_before
    if before is None or loaded.preparation is None or before == loaded.preparation:
        return loaded
    features = set(loaded.preparation.names)
    ids = set() if loaded.aside is None else set(loaded.aside.columns) - set(left_out)
    if not features <= set(before.names) <= features | ids:  # ids may have been features then
        return loaded
    alike = load_as(preparation=before)
    return replace(alike, notes=(*alike.notes, "prepared as the table of the base was"))


def _with_id(data: Dataset, id: str | None) -> Dataset:
    """The data; InputError if the column `id` is not unique."""
    if id is not None:
        check_id(data, id)
    return data


def is_table(data: str) -> bool:
    """Whether a text is the path of a table rather than the name of a dataset."""
    return data not in DATASETS and ending(Path(data)) in (*TABLES, *OTHER_WORKBOOKS)


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
    tried = happens.recipes if methods is None and preset == "quick" else methods
    settings = _settings(tried, preset, data.name, n_steps)
    if methods is None:
        settings = as_far_as(
            settings,
            lambda method: (
                learner.why_not(method) is None and happens.why_not(method, learner, parts) is None
            ),
        )
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
    """The given settings, or the preset's if `methods` is None."""
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
