"""One training of a study, in whatever process: what goes in, and what is kept of it."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, Float32
from unchurn.core.version import __version__
from unchurn.methods import Reference
from unchurn.neighbors import knn_labels
from unchurn.study.believed import LOGITS
from unchurn.study.experiment import Job
from unchurn.study.parts import Classes, Parts
from unchurn.study.scenarios import Scenario
from unchurn.study.scenarios.base import Rows
from unchurn.study.store import TrainedRun
from unchurn.training.learners.base import (
    DivergedError,
    Learner,
    Predictor,
    RemarkWarning,
    most_neighbours,
    score_distinct,
)

TOO_FEW = "k={k} is more than the {n} training examples"
Known = tuple[Float32, dict[int, Float32]]  # of a reference: its logits, and k-NN labels by k


@dataclass(frozen=True)
class Common:
    """What all trainings of an experiment take."""

    parts: Parts
    learner: Learner
    scenario: Scenario
    seed: int


def train_jobs(jobs: Sequence[tuple[Job, bool]], common: Common, *known: Known) -> list[TrainedRun]:
    """Carry out jobs that are one training, in whatever process this is; some keep their logits."""
    start = time.perf_counter()
    parts, first = common.parts, jobs[0][0]
    rows = common.scenario.rows(common.seed, first.run, first.fit, len(parts.x_train))
    seen = slice(None) if rows is None else rows
    x, y = np.asarray(parts.x_train[seen]), parts.y_train[seen]
    if (k := most_neighbours(first.method)) > len(x):
        return [failed_run(TOO_FEW.format(k=k, n=len(x)))] * len(jobs)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RemarkWarning)  # of a warm-up: `bench` shows it
            fitted = common.learner.fit_together(
                [job.method for job, _ in jobs],
                x,
                y,
                parts.n_classes,
                seed=common.seed,
                run=first.run,
                fit=first.fit,
                reference=_reference(known, y, rows),
            )
        each: list[dict[str, Array] | str] = [
            _predicted(one, parts, keeps) for one, (_, keeps) in zip(fitted, jobs, strict=True)
        ]
    except DivergedError as error:
        each = [str(error)] * len(jobs)
    seconds = round((time.perf_counter() - start) / len(jobs), 3)
    made_by = circumstances(common.learner.versions)
    return [
        TrainedRun({**made_by, "failure": one, "seconds": seconds}, {})
        if isinstance(one, str)
        else TrainedRun({**made_by, "failure": None, "seconds": seconds}, one)
        for one in each
    ]


def _reference(known: Sequence[Known], y: Classes, rows: Rows | None) -> Reference | None:
    """What is known of the references, as far as these rows of the training examples go."""
    if not known:
        return None
    seen = slice(None) if rows is None else rows
    first, *more = [partial(_rows_of, logits, seen) for logits, _ in known]
    # Neighbours are known among all examples: of some of them they are found anew.
    return Reference(first, y, more=more, knn=known[0][1] if rows is None else None)


def _rows_of(logits: Float32, seen: slice | Rows) -> Float32:
    return logits[seen]


def _predicted(fitted: Predictor, parts: Parts, keeps_logits: bool) -> dict[str, Array] | str:
    """Probabilities and classes of every part; why not, if they are not finite."""
    arrays: dict[str, Array] = {}
    try:
        for part, inputs in parts.x.items():
            arrays[part] = fitted.probabilities(np.asarray(inputs))
            arrays[f"{part}_predictions"] = _classes(arrays[part])
        if keeps_logits:
            arrays[LOGITS] = score_distinct(fitted, np.asarray(parts.x_train))
    except DivergedError as error:
        return str(error)
    return arrays


def failed_run(reason: str) -> TrainedRun:
    """What is kept of a training that could not be made."""
    return TrainedRun({**circumstances(), "failure": reason}, {})


def find_neighbours(logits: Float32, common: Common, ks: list[int]) -> Known:
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
