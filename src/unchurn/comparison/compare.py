"""`compare`: what moved between two models, where, for better or for worse, and beyond noise?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unchurn.comparison.inputs.casting import as_text
from unchurn.comparison.inputs.pairs import Paired, columns_of, numbered_clusters, pair
from unchurn.comparison.inputs.predictions import (
    Columns,
    Predictions,
    read_labels,
    read_predictions,
)
from unchurn.comparison.inputs.sources import as_series
from unchurn.comparison.noise_floor import Floor, noise_floor, retraining_files
from unchurn.comparison.outcomes import (
    BAD,
    EVERY,
    FLIPPED,
    GOOD,
    LABELLED,
    N_OUTCOMES,
    RIGHT_AFTER,
    RIGHT_BEFORE,
    WRONG_BEFORE,
    WRONG_TO_WRONG,
    Counting,
    Kind,
    Outcomes,
)
from unchurn.comparison.probabilities import movement
from unchurn.comparison.rowblocks import cross
from unchurn.comparison.slices import Slice, compare_slices
from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError
from unchurn.metrics.intervals import Interval, mcnemar

if TYPE_CHECKING:
    from unchurn.gate.decide import Policy, Verdict

SCHEMA = "unchurn.compare/1"
# The estimates, in the order in which they are shown; all but the first need true labels.
MEASURES = ("churn", "accuracy_base", "accuracy_candidate", "accuracy_difference", "churn_correct",
            "churn_incorrect", "bad_flips", "good_flips", "wrong_to_wrong")  # fmt: skip


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two models compared; `estimates` are by the names in MEASURES, as far as there are labels."""

    paired: Paired
    outcomes: Outcomes
    counting: Counting
    estimates: dict[str, Interval]
    mcnemar: tuple[float, float] | None  # exact and mid p; None without labels, or with clusters
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
        return self.outcomes.number(LABELLED)

    @property
    def thresholds_for(self) -> str | None:
        """The class that the thresholds are for, where there are two."""
        return self.paired.columns[1] if self.thresholds else None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; docs/compare.md describes it."""
        exact, mid = self.mcnemar or (None, None)
        return {
            "schema": SCHEMA,
            "n": self.n,
            "n_labelled": self.n_labelled,
            **{m: self.estimates[m].to_dict() if m in self.estimates else None for m in MEASURES},
            "mcnemar_p": exact,
            "mcnemar_mid_p": mid,
            "movement": self.movement,
            "classes": self.classes,
            "slices": [one.to_dict() for one in self.slices],
            "thresholds_for": self.thresholds_for,
            "thresholds": self.thresholds,
            "noise_floor": None if self.floor is None else self.floor.to_dict(),
            "excluded": self.paired.excluded,
            "columns": self.taken,
            "notes": list(self.notes),
        }

    def gate(self, policy: Policy | dict[str, Any] | str | Path) -> Verdict:
        """Decide by a policy: promote, hold or reject."""
        from unchurn.gate.decide import decide

        return decide(self, policy)

    def markdown(self, verdict: Verdict | None = None) -> str:
        """All tables as Markdown, a gate's verdict above them if given."""
        from unchurn.comparison import words

        return words.markdown(self, verdict)

    def __repr__(self) -> str:
        from unchurn.comparison import words

        sentences = (words.headline(self), words.floor_sentence(self))
        return " ".join(sentence for sentence in sentences if sentence)

    def _repr_markdown_(self) -> str:
        """What a notebook shows."""
        return self.markdown()

    def html(self, path: str | Path, verdict: Verdict | None = None) -> None:
        """Write it as one HTML page that needs no network, a gate's verdict above it if given."""
        from unchurn.comparison.page import write_comparison

        write_comparison(self, Path(path), verdict)


def compare(
    base: Any,
    candidate: Any,
    labels: Any = None,
    slices: str | Sequence[str] | dict[str, Any] | None = None,
    retrains: Sequence[Any] | str | Path | None = None,
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
        A column by which to slice, or several, or arrays by name.
    retrains
        Other retrainings of the base's recipe, or a folder of `bench`: how much does retraining
        alone move?
    columns
        Which column is what, where the names do not say it.
    cluster
        A column, or an array, of what groups rows that are not independent, such as a user.
    min_slice
        Values of a column with fewer examples are taken together, and left out if still too few.

    >>> result = compare(["cat", "dog", "dog"], ["cat", "eel", "dog"], labels=["cat", "eel", "dog"])
    >>> result.estimates["churn"].value
    0.333...
    """
    columns = columns or Columns()
    slices = (slices,) if isinstance(slices, str) else slices
    own_slices = slices if isinstance(slices, dict) else {}
    own_cluster = None if cluster is None or isinstance(cluster, str) else cluster
    columns = replace(
        columns,
        slices=columns.slices if slices is None or own_slices else tuple(slices),
        cluster=cluster if isinstance(cluster, str) else columns.cluster,
    )
    one = read_predictions(base, names[0], columns)
    two = read_predictions(candidate, names[1], _not_in(one, columns))
    taken = {one.name: one.taken, two.name: two.taken}
    truth = None
    if labels is not None:
        truth = read_labels(labels, "labels", columns)
        taken[truth.name] = truth.taken
    elif columns.label is not None and not any("label" in model.taken for model in (one, two)):
        there = columns_of(one, two)
        raise InputError(f"no column {columns.label!r} for --label in either file{there}")
    sources = _retrainings(retrains, base, candidate)
    if all(part is None or part.n_rows is not None for part in (one, two, truth)):
        _check_indexes(base, candidate, labels, *sources, *own_slices.values(), own_cluster)
    paired = pair(one, two, truth, columns.slices, columns.cluster)
    paired = _with_arrays(paired, own_slices, own_cluster)
    alone = replace(columns, slices=(), cluster=None)
    others = [read_predictions(x, f"retraining {i}", alone) for i, x in enumerate(sources, 1)]
    if len({str(other.taken) for other in others}) == 1:
        taken["retrainings"] = others[0].taken
    else:
        taken |= {other.name: other.taken for other in others}
    floor = noise_floor(one, paired, others) if others else None
    return _compared(paired, floor, taken, min_slice)


def _retrainings(given: Any, base: Any, candidate: Any) -> list[Any]:
    """The retrainings, one by one: of a bench's folder, its runs of plain training."""
    if given is None:
        return []
    several = [given] if isinstance(given, str | Path) else list(given)
    paths = [Path(one) for one in several if isinstance(one, str | Path)]
    models = [Path(one) if isinstance(one, str | Path) else None for one in (base, candidate)]
    others = [one for one in several if not isinstance(one, str | Path)]
    return [*(retraining_files(paths, *models) if paths else []), *others]


def _check_indexes(*given: Any) -> None:
    """Refuse pandas objects that are joined by place though their indexes differ."""
    indexes = [source.index for source in given if hasattr(source, "iloc")]
    if any(not index.equals(indexes[0]) for index in indexes[1:]):
        raise InputError(
            "the pandas indexes differ: make them a column (reset_index) to join by it, or bring "
            "the rows into one order and drop them (reset_index(drop=True))"
        )


def _not_in(base: Predictions, columns: Columns) -> Columns:
    """Without slices and clusters that base has: they are taken from there."""
    return replace(
        columns,
        slices=tuple(name for name in columns.slices if name not in base.table.columns),
        cluster=None if columns.cluster in base.table.columns else columns.cluster,
    )


def _with_arrays(paired: Paired, slices: dict[str, Any], cluster: Any) -> Paired:
    """Add slices and clusters that were given as arrays, one value per row of base."""
    given = {
        name: as_text(as_series(v).alias(name), "slices", "slices") for name, v in slices.items()
    }
    if cluster is not None:
        given["\0cluster"] = as_text(as_series(cluster), "cluster", "clusters")
    for name, values in given.items():
        if len(values) != paired.n:
            shown = name.strip("\0")
            raise InputError(f"{shown} has {len(values)} values for {paired.n} examples")
    if "\0cluster" in given:
        paired = replace(paired, clusters=numbered_clusters(given.pop("\0cluster")))
    return replace(paired, slices={**paired.slices, **given})


def _compared(
    paired: Paired, floor: Floor | None, taken: dict[str, dict[str, str]], min_slice: int
) -> Comparison:
    """All measures of two models whose predictions are side by side."""
    outcomes, counting = Outcomes.of(paired), Counting(paired.clusters)
    counts = counting.all(outcomes)
    estimates = {"churn": counts.rate(FLIPPED)}
    test = None
    if paired.labels is not None:
        estimates |= {
            "accuracy_base": counts.rate(RIGHT_BEFORE, LABELLED),
            "accuracy_candidate": counts.rate(RIGHT_AFTER, LABELLED),
            "accuracy_difference": counts.difference(),
            "churn_correct": counts.rate(FLIPPED, RIGHT_BEFORE),
            "churn_incorrect": counts.rate(FLIPPED, WRONG_BEFORE),
            "bad_flips": counts.rate(BAD, LABELLED),
            "good_flips": counts.rate(GOOD, LABELLED),
            "wrong_to_wrong": counts.rate(WRONG_TO_WRONG, LABELLED),
        }
        if paired.clusters is None:  # rows of a cluster are not independent, as the test has them
            test = mcnemar(counts.number(GOOD), counts.number(BAD))
    moved, thresholds = movement(paired)
    slices, too_small = compare_slices(paired, outcomes, counting, min_slice)
    return Comparison(
        paired,
        outcomes,
        counting,
        estimates,
        test,
        moved,
        _by_class(paired, outcomes),
        slices,
        thresholds,
        floor,
        taken,
        (*paired.notes, *too_small, *(floor.notes if floor else ())),
    )


def _by_class(paired: Paired, outcomes: Outcomes) -> list[dict[str, Any]]:
    """Flips away from and to each class; with labels, bad and good flips of each true class."""
    shape = len(paired.classes), N_OUTCOMES

    def count(numbers: IntArray, **kinds: Kind) -> dict[str, list[int]]:
        found = cross(numbers, outcomes.codes, shape)
        return {name: found[:, kind].sum(axis=1).tolist() for name, kind in kinds.items()}

    base = count(paired.base, predicted_base=EVERY, flips_from=FLIPPED)
    candidate = count(paired.candidate, predicted_candidate=EVERY, flips_to=FLIPPED)
    names = ("predicted_base", "predicted_candidate", "flips_from", "flips_to")
    table = {name: (base | candidate)[name] for name in names}
    if paired.labels is not None:
        table |= count(paired.labels, labelled=EVERY, bad_flips=BAD, good_flips=GOOD)
    return [
        {"class": name, **{column: values[i] for column, values in table.items()}}
        for i, name in enumerate(paired.classes)
    ]
