"""`bench`: run an experiment; and `Result`: what came of it, from the runs that were kept."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.core.errors import InputError
from unchurn.core.executors import Executor, make_executor
from unchurn.core.files import atomic_write
from unchurn.datasets import DATASETS, load
from unchurn.datasets.base import Dataset
from unchurn.methods import METHODS
from unchurn.metrics.churn import ChurnSummary, churn_summary
from unchurn.metrics.intervals import Interval
from unchurn.metrics.over_runs import accuracy_difference, churn_difference
from unchurn.study import selection
from unchurn.study.experiment import Experiment, members, plan
from unchurn.study.run import OnProgress, carry_out
from unchurn.study.settings import Setting, preset_settings
from unchurn.study.store import DamagedError, Store, Stored, key_of
from unchurn.training.learners.function import Learner
from unchurn.training.loop import Training
from unchurn.training.networks import Factory


@dataclass(frozen=True, eq=False)
class SettingResult:
    """The runs of one setting: predicted classes by part, (R, n), or why some failed."""

    setting: Setting
    predictions: dict[str, npt.NDArray[np.integer]]
    summary: dict[str, ChurnSummary]  # by part; empty if a run failed
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """An experiment that was carried out."""

    experiment: Experiment
    settings: list[SettingResult]
    notes: tuple[str, ...] = ()
    made_by: tuple[str, ...] = ()  # versions and machines that the runs were made by
    seconds: float = 0  # that the trainings took, one after another

    @property
    def chosen_on(self) -> str:
        """The part of the data on which settings were chosen."""
        return "validation" if self.experiment.validation else "test"

    @cached_property
    def by_method(self) -> dict[str, list[SettingResult]]:
        """The settings of each method, in the order of the experiment."""
        groups: dict[str, list[SettingResult]] = {}
        for result in self.settings:
            groups.setdefault(result.setting.name, []).append(result)
        return groups

    def choose(self) -> dict[str, SettingResult]:
        """The setting of each method by the paper's rule; a setting with a failed run never."""
        chosen = {}
        for name, group in self.by_method.items():
            whole = [result for result in group if result.summary]
            if whole:
                summaries = [result.summary[self.chosen_on] for result in whole]
                accuracy = [s.accuracy.mean for s in summaries]
                churn = [s.churn.mean for s in summaries]
                chosen[name] = whole[selection.choose(accuracy, churn)]
        return chosen

    def pareto(self, method: str | None = None) -> list[SettingResult]:
        """Settings that none beats in both test accuracy and correct churn, lowest churn first."""
        whole = [
            r
            for r in self.settings
            if r.summary and method in (None, r.setting.name)
            if not math.isnan(r.summary["test"].churn_correct.mean)
        ]
        accuracy = [r.summary["test"].accuracy.mean for r in whole]
        churn = [r.summary["test"].churn_correct.mean for r in whole]
        return [whole[i] for i in selection.pareto(accuracy, churn)]

    def difference(self, first: str, second: str) -> tuple[Interval, Interval]:
        """Test accuracy and churn of a method's chosen setting less another's, with intervals."""
        chosen = self.choose()
        for name in (first, second):
            if name not in chosen:
                raise InputError(f"no chosen setting of {name!r}: there is of {', '.join(chosen)}")
        ours, theirs = (chosen[name].predictions["test"] for name in (first, second))
        labels = self.experiment.data.y_test
        return accuracy_difference(ours, theirs, labels), churn_difference(ours, theirs)

    def against_control(self, result: SettingResult) -> tuple[Interval, Interval] | None:
        """The difference from control; None for a winner that the test set chose."""
        control = self.choose().get("control")
        tried = len(self.by_method[result.setting.name])
        if control is None or control is result or (tried > 1 and self.chosen_on == "test"):
            return None
        return self.difference(result.setting.name, "control")

    def table(self, form: str = "text") -> str:
        """The chosen settings as "text", "markdown", "latex"; every setting as "csv"."""
        from unchurn.study import table

        return table.render(self, form)

    def write_predictions(self, folder: Path) -> None:
        """Write METHOD-RUN.parquet for every chosen setting's runs, as `unchurn compare` reads.

        Those of an earlier bench in the same folder go: they would count as retrainings of this.
        """
        import polars as pl

        data = self.experiment.data
        names = pl.Series(data.classes)
        folder.mkdir(parents=True, exist_ok=True)
        old = {path for name in METHODS for path in folder.glob(f"{name}-*.parquet")}
        for method, result in self.choose().items():
            for run, predicted in enumerate(result.predictions["test"]):
                table = pl.DataFrame(
                    {
                        "id": pl.int_range(len(predicted), eager=True),
                        "prediction": names.gather(predicted),
                        "label": names.gather(data.y_test),
                    }
                )
                path = folder / f"{method}-{run}.parquet"
                with atomic_write(path) as temporary:
                    table.write_parquet(temporary)
                old.discard(path)
        for path in old:
            path.unlink()

    def __repr__(self) -> str:
        return self.table().rstrip()

    def _repr_markdown_(self) -> str:
        """What a notebook shows."""
        return self.table("markdown")

    def report(self, path: str | Path) -> None:
        """Write one self-contained HTML page."""
        from unchurn.study.page import write_report

        write_report(self, Path(path))


def bench(
    data: Dataset | str,
    methods: str | Sequence[str | Setting] | None = None,
    *,
    preset: str = "quick",
    model: str | Factory = "mlp",
    learner: Learner | None = None,
    runs: int = 5,
    epochs: int = 20,
    seed: int = 0,
    validation: bool | None = None,
    out: str | Path | None = None,
    workers: int | None = None,
    engine: str = "local",
    ray_address: str | None = None,
    on_progress: OnProgress = lambda done, total, last: None,
) -> Result:
    """Train every method over its settings × runs, measure churn, choose a setting of each.

    Parameters
    ----------
    data
        From `unchurn.load` or `unchurn.load_csv`; or the name of a dataset.
    methods
        Names in `METHODS`, or settings such as `make_setting("knn_ls", k=10, a=0.9, b=0.5)`; all
        methods if not given.
    preset
        Which settings of a method: "quick" (one), "paper" (the paper's choice for this dataset) or
        "grid" (all that the paper tried).
    learner
        A model of any framework in the place of `model`: train(X, targets, seed) -> predict, where
        predict(X) gives probabilities. For methods that only change targets, and ensembles.
    validation
        Choose settings on a fifth of the training data, held out, instead of on the test part; by
        default for data of your own, as opposed to those of `unchurn.load`.
    out
        A folder to keep finished runs in; the same call goes on where it stopped.
    workers
        Processes; one per core if not given. The results do not depend on it.
    engine
        Where runs execute: "local", or "ray" (`pip install 'unchurn[ray]'`) for the cluster at
        `ray_address` or, if none is given, one that is made of this machine's cores.
    """
    data = load(data) if isinstance(data, str) else data
    training = Training(epochs=epochs)
    validation = data.name not in DATASETS if validation is None else validation
    experiment = Experiment(data, (), model, training, runs, seed, validation, learner)
    if learner is not None and methods is None:
        methods = [name for name, method in METHODS.items() if method.only_targets]
    settings = _settings([methods] if isinstance(methods, str) else methods, preset, experiment)
    experiment = replace(experiment, settings=settings)
    if runs < 2:
        raise InputError(f"churn needs at least 2 runs, not {runs}")
    place = make_executor(engine, workers, ray_address)
    if out is None:
        with tempfile.TemporaryDirectory() as folder:
            return _run(experiment, Path(folder), place, on_progress)
    return _run(experiment, Path(out), place, on_progress)


def _settings(
    methods: Sequence[str | Setting] | None, preset: str, experiment: Experiment
) -> tuple[Setting, ...]:
    """Settings as given, or those of a preset."""
    if methods is None:
        return preset_settings(preset, experiment.data.name, experiment.n_steps)
    if not methods:
        raise InputError("methods is empty")
    settings: list[Setting] = []
    for method in methods:
        if isinstance(method, Setting):
            settings.append(method)
        else:
            name, n_steps = experiment.data.name, experiment.n_steps
            settings += preset_settings(preset, name, n_steps, [method])
    return tuple(settings)


def _run(experiment: Experiment, folder: Path, engine: Executor, on_progress: OnProgress) -> Result:
    """Carry an experiment out in a folder and read its results there."""
    store = Store(folder)
    with engine:
        notes = carry_out(experiment, store, engine, on_progress)
    return collect(experiment, store, tuple(notes))


def collect(experiment: Experiment, store: Store, notes: tuple[str, ...] = ()) -> Result:
    """Read the results of an experiment whose runs are all in the store."""
    done: dict[str, Stored] = {}
    for job in plan(experiment).jobs:
        identity = experiment.identity(job)
        try:
            stored = store.get(identity)
        except DamagedError as error:
            raise InputError(f"{error}: run the same bench again") from error
        if stored is None:
            raise InputError(f"{store.folder}: trainings are missing: run the same bench again")
        done[key_of(identity)] = stored
    settings = []
    for setting in experiment.settings:
        predictions: dict[str, list[npt.NDArray[np.integer]]] = {p: [] for p in experiment.parts.x}
        failures = []
        for run in range(experiment.runs):
            own = [done[key_of(experiment.identity(j))] for j in members(setting.method, run)]
            reasons = [member.record["failure"] for member in own if member.record["failure"]]
            if reasons:
                failures.append(f"run {run}: {reasons[0]}")
                continue
            for part, runs in predictions.items():
                total = sum(member.arrays[part].astype(np.float64) for member in own)
                runs.append(np.argmax(total, axis=1))
        whole = {part: np.stack(runs) for part, runs in predictions.items() if not failures}
        summary = {p: churn_summary(runs, experiment.parts.y[p]) for p, runs in whole.items()}
        settings.append(SettingResult(setting, whole, summary, tuple(failures)))
    made_by = sorted({maker(stored.record) for stored in done.values()})
    seconds = sum(stored.record.get("seconds", 0) for stored in done.values())
    return Result(experiment, settings, notes, tuple(made_by), seconds)


def maker(record: dict[str, Any]) -> str:
    """The versions and the machine that made a run, in one line."""
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    return f"{versions} on {record['machine']}"
