"""`compare`: what moved between two models, where, for better or for worse, and beyond noise?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unchurn.arrays import IntArray
from unchurn.errors import InputError
from unchurn.floor import Floor, noise_floor
from unchurn.outcomes import Counting, Mask, Outcomes
from unchurn.pairing import Paired, pair
from unchurn.predictions import Columns, read_labels, read_predictions
from unchurn.slicing import Slice, compare_slices
from unchurn.stats import Interval, mcnemar

if TYPE_CHECKING:
    from unchurn.gate import Policy, Verdict

SCHEMA = "unchurn.compare/1"
# The estimates, in the order in which they are shown; all but the first need true labels.
MEASURES = ("churn", "accuracy_base", "accuracy_candidate", "accuracy_difference", "churn_correct",
            "churn_incorrect", "bad_flips", "good_flips", "wrong_to_wrong")  # fmt: skip
THRESHOLDS = tuple(round(0.05 * i, 2) for i in range(1, 20))


@dataclass(frozen=True)
class Comparison:
    """Two models compared; `estimates` are by the names in MEASURES, as far as there are labels."""

    paired: Paired
    outcomes: Outcomes
    counting: Counting
    estimates: dict[str, Interval]
    mcnemar: tuple[float, float] | None  # exact and mid p
    movement: dict[str, float] | None
    classes: list[dict[str, Any]]
    slices: list[Slice]
    thresholds: list[dict[str, float]]
    floor: Floor | None
    taken: dict[str, dict[str, str]]
    notes: tuple[str, ...] = field(default=())

    @property
    def n(self) -> int:
        """How many examples were compared."""
        return self.paired.n

    @property
    def n_labelled(self) -> int:
        """How many of them have a true label."""
        return int(np.count_nonzero(self.outcomes.labelled))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; docs/compare.md describes it."""
        empty = None if self.mcnemar is None else self.mcnemar
        return {
            "schema": SCHEMA,
            "n": self.n,
            "n_labelled": self.n_labelled,
            **{m: self.estimates[m].to_dict() if m in self.estimates else None for m in MEASURES},
            "mcnemar_p": empty and empty[0],
            "mcnemar_mid_p": empty and empty[1],
            "movement": self.movement,
            "classes": self.classes,
            "slices": [one.to_dict() for one in self.slices],
            "thresholds": self.thresholds,
            "noise_floor": None if self.floor is None else self.floor.to_dict(),
            "excluded": self.paired.excluded,
            "columns": self.taken,
            "notes": list(self.notes),
        }

    def gate(self, policy: Policy | dict[str, Any] | str | Path) -> Verdict:
        """Decide by a policy: promote, hold or reject."""
        from unchurn.gate import decide

        return decide(self, policy)

    def html(self, path: str | Path, verdict: Verdict | None = None) -> None:
        """Write it as one HTML page that needs no network, a gate's verdict above it if given."""
        from unchurn.report.comparison import write_comparison

        write_comparison(self, Path(path), verdict)


def compare(
    base: Any,
    candidate: Any,
    labels: Any = None,
    slices: Sequence[str] | dict[str, Any] | None = None,
    retrains: Sequence[Any] | None = None,
    *,
    columns: Columns | None = None,
    cluster: Any = None,
    min_slice: int = 50,
    names: tuple[str, str] = ("base", "candidate"),
) -> Comparison:
    """Compare a candidate model's predictions with those of the model it would replace.

    Parameters
    ----------
    base, candidate
        A file's path (CSV, Parquet, JSON lines, NPZ), a Polars or pandas frame, an array of labels
        or an array (n, classes) of probabilities; a row per example, joined by id where there is
        one.
    labels
        True labels, in any of these forms; else from a column of either model's.
    slices
        Columns by which to slice, or arrays by name.
    retrains
        Other retrainings of the base's recipe: how much does retraining alone move?
    columns
        Which column is what, where the names do not say it.
    cluster
        A column, or an array, of what groups rows that are not independent, such as a user.
    min_slice
        Slices with fewer examples are counted, not compared.

    >>> result = compare(["cat", "dog", "dog"], ["cat", "eel", "dog"], labels=["cat", "eel", "dog"])
    >>> result.estimates["churn"].value
    0.333...
    """
    columns = columns or Columns()
    own_slices = slices if isinstance(slices, dict) else {}
    own_cluster = None if cluster is None or isinstance(cluster, str) else cluster
    columns = Columns(
        **{
            **asdict(columns),
            "slices": columns.slices if slices is None or own_slices else tuple(slices),
            "cluster": cluster if isinstance(cluster, str) else columns.cluster,
        }
    )
    one = read_predictions(base, names[0], columns)
    two = read_predictions(candidate, names[1], columns)
    truth = None if labels is None else read_labels(labels, "labels", columns)
    paired = pair(one, two, truth, columns.slices, columns.cluster)
    paired = _with_arrays(paired, own_slices, own_cluster)
    floor = None
    if retrains:
        others = [
            read_predictions(other, f"retraining {i + 1}", columns)
            for i, other in enumerate(retrains)
        ]
        floor = noise_floor(one, two, others)
    taken = {one.name: one.taken, two.name: two.taken}
    return _compared(paired, floor, taken, min_slice)


def _with_arrays(paired: Paired, slices: dict[str, Any], cluster: Any) -> Paired:
    """Add slices and clusters that were given as arrays, one value per row of base."""
    from dataclasses import replace

    import polars as pl

    given = {name: pl.Series(name, np.asarray(values)) for name, values in slices.items()}
    if cluster is not None:
        given["\0cluster"] = pl.Series(np.asarray(cluster))
    for name, values in given.items():
        if len(values) != paired.n:
            shown = name.strip("\0")
            raise InputError(f"{shown} has {len(values)} values for {paired.n} examples")
    if "\0cluster" in given:
        numbers = np.unique(given.pop("\0cluster").to_numpy(), return_inverse=True)[1]
        paired = replace(paired, clusters=numbers.astype(np.int64))
    return replace(paired, slices={**paired.slices, **given})


def _compared(
    paired: Paired, floor: Floor | None, taken: dict[str, dict[str, str]], min_slice: int
) -> Comparison:
    """All measures of two models whose predictions are side by side."""
    outcomes, counting = Outcomes.of(paired), Counting(paired.clusters)
    estimates = {"churn": counting.rate(outcomes.flipped)}
    test = None
    if paired.labels is not None:
        known = outcomes.labelled
        before = outcomes.right_before
        estimates |= {
            "accuracy_base": counting.rate(before, known),
            "accuracy_candidate": counting.rate(outcomes.right_after, known),
            "accuracy_difference": counting.difference(outcomes.good, outcomes.bad, known),
            "churn_correct": counting.rate(outcomes.flipped, before),
            "churn_incorrect": counting.rate(outcomes.flipped, known & ~before),
            "bad_flips": counting.rate(outcomes.bad, known),
            "good_flips": counting.rate(outcomes.good, known),
            "wrong_to_wrong": counting.rate(outcomes.wrong_to_wrong, known),
        }
        test = mcnemar(int(outcomes.good.sum()), int(outcomes.bad.sum()))
    return Comparison(
        paired,
        outcomes,
        counting,
        estimates,
        test,
        _movement(paired),
        _by_class(paired, outcomes),
        compare_slices(paired, outcomes, counting, min_slice),
        _by_threshold(paired),
        floor,
        taken,
        (*paired.notes, *(floor.notes if floor else ())),
    )


def _movement(paired: Paired) -> dict[str, float] | None:
    """How far probabilities moved: mean |Δp|, and mean Jensen–Shannon divergence in bits."""
    if paired.probabilities is None:
        return None
    absolute = divergence = 0.0
    for start in range(0, paired.n, 1_000_000):  # a block at a time, for memory
        p, q = (side[start : start + 1_000_000] for side in paired.probabilities)
        absolute += float(np.abs(p - q).mean(axis=1).sum())
        middle = (p + q) / 2
        divergence += sum(float(_relative_entropy(side, middle).sum()) for side in (p, q)) / 2
    return {"mean_absolute": absolute / paired.n, "jensen_shannon": divergence / paired.n}


def _relative_entropy(
    p: npt.NDArray[np.float64], q: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Σ p log₂ p/q of each row; 0 log 0 is 0."""
    ratio = np.divide(p, q, out=np.ones_like(p), where=p > 0)
    total: npt.NDArray[np.float64] = (p * np.log2(ratio)).sum(axis=1)
    return total


def _by_class(paired: Paired, outcomes: Outcomes) -> list[dict[str, Any]]:
    """Flips away from and to each class; with labels, bad and good flips of each true class."""
    size = len(paired.classes)

    def count(which: IntArray, mask: Mask | None = None) -> list[int]:
        counts = np.bincount(which if mask is None else which[mask], minlength=size)
        return [int(c) for c in counts]

    table = {
        "predicted_base": count(paired.base),
        "predicted_candidate": count(paired.candidate),
        "flips_from": count(paired.base, outcomes.flipped),
        "flips_to": count(paired.candidate, outcomes.flipped),
    }
    if paired.labels is not None:
        table["labelled"] = count(paired.labels, outcomes.labelled)
        table["bad_flips"] = count(paired.labels, outcomes.bad)
        table["good_flips"] = count(paired.labels, outcomes.good)
    return [
        {"class": name, **{column: values[i] for column, values in table.items()}}
        for i, name in enumerate(paired.classes)
    ]


def _by_threshold(paired: Paired) -> list[dict[str, float]]:
    """For two classes: churn, and both accuracies where there are labels, at other thresholds."""
    if paired.probabilities is None or len(paired.columns) != 2:
        return []
    before, after = (side[:, 1] for side in paired.probabilities)
    positive = None
    if paired.labels is not None and paired.columns[1] in paired.classes:
        known = paired.labels >= 0
        positive = paired.labels[known] == paired.classes.index(paired.columns[1])
    rows = []
    for threshold in THRESHOLDS:
        one, two = before >= threshold, after >= threshold
        row = {"threshold": threshold, "churn": float(np.mean(one != two))}
        if positive is not None:
            row["accuracy_base"] = float(np.mean(one[known] == positive))
            row["accuracy_candidate"] = float(np.mean(two[known] == positive))
        rows.append(row)
    return rows
