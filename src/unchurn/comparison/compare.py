"""`compare`: what moved between two models, where, for better or for worse, and beyond noise?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unchurn.comparison.doubts import find_doubts
from unchurn.comparison.inputs.classes import cross
from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.inputs.flip_list import read_truth
from unchurn.comparison.inputs.matching import (
    MIN_OVERLAP,
    check_overlap,
    check_retrainings,
    goes_by_index,
)
from unchurn.comparison.inputs.pairs import Paired, no_column, pair
from unchurn.comparison.inputs.predictions import (
    Predictions,
    read_groups,
    read_predictions,
)
from unchurn.comparison.inputs.sources import open_source
from unchurn.comparison.labels_cover import cover_note, find_cover
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
    Counts,
    Outcomes,
    OutcomeSet,
)
from unchurn.comparison.probabilities import movement
from unchurn.comparison.result import MEASURES, Comparison
from unchurn.comparison.slices import compare_slices, count_slices
from unchurn.core.arrays import IntArray, as_fraction
from unchurn.core.errors import InputError
from unchurn.core.tables import TextForm
from unchurn.metrics.intervals import Interval, mcnemar


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
    labels_cover: str | None = None,
    min_overlap: float = MIN_OVERLAP,
    form: TextForm | None = None,
    names: tuple[str, str] = ("base", "candidate"),
) -> Comparison:
    """Compare a candidate model's predictions with those of the model it would replace.

    Parameters
    ----------
    base, candidate
        A file's path (CSV, Parquet, Arrow, .xlsx, JSON lines, NPZ), a Polars or pandas frame, an
        array of labels or an array (n, classes) of probabilities; a row per example, joined by id
        where there is one.
    labels
        True labels, in any of these forms; else from a column of either model's.
    slices
        A column by which to slice, or several, of any of these files; or arrays by name.
    retrains
        Other retrainings of the base's recipe, or a folder of `bench`: how much does retraining
        alone move?
    columns
        Which column is what, where the names do not say it.
    cluster
        A column, or an array, of what groups rows that are not independent, such as a user.
    min_slice
        Values of a column with fewer examples are taken together, and left out if still too few.
    labels_cover
        What the labels are on, where not every example has one: "all" if they are on examples drawn
        without a look at what flips, "flips" if they are on every flip. Told from the labels where
        it can be.
    min_overlap
        The part of either model's rows that must be in the other.
    form
        How text files are written, where not with commas, decimal points and in UTF-8.

    >>> result = compare(["cat", "dog", "dog"], ["cat", "eel", "dog"], labels=["cat", "eel", "dog"])
    >>> result.estimates["churn"].value
    0.333...
    """
    slices = (slices,) if isinstance(slices, str) else slices
    own_slices = slices if isinstance(slices, dict) else {}
    own_cluster = None if isinstance(cluster, str) else cluster
    asked = columns or Columns()
    asked = replace(
        asked,
        slices=asked.slices if slices is None or own_slices else tuple(slices),
        cluster=cluster if isinstance(cluster, str) else asked.cluster,
    )
    as_fraction(min_overlap, "min_overlap")
    retrained = _retrainings(retrains, base, candidate)
    one_source = open_source(base, names[0], form)
    two_source = open_source(candidate, names[1], form)
    truth_source = None if labels is None else open_source(labels, "labels", form)
    sources = [open_source(x, f"retraining {i}", form) for i, x in enumerate(retrained, 1)]
    given = [one_source, two_source, *([truth_source] if truth_source else []), *sources]
    by_index = goes_by_index(given, asked)
    one = read_predictions(one_source, names[0], asked, by_index=by_index)
    two = read_predictions(two_source, names[1], _not_in(asked, one), by_index=by_index)
    truth, is_list = None, False
    if truth_source is not None:
        asked_of_labels = _not_in(asked, one, two)
        truth, is_list = read_truth(truth_source, asked_of_labels, one, by_index=by_index)
    elif asked.label is not None and one.labels is None and two.labels is None:
        raise no_column(asked.label, "label", one, two)
    groups = read_groups(own_slices, own_cluster)
    alone = replace(asked, slices=(), cluster=None)
    others = [read_predictions(s, s.name, alone, by_index=by_index) for s in sources]
    if not (one.has_ids or two.has_ids or (truth is not None and truth.has_ids)):
        _check_indexes(base, candidate, labels, *retrained, *own_slices.values(), own_cluster)
    paired = pair(one, two, truth, asked, groups)
    check_overlap(one, two, paired.n, min_overlap)
    floor = noise_floor(one, paired, others) if others else None
    if floor is not None:
        check_retrainings(floor.n, paired.n, min_overlap)
    taken = {one.name: one.taken, two.name: two.taken}
    if truth is not None:
        taken[truth.name] = truth.taken
    taken |= _taken_of_all(others)
    cover = labels_cover or ("flips" if is_list else None)
    result = _compared(paired, floor, taken, min_slice, cover)
    doubts = find_doubts(one, two, truth, others, paired, result.labels_cover)
    return replace(result, warnings=doubts)


def _not_in(asked: Columns, *models: Predictions) -> Columns:
    """Without slices and clusters that a model has: they are taken from there."""
    there = {column for model in models for column in model.slices}
    return replace(
        asked,
        slices=tuple(column for column in asked.slices if column not in there),
        cluster=asked.cluster if all(model.cluster is None for model in models) else None,
    )


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


def _taken_of_all(retrainings: list[Predictions]) -> dict[str, dict[str, str]]:
    """What the retrainings' columns were taken for: once for all, if it is the same."""
    if len({str(one.taken) for one in retrainings}) == 1:
        return {"retrainings": retrainings[0].taken}
    return {one.name: one.taken for one in retrainings}


def _compared(
    paired: Paired,
    floor: Floor | None,
    taken: dict[str, dict[str, str]],
    min_slice: int,
    asked_cover: str | None,
) -> Comparison:
    """All measures of two models whose predictions are side by side."""
    outcomes = Outcomes.of(paired)
    cover = find_cover(outcomes, asked_cover)
    covered = cover_note(outcomes, cover)
    if cover == "flips" and floor is not None:
        floor = replace(floor, accuracy=None)
    counting = Counting(paired.clusters, EVERY if cover == "flips" else LABELLED)
    counts = counting.all(outcomes)
    is_tested = (
        paired.labels is not None and paired.clusters is None
    )  # it takes rows as independent
    moved, thresholds = (
        movement(_without_labels(paired) if cover == "flips" else paired, *paired.probabilities)
        if paired.probabilities
        else (None, [])
    )
    slice_counts = count_slices(paired, outcomes, counting) if paired.slices else []
    slices, too_small = (
        compare_slices(slice_counts, counts, min_slice) if slice_counts else ([], [])
    )
    return Comparison(
        paired=paired,
        outcomes=outcomes,
        counts=counts,
        labels_cover=cover,
        estimates=_estimates(counts, cover),
        mcnemar=mcnemar(counts.number(GOOD), counts.number(BAD)) if is_tested else None,
        movement=moved,
        classes=_by_class(paired, outcomes),
        slices=slices,
        slice_counts=slice_counts,
        thresholds=thresholds,
        floor=floor,
        taken=taken,
        notes=(*paired.notes, *covered, *too_small, *(floor.notes if floor else ())),
    )


def _estimates(counts: Counts, cover: str | None) -> dict[str, Interval]:
    """Every measure that the labels tell, with its interval, in the order of MEASURES."""
    found = {"churn": counts.rate(FLIPPED)}
    if cover is not None:
        found |= {
            "accuracy_difference": counts.difference(),
            "bad_flips": counts.rate_of_judged(BAD),
            "good_flips": counts.rate_of_judged(GOOD),
            "wrong_to_wrong": counts.rate_of_judged(WRONG_TO_WRONG),
        }
    if cover == "all":
        found |= {
            "accuracy_base": counts.rate(RIGHT_BEFORE, LABELLED),
            "accuracy_candidate": counts.rate(RIGHT_AFTER, LABELLED),
            "churn_correct": counts.rate(FLIPPED, RIGHT_BEFORE),
            "churn_incorrect": counts.rate(FLIPPED, WRONG_BEFORE),
        }
    return {measure: found[measure] for measure in MEASURES if measure in found}


def _without_labels(paired: Paired) -> Paired:
    """Where only flips have a label, those say nothing of accuracies at other thresholds."""
    return replace(paired, labels=None)


def _by_class(paired: Paired, outcomes: Outcomes) -> list[dict[str, Any]]:
    """Flips away from and to each class; with labels, bad and good flips of each true class."""
    shape = len(paired.classes), N_OUTCOMES

    def count(numbers: IntArray, **wanted: OutcomeSet) -> dict[str, list[int]]:
        found = cross(numbers, outcomes.codes, shape)
        return {name: found[:, kind].sum(axis=1).tolist() for name, kind in wanted.items()}

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
