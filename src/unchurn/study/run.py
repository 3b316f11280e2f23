"""Carry a schedule out: train what the store does not hold yet, wherever the executor does."""

from __future__ import annotations

import platform
import time
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, Float32
from unchurn.core.executors import Call, Executor
from unchurn.core.version import __version__
from unchurn.methods import Reference
from unchurn.neighbors import knn_labels
from unchurn.study.believed import LOGITS, believed
from unchurn.study.experiment import Experiment, Job
from unchurn.study.parts import Parts
from unchurn.study.scenarios import Scenario
from unchurn.study.schedule import Key, Schedule
from unchurn.study.store import DamagedError, Store, TrainedRun, key_of
from unchurn.training.learners.base import (
    DivergedError,
    Learner,
    RemarkWarning,
    most_neighbours,
    score_distinct,
)

KILLED = "its process was killed, most likely for want of memory"
TOO_FEW = "k={k} is more than the {n} training examples"
Known = tuple[Float32, dict[int, Float32]]  # of a reference: its logits, and k-NN labels by k
# done, total, and the training that was just finished, if any
OnProgress = Callable[[int, int, "tuple[Job, TrainedRun] | None"], None]


@dataclass
class Trainings:
    """The trainings of a schedule as far as results need them, and notes on what was damaged."""

    schedule: Schedule
    by_key: dict[Key, TrainedRun] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._in_ensembles = self.schedule.in_ensembles

    def take(self, key: Key, stored: TrainedRun) -> None:
        """Keep of a training what results need: predictions, in ensembles probabilities."""
        kind = "" if key in self._in_ensembles else "_predictions"
        parts = [part for part in self.schedule.experiment.parts.x if part in stored.arrays]
        arrays = {part: stored.arrays[f"{part}{kind}"] for part in parts}
        self.by_key[key] = TrainedRun(stored.record, arrays)


def carry_out(
    schedule: Schedule,
    store: Store,
    executor: Executor,
    on_progress: OnProgress = lambda done, total, last: None,
) -> Trainings:
    """Train what the store does not hold yet; give all trainings, each read once."""
    store.open()
    return _Driver(schedule, store, executor, on_progress).run()


def _read(store: Store, experiment: Experiment, job: Job) -> TrainedRun | None:
    """A kept training; DamagedError if it cannot be what was kept."""
    identity = experiment.identity(job)
    stored = store.get(identity)
    if stored is None:
        return None
    try:
        return believed(stored, experiment.parts, is_reference=job.is_reference)
    except DamagedError as error:
        raise DamagedError(f"{store.folder / key_of(identity)}: {error}") from error


@dataclass(frozen=True)
class _Training:
    """The key of a call that trains a job."""

    key: Key


@dataclass(frozen=True)
class _Search:
    """The key of a call that finds the neighbours among a reference's logits."""

    key: Key


class _Driver:
    """Makes the calls: those that look at a reference when it is trained, all else at once.

    Only this process writes to the store.
    """

    def __init__(
        self, schedule: Schedule, store: Store, executor: Executor, on_progress: OnProgress
    ) -> None:
        self.schedule, self.store, self.executor = schedule, store, executor
        self.experiment = schedule.experiment
        self.on_progress = on_progress
        self.trainings = Trainings(schedule)
        self.calls: deque[Call] = deque()
        self.waiting: dict[Key, list[Key]] = {}  # by the reference that they wait for

    def run(self) -> Trainings:
        """Read what is there, train what is not."""
        missing = []
        references: dict[Key, TrainedRun] = {}
        for key, job in self.schedule.jobs.items():
            stored = self._stored(job)
            if stored is None:
                missing.append(key)
                continue
            self.trainings.take(key, stored)
            if job.is_reference:
                references[key] = stored
        self.on_progress(len(self.trainings.by_key), len(self.schedule.jobs), None)
        if not missing:
            return self.trainings
        e = self.experiment
        self.common = self.executor.share(_Common(e.parts, e.learner, e.scenario, e.seed))
        for key in missing:
            self._begin(key)
        for key in list(self.waiting):
            if key in references:
                self._search(key, references[key])
        del references  # their logits are large
        for call, result in self.executor.execute(self.calls, lambda: _failed(KILLED)):
            match call:
                case _Training(key):
                    self._finish(key, result)
                    if key in self.waiting:
                        self._search(key, result)
                case _Search(key) if isinstance(result, TrainedRun):  # its process was killed
                    self._fail_waiting(key, result.record["failure"])
                case _Search(key):
                    for waiting in self.waiting.pop(key, []):
                        self._train(waiting, result)
        return self.trainings

    def _begin(self, key: Key) -> None:
        """Train a job now, let it wait for its reference, or say why it cannot be."""
        if self.schedule.asks_too_many(key):
            n = len(self.experiment.parts.x_train)
            k = most_neighbours(self.schedule.jobs[key].method)
            self._finish(key, _failed(TOO_FEW.format(k=k, n=n)))
        elif key in self.schedule.references:
            self.waiting.setdefault(self.schedule.references[key], []).append(key)
        else:
            self._train(key, None)

    def _train(self, key: Key, known: Any) -> None:
        """Call for a training; `known` stands for what is known of its reference."""
        arguments = (self.schedule.jobs[key], self.common, known)
        gpus = self.experiment.learner.n_gpus
        self.calls.append(Call(_Training(key), _train, arguments, gpus=gpus))

    def _search(self, key: Key, reference: TrainedRun) -> None:
        """Call for the neighbours among a reference's logits."""
        if (reason := reference.record["failure"]) is not None:
            self._fail_waiting(key, reason)
            return
        ks = sorted(self.schedule.neighbours.get(key, ()))
        arguments = (reference.arrays[LOGITS], self.common, ks)
        self.calls.appendleft(Call(_Search(key), _neighbours, arguments, stays=True))

    def _finish(self, key: Key, trained: TrainedRun) -> None:
        """Keep a training, on disk and for the results."""
        job = self.schedule.jobs[key]
        self.store.put(self.experiment.identity(job), trained.record, **trained.arrays)
        self.trainings.take(key, trained)
        self.on_progress(len(self.trainings.by_key), len(self.schedule.jobs), (job, trained))

    def _fail_waiting(self, key: Key, reason: str) -> None:
        """Fail all that wait for a reference that could not be had."""
        job = self.schedule.jobs[key]
        for waiting in self.waiting.pop(key):
            failed = f"its reference, plain fit {job.fit} of run {job.run}: {reason}"
            self._finish(waiting, _failed(failed))

    def _stored(self, job: Job) -> TrainedRun | None:
        """A finished training; a damaged one is dropped, noted and so made again."""
        identity = self.experiment.identity(job)
        try:
            stored = _read(self.store, self.experiment, job)
            if stored is None or not (stored.record["failure"] or "").endswith(KILLED):
                return stored
            self.store.drop(identity)  # there may be more memory now
        except DamagedError as error:
            self.trainings.notes.append(f"damaged, made again: {error}")
            self.store.drop(identity)
        return None


@dataclass(frozen=True)
class _Common:
    """What all trainings of an experiment take."""

    parts: Parts
    learner: Learner
    scenario: Scenario
    seed: int


def _train(job: Job, common: _Common, known: Known | None) -> TrainedRun:
    """Carry out one job, in whatever process this is."""
    start = time.perf_counter()
    parts = common.parts
    rows = common.scenario.rows(common.seed, job.run, job.fit, len(parts.x_train))
    seen = slice(None) if rows is None else rows
    x, y = np.asarray(parts.x_train[seen]), parts.y_train[seen]
    if (k := most_neighbours(job.method)) > len(x):
        return _failed(TOO_FEW.format(k=k, n=len(x)))
    # Neighbours are known among all examples: of some of them they are found anew.
    knn = known[1] if known and rows is None else None
    reference = known and Reference(lambda: known[0][seen], y, knn=knn)
    arrays: dict[str, Array] = {}
    failure = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RemarkWarning)  # of a warm-up: `bench` shows it
            fitted = common.learner.fit(
                job.method,
                x,
                y,
                parts.n_classes,
                seed=common.seed,
                run=job.run,
                fit=job.fit,
                reference=reference,
            )
        for part, inputs in parts.x.items():
            arrays[part] = fitted.probabilities(np.asarray(inputs))
            arrays[f"{part}_predictions"] = _classes(arrays[part])
        if job.is_reference:
            arrays[LOGITS] = score_distinct(fitted, np.asarray(parts.x_train))
    except DivergedError as error:
        failure = str(error)
    seconds = round(time.perf_counter() - start, 3)
    made_by = circumstances(common.learner.versions)
    return TrainedRun({**made_by, "failure": failure, "seconds": seconds}, arrays)


def _failed(reason: str) -> TrainedRun:
    """What is kept of a training that could not be made."""
    return TrainedRun({**circumstances(), "failure": reason}, {})


def _neighbours(logits: Float32, common: _Common, ks: list[int]) -> Known:
    """A reference's logits, and the k-NN labels among them."""
    labels, n_classes = common.parts.y_train, common.parts.n_classes
    found = knn_labels(logits, labels, ks, n_classes=n_classes, workers=1) if ks else []
    return logits, dict(zip(ks, found, strict=True))


def _classes(probabilities: Float32) -> npt.NDArray[np.unsignedinteger]:
    """The predicted classes, in the smallest type that holds them."""
    smallest = np.min_scalar_type(probabilities.shape[1] - 1)
    classes: npt.NDArray[np.unsignedinteger] = probabilities.argmax(axis=1).astype(smallest)
    return classes


def circumstances(versions: dict[str, str] | None = None) -> dict[str, Any]:
    """What a run was made by: kept beside it, no part of its identity."""
    return {
        "versions": {"unchurn": __version__, "numpy": np.__version__, **(versions or {})},
        "machine": f"{platform.system()} {platform.machine()}, {_processor()}",
    }


@cache
def _processor() -> str:
    """The processor's name, which Linux tells only here."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(": ")[2] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
