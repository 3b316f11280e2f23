"""Carry out one training of a study, in any process: its inputs, and the arrays it stores."""

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
from unchurn.methods import Method, Reference
from unchurn.neighbors import knn_labels
from unchurn.study.design.job import Job
from unchurn.study.design.parts import Parts
from unchurn.study.scenarios import Scenario
from unchurn.study.scenarios.base import Rows
from unchurn.study.scenarios.given_base import GivenBase
from unchurn.study.trainings.store import TrainedRun
from unchurn.study.trainings.store_check import LOGITS
from unchurn.training.learners.base import (
    DivergedError,
    Learner,
    Predictor,
    RemarkWarning,
    most_neighbours,
    score_distinct,
)

TOO_FEW = "k={k} is more than the {n} training examples"
WEIGHTS = "weights "  # prefix of the names of arrays with a network's weights


@dataclass(frozen=True, kw_only=True)
class Keeps:
    """Which arrays of a training are stored besides its predictions."""

    logits: bool = False  # of the training data
    weights: bool = False

    def are_in(self, run: TrainedRun) -> bool:
        """Whether a stored run has all of these arrays."""
        has_weights = any(name.startswith(WEIGHTS) for name in run.arrays)
        return (LOGITS in run.arrays or not self.logits) and (has_weights or not self.weights)


@dataclass(frozen=True, kw_only=True)
class Known:
    """Data about a reference model that dependent trainings need."""

    logits: Float32  # of the training data
    knn: dict[int, Float32]  # k-NN labels among the logits, by k
    weights: dict[str, Array]  # empty if no method needs them
    said: dict[str, Float32]  # probabilities by part
    fit: tuple[int, int]  # its run, and its stream in the run


@dataclass(frozen=True)
class Common:
    """Inputs that all trainings of an experiment share."""

    parts: Parts
    learner: Learner
    scenario: Scenario
    seed: int


def train_jobs(
    jobs: Sequence[tuple[Job, Keeps]], common: Common, *known: Known
) -> list[TrainedRun]:
    """Train once for all these jobs; return what each stores, a failure included."""
    start = time.perf_counter()
    parts, first = common.parts, jobs[0][0]
    rows = common.scenario.rows(common.seed, first.run, first.fit, len(parts.x_train))
    seen = slice(None) if rows is None else rows
    x, y = np.asarray(parts.x_train[seen]), parts.y_train[seen]
    if (k := most_neighbours(first.method)) > len(x):
        return [failed_run(TOO_FEW.format(k=k, n=len(x)))] * len(jobs)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RemarkWarning)  # on a warm-up: `bench` shows it once
            fitted = common.learner.fit_together(
                [job.method for job, _ in jobs],
                x,
                y,
                parts.n_classes,
                seed=common.seed,
                run=common.scenario.seeded_by(first.run),
                fit=first.fit,
                reference=_reference(known, common, rows),
            )
        each: list[dict[str, Array] | str] = [
            _predicted(one, job.method, common, keeps, known)
            for one, (job, keeps) in zip(fitted, jobs, strict=True)
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


def _reference(known: Sequence[Known], common: Common, rows: Rows | None) -> Reference | None:
    """The references as methods see them, restricted to these training rows; None without any."""
    if not known:
        return None
    taken = slice(None) if rows is None else rows
    first, *more = [partial(_rows_of, one.logits, taken) for one in known]
    weights = known[0].weights
    return Reference(
        first,
        common.parts.y_train[taken],
        more=more,
        # Neighbours were found among all examples; among some of them, they are searched again.
        knn=known[0].knn if rows is None else None,
        weights=(lambda: weights) if weights else None,
        known=common.scenario.known_to(known[0].fit[1]),
        seen=_seen(known[0], common)[taken],
    )


def _rows_of(logits: Float32, taken: slice | Rows) -> Float32:
    return logits[taken]


def _seen(reference: Known, common: Common) -> npt.NDArray[np.bool_]:
    """Mask of the training examples that a reference was trained on."""
    n = len(common.parts.x_train)
    rows = common.scenario.rows(common.seed, *reference.fit, n)
    if rows is None:
        return np.ones(n, bool)
    seen = np.zeros(n, bool)
    seen[rows] = True
    return seen


def _predicted(
    fitted: Predictor, method: Method, common: Common, keeps: Keeps, known: Sequence[Known]
) -> dict[str, Array] | str:
    """Arrays of a fitted model to store; the reason for failure if they are not finite."""
    arrays: dict[str, Array] = {}
    try:
        for part, inputs in common.parts.x.items():
            said = fitted.probabilities(np.asarray(inputs))
            arrays[part] = method.serve(said, known[0].said[part]) if known else said
            arrays[f"{part}_predictions"] = _classes(arrays[part])
        if keeps.logits:
            arrays[LOGITS] = score_distinct(fitted, np.asarray(common.parts.x_train))
        if keeps.weights:
            arrays |= {f"{WEIGHTS}{name}": own for name, own in fitted.weights().items()}
    except DivergedError as error:
        return str(error)
    return arrays


def failed_run(reason: str) -> TrainedRun:
    """The record of a failed training, without arrays."""
    return TrainedRun({**circumstances(), "failure": reason}, {})


def given_run(given: GivenBase, learner: Learner) -> TrainedRun:
    """A given base in the form of a run that was trained."""
    arrays: dict[str, Array] = {LOGITS: given.logits}
    for part, said in given.probabilities.items():
        arrays[part] = said
        arrays[f"{part}_predictions"] = given.predictions[part]
    weights = given.weights or {}
    arrays |= {f"{WEIGHTS}{name}": own for name, own in weights.items()}
    return TrainedRun({**circumstances(learner.versions), "failure": None, "seconds": 0.0}, arrays)


def find_neighbours(
    arrays: dict[str, Array], fit: tuple[int, int], common: Common, ks: list[int]
) -> Known:
    """Make a reference's `Known` from its stored arrays, searching the k-NN labels for `ks`."""
    labels, n_classes, logits = common.parts.y_train, common.parts.n_classes, arrays[LOGITS]
    found = knn_labels(logits, labels, ks, n_classes=n_classes, workers=1) if ks else []
    return Known(
        logits=logits,
        knn=dict(zip(ks, found, strict=True)),
        weights={n.removeprefix(WEIGHTS): a for n, a in arrays.items() if n.startswith(WEIGHTS)},
        said={part: arrays[part] for part in common.parts.x},
        fit=fit,
    )


def _classes(probabilities: Float32) -> npt.NDArray[np.unsignedinteger]:
    """Predicted classes, in the smallest integer type that holds them."""
    smallest = np.min_scalar_type(probabilities.shape[1] - 1)
    classes: npt.NDArray[np.unsignedinteger] = probabilities.argmax(axis=1).astype(smallest)
    return classes


def circumstances(versions: dict[str, str] | None = None) -> dict[str, Any]:
    """Versions and machine that made a run: part of its record, not of its identity."""
    return {
        "versions": {"unchurn": __version__, "numpy": np.__version__, **(versions or {})},
        "machine": f"{platform.system()} {platform.machine()}, {_processor()}",
    }


@cache
def _processor() -> str:
    """The processor's name; on Linux only /proc/cpuinfo has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(": ")[2] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
