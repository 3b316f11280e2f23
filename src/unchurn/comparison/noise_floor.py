"""The noise floor: how much retraining alone moves predictions, and is a candidate beyond it?"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.comparison.inputs.ids import find
from unchurn.comparison.inputs.pairs import Paired, pair
from unchurn.comparison.inputs.predictions import Predictions
from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError
from unchurn.metrics.intervals import Interval
from unchurn.metrics.over_runs import churn_over_runs, excess_over_runs, prediction_interval
from unchurn.report.numbers import percent

BENCH_RETRAININGS = "predictions/control-*.parquet"  # runs of plain training in a bench's folder
SEED_ONLY = (
    "retrainings that vary only the seed give the noise of the seed alone: new data or code may "
    "move more"
)


@dataclass(frozen=True, kw_only=True)
class Floor:
    """Churn between base and retrainings of its recipe, and what the candidate has beyond it.

    `churn` is the mean over retrainings; `excess` is the candidate's churn less that mean, for this
    base and this candidate; `expected` is where the churn of one more retraining lies.
    """

    n: int
    each: tuple[float, ...]
    churn: Interval
    candidate: float
    excess: Interval
    expected: tuple[float, float]
    notes: tuple[str, ...]

    @property
    def is_another_retraining(self) -> bool | None:
        """Whether the candidate moves as one more retraining would; None if that cannot be said."""
        low, high = self.expected
        candidate = max(self.candidate, 0.5 / self.n)  # no flip counts as half, as there
        return None if math.isnan(low) else low <= candidate <= high

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        low, high = (None if math.isnan(end) else end for end in self.expected)
        return {
            "n": self.n,
            "retrains": list(self.each),
            "churn": self.churn.to_dict(),
            "excess": self.excess.to_dict(),
            "expected": {"low": low, "high": high},
            "is_another_retraining": self.is_another_retraining,
        }


def retraining_files(
    paths: list[Path], base: Path | None = None, candidate: Path | None = None
) -> list[Path]:
    """The files of retrainings, each once: as given; of a bench's folder, runs of plain training.

    Base and candidate are left out of a folder; given as a retraining, either is a mistake.
    """
    known = {path.resolve(): what for path, what in ((base, "base"), (candidate, "the candidate"))
             if path is not None}  # fmt: skip
    files: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            found = sorted(path.glob(BENCH_RETRAININGS))
            if not found:
                raise InputError(
                    f"{path}: no {BENCH_RETRAININGS} is there, as unchurn bench writes"
                )
            files |= {file.resolve(): file for file in found if file.resolve() not in known}
        elif (full := path.resolve()) in known or full in files:
            raise InputError(f"{path} is {known.get(full, 'there twice')}: no further retraining")
        else:
            files[full] = path
    if not files:
        raise InputError("there is no retraining but base and candidate themselves")
    return list(files.values())


def noise_floor(base: Predictions, candidate: Paired, retrains: list[Predictions]) -> Floor:
    """Compare base with each retraining, on the rows that all have and the candidate has too."""
    pairs = [pair(base, other, one_class=candidate.one_class) for other in retrains]
    for other, paired in zip(retrains, pairs, strict=True):
        if paired.one_class != candidate.one_class:
            raise InputError(
                f"{other.name} tells only {paired.one_class!r} from all others, base and candidate "
                "tell more"
            )
    rows, moved = what_moved([candidate, *pairs])
    clusters = None if candidate.clusters is None else candidate.clusters[rows]
    return floor_of(moved[1:], moved[0], candidate.n, clusters)


def what_moved(pairs: Iterable[Paired]) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """The first pair's rows that all of them have, and what differs there in each: (pairs, n)."""
    ids_and_flips = [(paired.ids, paired.base != paired.candidate) for paired in pairs]
    first = ids_and_flips[0][0]
    found = [(find(first, ids), flips) for ids, flips in ids_and_flips]  # None: in the same rows
    there = [at >= 0 for at, _ in found if at is not None]
    rows = np.flatnonzero(np.logical_and.reduce([np.ones(len(first), bool), *there]))
    if len(rows) == 0:
        raise InputError("the retrainings have no example in common with both models")
    return rows, np.stack([flips[rows if at is None else at[rows]] for at, flips in found])


def floor_of(retrained: Any, moved: Any, n_rows: int, clusters: IntArray | None = None) -> Floor:
    """The floor from masks of what moved: (R, n) for the retrainings, (n,) for the candidate."""
    n_runs, n = retrained.shape
    each = retrained.mean(axis=1)
    notes = [SEED_ONLY]
    if n < n_rows:
        notes.append(f"the noise floor is of the {n:,} examples that every retraining has")
    if (each == 0).any():
        notes.append("a retraining agrees with base everywhere: is it the same model?")
    if moved.any() and (retrained == moved).all(axis=1).any():
        notes.append("a retraining flips what the candidate flips: is it the candidate?")
    if len({row.tobytes() for row in retrained[each > 0]}) < np.count_nonzero(each):
        notes.append("two retrainings flip the very same examples: are they the same model?")
    low, high = expected = prediction_interval(each, n)
    if n_runs == 1:
        notes.append("one retraining gives no interval: is a difference chance? Retrain twice more")
    elif high / low > 2:
        notes.append(
            f"{n_runs} retrainings leave the floor wide: one more may churn from {percent(low)} to "
            f"{percent(high)}"
        )
    return Floor(
        n=n,
        each=tuple(float(c) for c in each),
        churn=churn_over_runs(retrained, clusters),
        candidate=float(moved.mean()),
        excess=excess_over_runs(moved, retrained, clusters),
        expected=expected,
        notes=tuple(notes),
    )
