"""Churn: how many predictions differ between two models, or among R retrainings (NumPy only).

Every function takes *predicted labels* (whole numbers or strings), never probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, FloatArray, IntArray
from unchurn.core.errors import InputError
from unchurn.metrics.label_kinds import alike

Given = Literal["either", "first"]  # the runs of a pair whose right and wrong predictions count


def churn(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Fraction of examples on which two models predict different labels.

    >>> churn([0, 1, 2, 2], [0, 1, 1, 2])
    0.25
    """
    one, two = alike(first=first, second=second)
    return float(np.mean(one != two))


@dataclass(frozen=True, kw_only=True)
class Flips:
    """Where each of `n` examples went from the first model to the second (counts)."""

    n: int
    unchanged_right: int
    unchanged_wrong: int
    bad_flips: int  # right → wrong
    good_flips: int  # wrong → right
    wrong_to_wrong: int  # wrong → another wrong label

    @property
    def churn(self) -> float:
        """Fraction of examples whose predicted label changed."""
        return (self.bad_flips + self.good_flips + self.wrong_to_wrong) / self.n

    @property
    def accuracy_first(self) -> float:
        """Fraction that the first model got right."""
        return (self.unchanged_right + self.bad_flips) / self.n

    @property
    def accuracy_second(self) -> float:
        """Fraction that the second model got right."""
        return (self.unchanged_right + self.good_flips) / self.n

    @property
    def rates(self) -> dict[str, float]:
        """The five counts as fractions of `n`; they sum to 1."""
        return {name: count / self.n for name, count in asdict(self).items() if name != "n"}

    def to_dict(self) -> dict[str, Any]:
        """Counts and rates as plain Python numbers."""
        return {**asdict(self), "churn": self.churn, "rates": self.rates}


def flips(first: npt.ArrayLike, second: npt.ArrayLike, labels: npt.ArrayLike) -> Flips:
    """Count how examples change between two models, given the true labels.

    >>> flips(first=[0, 1, 1, 0], second=[0, 0, 1, 2], labels=[0, 1, 0, 1])
    Flips(n=4, unchanged_right=1, unchanged_wrong=1, bad_flips=1, good_flips=0, wrong_to_wrong=1)
    """
    one, two, truth = alike(first=first, second=second, labels=labels)
    right_before, right_after, same = one == truth, two == truth, one == two

    def count(mask: Array) -> int:
        return int(np.count_nonzero(mask))

    return Flips(
        n=truth.size,
        unchanged_right=count(right_before & right_after),
        unchanged_wrong=count(~right_before & same),
        bad_flips=count(right_before & ~right_after),
        good_flips=count(~right_before & right_after),
        wrong_to_wrong=count(~right_before & ~right_after & ~same),
    )


@dataclass(frozen=True)
class MeanSd:
    """A mean and a standard deviation (ddof=1) over `count` values; NaN where undefined."""

    mean: float
    sd: float
    count: int


@dataclass(frozen=True, repr=False, kw_only=True)
class ChurnSummary:
    """Accuracy and churn of R retrainings, as fractions.

    Accuracy is a mean over the runs, the churns over all pairs of runs. Correct and incorrect churn
    are the churn among the examples that a run of the pair got right, and got wrong: the mean over
    its two runs, so that the runs' order does not matter.
    `notes` says why a value is NaN or rests on fewer pairs.
    """

    n_runs: int
    n_examples: int
    accuracy: MeanSd
    churn: MeanSd
    churn_correct: MeanSd
    churn_incorrect: MeanSd
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values; undefined numbers are NaN."""
        return {**asdict(self), "notes": list(self.notes)}

    def __repr__(self) -> str:
        lines = [f"ChurnSummary of {self.n_runs} runs on {self.n_examples:,} examples"]
        for name in ("accuracy", "churn", "churn_correct", "churn_incorrect"):
            value: MeanSd = getattr(self, name)
            over = "run" if name == "accuracy" else "pair"
            lines.append(
                f"  {name.replace('_', ' '):<16}{100 * value.mean:6.2f} %"
                f"  (sd {100 * value.sd:.2f} over {value.count} {over}{'s' * (value.count != 1)})"
            )
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def churn_summary(
    predictions: Sequence[npt.ArrayLike] | Array,
    labels: npt.ArrayLike,
    *,
    given: Given = "either",
) -> ChurnSummary:
    """Summarise R ≥ 2 retrainings: `predictions` is (R, n), or R arrays of n labels each.

    With given="first", correct and incorrect churn are among the examples that the first run of a
    pair i < j got right and wrong, as in the paper: they then depend on the order of the runs.

    >>> churn_summary([[0, 1, 1, 0], [0, 1, 0, 0], [0, 1, 1, 1]], labels=[0, 1, 1, 1])
    ChurnSummary of 3 runs on 4 examples
      accuracy         75.00 %  (sd 25.00 over 3 runs)
      churn            33.33 %  (sd 14.43 over 3 pairs)
      churn correct    18.06 %  (sd 6.36 over 3 pairs)
      churn incorrect  75.00 %  (sd 43.30 over 3 pairs)
    """
    if given not in ("either", "first"):
        raise InputError(f"given must be 'either' or 'first', not {given!r}")
    codes, truth = _codes(predictions, labels)
    correct = codes == truth
    n_runs, n = codes.shape
    n_correct = correct.sum(axis=1)

    # Per pair a few passes over small integers into reused buffers: no (R, R, n) array is made.
    differ, differ_correct = np.empty(n, bool), np.empty(n, bool)
    pairs = list(combinations(range(n_runs), 2))
    sides = 2 if given == "either" else 1
    moved, moved_correct = np.empty(len(pairs)), np.empty((sides, len(pairs)))
    for p, pair in enumerate(pairs):
        np.not_equal(codes[pair[0]], codes[pair[1]], out=differ)
        moved[p] = np.count_nonzero(differ)
        for side, run in enumerate(pair[:sides]):
            np.logical_and(differ, correct[run], out=differ_correct)
            moved_correct[side, p] = np.count_nonzero(differ_correct)
    base = n_correct[np.array(pairs).T[:sides]]

    notes: list[str] = []
    if n_runs == 2:
        notes.append("two runs make one pair: churn has no standard deviation")
    return ChurnSummary(
        n_runs=n_runs,
        n_examples=n,
        accuracy=mean_sd(n_correct / n),
        churn=mean_sd(moved / n),
        churn_correct=_among(moved_correct, base, "correct", "right", notes),
        churn_incorrect=_among(moved - moved_correct, n - base, "incorrect", "wrong", notes),
        notes=tuple(notes),
    )


def _among(moved: FloatArray, base: IntArray, name: str, kind: str, notes: list[str]) -> MeanSd:
    """Mean churn over pairs, each the mean over its runs that have such examples.

    Arrays are (sides, pairs). A note on pairs that are left out is added to `notes`.
    """
    defined = base > 0
    there = defined.any(axis=0)
    left_out = int(np.count_nonzero(~there))
    if left_out == there.size:
        notes.append(f"churn {name} is undefined: no run has a {kind} prediction to start from")
    elif left_out:
        runs = "their first run has" if len(base) == 1 else "their runs have"
        notes.append(
            f"churn {name} leaves out {left_out} of {there.size} pairs: {runs} no {kind} prediction"
        )
    rates = np.where(defined, moved, 0) / np.where(defined, base, 1)
    return mean_sd(rates.sum(axis=0)[there] / defined.sum(axis=0)[there])


def mean_sd(values: FloatArray) -> MeanSd:
    """Mean and sample standard deviation; NaN, without a warning, for too few values."""
    return MeanSd(
        mean=float(values.mean()) if values.size else float("nan"),
        sd=float(values.std(ddof=1)) if values.size > 1 else float("nan"),
        count=values.size,
    )


def _codes(
    predictions: Sequence[npt.ArrayLike] | Array, labels: npt.ArrayLike
) -> tuple[IntArray, IntArray]:
    """Runs and true labels as the smallest integers that hold them: (R, n) and (n,)."""
    if len(predictions) < 2:
        raise InputError(f"churn needs at least 2 runs, not {len(predictions)}")
    runs = {f"predictions[{r}]": run for r, run in enumerate(predictions)}
    arrays = alike(labels=labels, **runs)
    small = np.dtype(float) if arrays[0].dtype.kind == "U" else _smallest_type(arrays)
    if small.kind == "f":  # strings, or integers that no one type holds
        arrays = _numbered(arrays)
        small = _smallest_type(arrays)
    truth, *rest = (array.astype(small) for array in arrays)
    return np.stack(rest), truth


def _smallest_type(arrays: list[Array]) -> np.dtype[Any]:
    """The smallest type that holds all integers; a floating one if no integer type does."""
    low = min(int(array.min()) for array in arrays)
    high = max(int(array.max()) for array in arrays)
    return np.result_type(np.min_scalar_type(low), np.min_scalar_type(high))


def _numbered(arrays: list[Array]) -> list[Array]:
    """Number distinct labels in order of appearance: a dictionary, since sorting is far slower."""
    number: dict[str | int, int] = {}
    numbered = []
    for array in arrays:
        values = array.tolist()
        for value in dict.fromkeys(values):
            number.setdefault(value, len(number))
        numbered.append(np.fromiter(map(number.__getitem__, values), np.int32, len(values)))
    return numbered
