"""Carry an experiment out: train what the store does not hold yet, here or in other processes."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from unchurn import __version__
from unchurn.engines import local
from unchurn.experiment import (
    Experiment,
    Float32,
    Job,
    Parts,
    Plan,
    Trainer,
    plan,
    reference_of,
    too_many,
)
from unchurn.methods import Reference
from unchurn.neighbors import knn_labels
from unchurn.store import DamagedError, Store, Stored
from unchurn.training import DivergedError, score_distinct

KILLED = "its process was killed, most likely for want of memory"
# done, total, and the training that was just finished, if any
OnProgress = Callable[[int, int, "tuple[Job, Outcome] | None"], None]


def carry_out(
    experiment: Experiment,
    store: Store,
    workers: int,
    on_progress: OnProgress = lambda done, total, last: None,
) -> list[str]:
    """Train what the store does not hold yet; give notes on runs that were damaged there."""
    todo = plan(experiment)
    store.open()
    notes: list[str] = []
    missing = {id(job) for job in todo.jobs if _load(experiment, store, job, notes) is None}
    done, total = len(todo.jobs) - len(missing), len(todo.jobs)
    on_progress(done, total, None)

    def train(jobs: list[Job], arguments: Callable[[Job], tuple[Any, ...]]) -> None:
        nonlocal done
        jobs = [job for job in jobs if id(job) in missing]
        calls = [arguments(job) for job in jobs]
        for number, outcome in local.execute(_train, calls, workers, _killed):
            store.put(experiment.identity(jobs[number]), outcome.record, **outcome.arrays)
            done += 1
            on_progress(done, total, (jobs[number], outcome))

    def fail(job: Job, reason: str) -> None:
        nonlocal done
        missing.discard(id(job))
        store.put(experiment.identity(job), {**_circumstances(), "failure": reason})
        done += 1
        on_progress(done, total, None)

    common = (experiment.parts, experiment.trainer, experiment.seed)
    train(list(todo.plain.values()), lambda job: (job, *common, None, {}))
    references = _references(experiment, store, todo, missing)

    def with_reference(job: Job) -> tuple[Any, ...]:
        where = reference_of(experiment, job)
        return (job, *common, *(references[where] if where else (None, {})))

    for job in todo.fits:
        where = reference_of(experiment, job)
        if id(job) in missing and too_many(experiment, job):
            n = len(experiment.parts.x_train)
            fail(job, f"k={job.method.reference_k} is more than the {n} training examples")
        elif id(job) in missing and where and where not in references:
            stored = store.get(experiment.identity(todo.plain[where]))
            reason = stored.record["failure"] if stored else "it is gone"
            fail(job, f"its reference, plain fit {where[1]} of run {where[0]}: {reason}")
    train(todo.fits, with_reference)
    return notes


@dataclass(frozen=True)
class Outcome:
    """What a training gives back: predictions on every part, or why it failed."""

    arrays: dict[str, npt.NDArray[Any]]
    record: dict[str, Any]


def _train(
    job: Job,
    parts: Parts,
    trainer: Trainer,
    seed: int,
    logits: Float32 | None,
    knn: dict[int, Float32],
) -> Outcome:
    """Carry out one job, in whatever process this is."""
    start = time.perf_counter()
    reference = None if logits is None else Reference(lambda: logits, parts.y_train, knn=knn)
    arrays: dict[str, npt.NDArray[Any]] = {}
    failure = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a warm-up: `bench` shows it
            fitted = trainer(
                job.method,
                np.asarray(parts.x_train),
                parts.y_train,
                parts.n_classes,
                seed=seed,
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
    return Outcome(arrays, {**_circumstances(), "failure": failure, "seconds": seconds})


def _killed() -> Outcome:
    """What a training gives whose process was killed, even when it was the only one."""
    return Outcome({}, {**_circumstances(), "failure": KILLED})


def _classes(probabilities: Float32) -> npt.NDArray[np.unsignedinteger]:
    """The predicted classes, in the smallest type that holds them."""
    smallest = np.min_scalar_type(probabilities.shape[1] - 1)
    classes: npt.NDArray[np.unsignedinteger] = probabilities.argmax(axis=1).astype(smallest)
    return classes


def _circumstances() -> dict[str, Any]:
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


def _references(
    experiment: Experiment, store: Store, todo: Plan, missing: set[int]
) -> dict[tuple[int, int], tuple[Float32, dict[int, Float32]]]:
    """Of every reference to a missing run that did not diverge, the logits and k-NN labels."""
    wanted = {
        where
        for job in todo.fits
        if id(job) in missing and (where := reference_of(experiment, job)) is not None
    }
    labels, n_classes = experiment.parts.y_train, experiment.parts.n_classes
    references = {}
    for where in wanted:
        stored = store.get(experiment.identity(todo.plain[where]))
        if stored is not None and stored.record["failure"] is None:
            logits, ks = stored.arrays["logits"], todo.neighbours.get(where, [])
            found = knn_labels(logits, labels, ks, n_classes=n_classes) if ks else []
            references[where] = logits, dict(zip(ks, found, strict=True))
    return references


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
