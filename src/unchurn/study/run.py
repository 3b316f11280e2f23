"""Carry an experiment out: train what the store does not hold yet, wherever the engine does."""

from __future__ import annotations

import platform
import time
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from unchurn import __version__
from unchurn.core.executors import Call, Executor
from unchurn.methods import Reference
from unchurn.neighbors import knn_labels
from unchurn.study.experiment import (
    Experiment,
    Float32,
    Job,
    Parts,
    Trainer,
    plan,
    reference_of,
    too_many,
)
from unchurn.study.store import DamagedError, Store, Stored
from unchurn.training.loop import DivergedError, score_distinct

KILLED = "its process was killed, most likely for want of memory"
Where = tuple[int, int]  # run and fit
Known = tuple[Float32, dict[int, Float32]]  # of a reference: its logits, and k-NN labels by k
# done, total, and the training that was just finished, if any
OnProgress = Callable[[int, int, "tuple[Job, Outcome] | None"], None]


def carry_out(
    experiment: Experiment,
    store: Store,
    engine: Executor,
    on_progress: OnProgress = lambda done, total, last: None,
) -> list[str]:
    """Train what the store does not hold yet; give notes on runs that were damaged there.

    Fits that use a reference are called when it is trained and its k-NN labels are there; all else
    at once. Only this process writes to the store.
    """
    todo = plan(experiment)
    store.open()
    notes: list[str] = []
    missing = [job for job in todo.jobs if _load(experiment, store, job, notes) is None]
    done, total = len(todo.jobs) - len(missing), len(todo.jobs)
    on_progress(done, total, None)
    if not missing:
        return notes

    gpus = int(experiment.training.device.startswith("cuda"))
    common = engine.share(Common(experiment.parts, experiment.trainer, experiment.seed))
    calls: deque[Call] = deque()
    waiting: dict[Where, list[Job]] = {}  # by the reference that they wait for

    def train(job: Job, reference: Any = None) -> None:
        calls.append(Call(job, _train, (job, common, reference), gpus=gpus))

    def keep(job: Job, outcome: Outcome) -> None:
        nonlocal done
        store.put(experiment.identity(job), outcome.record, **outcome.arrays)
        done += 1
        on_progress(done, total, (job, outcome))

    def fail(where: Where, reason: str) -> None:
        for job in waiting.pop(where):
            keep(job, _failed(f"its reference, plain fit {where[1]} of run {where[0]}: {reason}"))

    def find_neighbours(where: Where, reference: Stored | Outcome) -> None:
        if (reason := reference.record["failure"]) is not None:
            fail(where, reason)
            return
        arguments = (reference.arrays["logits"], common, todo.neighbours.get(where, []))
        calls.appendleft(Call(where, _neighbours, arguments, stays=True))

    for job in missing:
        where = reference_of(experiment, job)
        if too_many(experiment, job):
            n = len(experiment.parts.x_train)
            keep(job, _failed(f"k={job.method.reference_k} is more than the {n} training examples"))
        elif where is None:
            train(job)
        else:
            waiting.setdefault(where, []).append(job)
    for place in list(waiting):
        stored = store.get(experiment.identity(todo.plain[place]))
        if stored is not None:
            find_neighbours(place, stored)
    for key, result in engine.execute(calls, lambda: _failed(KILLED)):
        if not isinstance(key, Job):
            if isinstance(result, Outcome):
                fail(key, result.record["failure"])
            for job in waiting.pop(key, []):
                train(job, result)
            continue
        keep(key, result)
        if key.is_plain and (place := (key.run, key.fit)) in waiting:
            find_neighbours(place, result)
    return notes


@dataclass(frozen=True)
class Common:
    """What all trainings of an experiment take."""

    parts: Parts
    trainer: Trainer
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What a training gives back: predictions on every part, or why it failed."""

    arrays: dict[str, npt.NDArray[Any]]
    record: dict[str, Any]


def _train(job: Job, common: Common, known: Known | None) -> Outcome:
    """Carry out one job, in whatever process this is."""
    start = time.perf_counter()
    parts = common.parts
    reference = known and Reference(lambda: known[0], parts.y_train, knn=known[1])
    arrays: dict[str, npt.NDArray[Any]] = {}
    failure = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a warm-up: `bench` shows it
            fitted = common.trainer(
                job.method,
                np.asarray(parts.x_train),
                parts.y_train,
                parts.n_classes,
                seed=common.seed,
                run=job.run,
                fit=job.fit,
                reference=reference,
            )
        for part, x in parts.x.items():
            arrays[part] = fitted.probabilities(np.asarray(x))
            arrays[f"{part}_predictions"] = _classes(arrays[part])
        if job.is_reference:
            arrays["logits"] = score_distinct(fitted, np.asarray(parts.x_train))
    except DivergedError as error:
        failure = str(error)
    seconds = round(time.perf_counter() - start, 3)
    return Outcome(arrays, {**circumstances(), "failure": failure, "seconds": seconds})


def _failed(reason: str) -> Outcome:
    """What is kept of a training that could not be made."""
    return Outcome({}, {**circumstances(), "failure": reason})


def _neighbours(logits: Float32, common: Common, ks: list[int]) -> Known:
    """A reference's logits, and the k-NN labels among them."""
    labels, n_classes = common.parts.y_train, common.parts.n_classes
    found = knn_labels(logits, labels, ks, n_classes=n_classes, workers=1) if ks else []
    return logits, dict(zip(ks, found, strict=True))


def _classes(probabilities: Float32) -> npt.NDArray[np.unsignedinteger]:
    """The predicted classes, in the smallest type that holds them."""
    smallest = np.min_scalar_type(probabilities.shape[1] - 1)
    classes: npt.NDArray[np.unsignedinteger] = probabilities.argmax(axis=1).astype(smallest)
    return classes


def circumstances() -> dict[str, Any]:
    """What a run was made by: kept beside it, no part of its identity."""
    return {
        "versions": {"unchurn": __version__, "numpy": np.__version__, "torch": torch.__version__},
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


def _load(experiment: Experiment, store: Store, job: Job, notes: list[str]) -> Stored | None:
    """A finished run; a damaged one is dropped, noted and so made again."""
    identity = experiment.identity(job)
    try:
        stored = store.get(identity)
        if stored is None or not (stored.record["failure"] or "").endswith(KILLED):
            return stored
        store.drop(identity)  # there may be more memory now
        return None
    except DamagedError as error:
        notes.append(f"damaged, made again: {error}")
        store.drop(identity)
        return None
