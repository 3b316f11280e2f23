"""The noise floor: how many predictions retraining alone changes, and if a candidate exceeds it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unchurn.comparison.inputs.classes import UNLABELLED
from unchurn.comparison.inputs.ids.lookup import find
from unchurn.comparison.inputs.ids.matching import check_overlap
from unchurn.comparison.inputs.pairs import Paired, pair
from unchurn.comparison.inputs.predictions import Predictions
from unchurn.comparison.inputs.spelling import in_one_spelling
from unchurn.comparison.noise.copies import cautions_on_copies
from unchurn.comparison.noise.kind_of_noise import SEED_ONLY
from unchurn.comparison.noise.other_recipe import caution_on_recipe
from unchurn.core.arrays import Array, IntArray
from unchurn.core.errors import InputError
from unchurn.metrics.intervals import Interval
from unchurn.metrics.over_runs import (
    Excess,
    accuracy_prediction_interval,
    churn_over_runs,
    prediction_interval,
)
from unchurn.report.numbers import percent

if TYPE_CHECKING:
    import polars as pl

ENOUGH = 3  # retrainings to predict one more from: with two, the interval is almost 0 to all
BASE_MODELS = "base-model-*"  # files of the models that a bench of upgrades compares runs with
BENCH_RETRAININGS = "predictions/control-*.parquet"  # runs of plain training in a bench's folder


@dataclass(frozen=True, kw_only=True)
class Accuracies:
    """Accuracies of base, candidate and each retraining, on the labelled examples that all have.

    `lost` is the retrainings' mean accuracy minus the candidate's; `expected` is the prediction
    interval of one more retraining's accuracy.
    """

    n: int
    base: float
    candidate: float
    each: tuple[float, ...]
    lost: Excess
    expected: tuple[float, float]

    @property
    def is_another_retraining(self) -> bool | None:
        """Whether the candidate's accuracy may be that of one more retraining; None if unknown."""
        low, high = self.expected
        is_known = len(self.each) >= ENOUGH and not math.isnan(low)
        return low <= self.candidate <= high if is_known else None

    def of_copies(self) -> Accuracies:
        """The same accuracies without intervals, which copies cannot give."""
        return replace(self, lost=replace(self.lost, variances=None), expected=(math.nan, math.nan))

    def expected_of(self, runs: int) -> tuple[float, float]:
        """Prediction interval of one more's accuracy, if `runs` retrainings varied as much."""
        return accuracy_prediction_interval(np.array(self.each), self.n, runs)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "n": self.n,
            "base": self.base,
            "candidate": self.candidate,
            "retrains": list(self.each),
            "excess_loss": self.lost.interval().to_dict(),
            "expected": _ends(self.expected),
            "is_another_retraining": self.is_another_retraining,
        }


@dataclass(frozen=True, kw_only=True)
class Floor:
    """Churn between base and retrainings of its recipe, and how much the candidate exceeds it.

    `churn` is the mean over retrainings; `beyond` is the candidate's churn minus that mean, for
    this base and this candidate; `expected` is the prediction interval of one more's churn.
    """

    n: int
    each: tuple[float, ...]
    churn: Interval
    candidate: float
    beyond: Excess
    expected: tuple[float, float]
    notes: tuple[str, ...]
    accuracy: Accuracies | None = None  # if there are labels, and not only on flips
    caution: str | None = None  # that the retrainings may be of another recipe
    copies: tuple[str, ...] = ()  # that retrainings may be copies: then there are no intervals

    @cached_property
    def excess(self) -> Interval:
        """The candidate's churn minus the retrainings' mean, with its interval."""
        return self.beyond.interval()

    @property
    def is_another_retraining(self) -> bool | None:
        """Whether the candidate's churn may be that of one more retraining; None if unknown."""
        low, high = self.expected
        candidate = max(self.candidate, 0.5 / self.n)  # no flip counts as half of one, as there
        is_known = len(self.each) >= ENOUGH and not self.copies
        return low <= candidate <= high if is_known else None

    def of_copies(self, copies: tuple[str, ...]) -> Floor:
        """The same floor without intervals, which copies cannot give, and without notes on them."""
        accuracy = None if self.accuracy is None else self.accuracy.of_copies()
        return replace(
            self,
            churn=Interval(self.churn.value, math.nan, math.nan),
            beyond=replace(self.beyond, variances=None),
            expected=(math.nan, math.nan),
            notes=self.notes[:1],
            accuracy=accuracy,
            copies=copies,
        )

    def expected_of(self, runs: int) -> tuple[float, float]:
        """Prediction interval of one more's churn, if `runs` retrainings varied as much."""
        return prediction_interval(np.array(self.each), self.n, runs)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "n": self.n,
            "retrains": list(self.each),
            "churn": self.churn.to_dict(),
            "excess": self.excess.to_dict(),
            "expected": _ends(self.expected),
            "is_another_retraining": self.is_another_retraining,
            "accuracy": None if self.accuracy is None else self.accuracy.to_dict(),
        }


def _ends(expected: tuple[float, float]) -> dict[str, float | None]:
    low, high = (None if math.isnan(end) else end for end in expected)
    return {"low": low, "high": high}


def retraining_files(
    paths: list[Path], base: Path | None = None, candidate: Path | None = None
) -> list[Path]:
    """The files of retrainings, each once; a bench's folder gives its runs of plain training.

    Base and candidate are left out of a folder, and refused as single files.
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
        elif not path.suffix and not path.exists():  # probably meant as a folder
            raise InputError(f"{path}: no such folder or file")
        elif (full := path.resolve()) in known or full in files:
            raise InputError(f"{path} is {known.get(full, 'there twice')}: no further retraining")
        else:
            files[full] = path
    for file in files.values():
        if base is not None and _is_upgrade_of(base, file):
            raise InputError(
                f"{file}: was trained on newer data than {base.name}, so it is no retraining of it;"
                f" the others of {BASE_MODELS} are"
            )
    if not files:
        raise InputError("there is no retraining but base and candidate themselves")
    return list(files.values())


def _is_upgrade_of(base: Path, file: Path) -> bool:
    """Whether a bench of upgrades trained `file` as a successor of `base`."""
    is_beside = file.resolve().parent == base.resolve().parent
    return is_beside and base.match(BASE_MODELS) and not file.match(BASE_MODELS)


def noise_floor(
    base: Predictions,
    candidate: Paired,
    retrains: Sequence[Predictions],
    of_kind: str = SEED_ONLY,
    name: str = "candidate",
) -> Floor:
    """Compare base with each retraining, on the rows that all of them and the candidate have.

    `of_kind` is a note on the kind of their noise, and `name` is the candidate's name.
    """
    pairs = [pair(base, other, one_class=candidate.one_class) for other in retrains]
    for other, paired in zip(retrains, pairs, strict=True):
        if paired.one_class != candidate.one_class:
            raise InputError(
                f"{other.name} tells only {paired.one_class!r} from all others, base and candidate "
                "tell more"
            )
    rows, *places = _shared([one.ids for one in (candidate, *pairs)])
    each = [candidate, *pairs], [rows, *places]
    moved = np.stack([(one.base != one.candidate)[at] for one, at in zip(*each, strict=True)])
    clusters = None if candidate.clusters is None else candidate.clusters[rows]
    floor = floor_of(moved[1:], moved[0], clusters, of_kind)
    said = _said(*each)
    floor = replace(floor, caution=caution_on_recipe(moved[1:], said[1:], clusters))
    if candidate.labels is not None and (candidate.labels[rows] != UNLABELLED).any():
        labelled = candidate.labels[rows] != UNLABELLED
        right = _right(candidate, rows[labelled], pairs, [at[labelled] for at in places])
        accuracy = accuracies_of(right, None if clusters is None else clusters[labelled])
        floor = replace(floor, accuracy=accuracy)
    names = (name, *(one.name for one in retrains))
    copies = cautions_on_copies(base.name, names, moved, said)
    return floor.of_copies(copies) if copies else floor


def moved_from_each(models: Sequence[Predictions], min_overlap: float) -> list[Array]:
    """For each model, where the others differ from it, on rows that all have: (models − 1, n).

    None of them is the base, so each takes a turn.
    """
    (first, *others), _ = in_one_spelling(models)
    only = next((model.only_class for model in (first, *others) if model.only_class), None)
    pairs = [pair(first, other, one_class=only) for other in others]
    for other, paired in zip(others, pairs, strict=True):
        check_overlap(first, other, paired.n, min_overlap)
    itself = replace(pairs[0], candidate=pairs[0].base)
    places = _shared([one.ids for one in pairs])
    said = _said([itself, *pairs], [places[0], *places])
    return [np.delete(said, i, axis=0) != own for i, own in enumerate(said)]


def _shared(ids: list[pl.Series]) -> list[IntArray]:
    """For each table, the rows of the examples that all tables have, in the first one's order."""
    found = [find(ids[0], other) for other in ids]  # None if in the same rows
    there = [at >= 0 for at in found if at is not None]
    rows = np.flatnonzero(np.logical_and.reduce([np.ones(len(ids[0]), bool), *there]))
    if len(rows) == 0:
        raise InputError("the retrainings have no example in common with both models")
    return [rows if at is None else at[rows] for at in found]


def _said(pairs: list[Paired], places: list[IntArray]) -> IntArray:
    """What each model predicts, in one numbering of the classes: (R, n)."""
    known = {name: i for i, name in enumerate(dict.fromkeys(c for p in pairs for c in p.classes))}
    numbers = [np.array([known[name] for name in one.classes]) for one in pairs]
    each = zip(numbers, pairs, places, strict=True)
    return np.stack([own[one.candidate[at]] for own, one, at in each])


def _right(
    candidate: Paired, rows: IntArray, pairs: list[Paired], places: list[IntArray]
) -> npt.NDArray[np.bool_]:
    """Mask of the labelled examples that base, candidate and each retraining get right.

    Shape (2 + R, n).
    """
    assert candidate.labels is not None  # noqa: S101
    labels = candidate.labels[rows]
    found = [candidate.base[rows] == labels, candidate.candidate[rows] == labels]
    for one, at in zip(pairs, places, strict=True):  # each pair has numbered its own classes
        known = {name: number for number, name in enumerate(candidate.classes)}
        numbers = np.array([known.get(name, len(known)) for name in one.classes])
        found.append(numbers[one.candidate[at]] == labels)
    return np.stack(found)


def accuracies_of(right: npt.NDArray[np.bool_], clusters: IntArray | None = None) -> Accuracies:
    """Accuracies from the mask of examples that base, candidate and R retrainings get right.

    Shape of `right`: (2 + R, n).
    """
    base, candidate, *each = right.mean(axis=1).tolist()
    excess = Excess.of(right[1], right[2:], clusters)
    n = right.shape[1]
    return Accuracies(
        n=n,
        base=base,
        candidate=candidate,
        each=tuple(each),
        lost=excess.reversed(),
        expected=accuracy_prediction_interval(np.array(each), n),
    )


def floor_of(
    retrained: Any,
    moved: Any,
    clusters: IntArray | None = None,
    of_kind: str = SEED_ONLY,
) -> Floor:
    """The floor from masks of changed predictions: (R, n) of retrainings, (n,) of the candidate."""
    n_runs, n = retrained.shape
    each = retrained.mean(axis=1)
    notes = [of_kind]
    if not retrained.any():
        notes.append("every retraining predicts what base does: retraining alone changes nothing")
    low, high = expected = prediction_interval(each, n)
    if n_runs == 1:
        notes.append("one retraining gives no interval: is a difference chance? Retrain twice more")
    elif n_runs < ENOUGH:
        notes.append(f"{n_runs} retrainings do not tell what one more may do: retrain once more")
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
        beyond=Excess.of(moved, retrained, clusters),
        expected=expected,
        notes=tuple(notes),
    )
