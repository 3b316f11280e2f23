"""`compare`: measure which predictions change between two models, where, and if beyond noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unchurn.comparison.checks.cautions import find_cautions
from unchurn.comparison.checks.doubts import find_doubts
from unchurn.comparison.inputs.classes import cross
from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.inputs.ids.matching import MIN_OVERLAP, check_retrainings
from unchurn.comparison.inputs.pairs import Paired
from unchurn.comparison.measures.label_coverage import cover_note, find_cover
from unchurn.comparison.measures.outcomes import (
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
from unchurn.comparison.measures.probabilities import movement
from unchurn.comparison.measures.slices import compare_slices, count_slices
from unchurn.comparison.noise.floor import Floor, noise_floor
from unchurn.comparison.read import Inputs, read_inputs
from unchurn.comparison.result import MEASURES, Comparison
from unchurn.core.arrays import IntArray, as_whole
from unchurn.core.tables import TextForm
from unchurn.metrics.intervals import Interval, mcnemar

N_UNUSED = 8  # columns that are listed


def compare(
    base: Any,
    candidate: Any,
    labels: Any = None,
    slices: str | Sequence[str] | dict[str, Any] | None = None,
    retrains: Sequence[Any] | str | Path | None = None,
    *,
    columns: Columns | Mapping[str, Any] | None = None,
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
        A file's path (CSV, Parquet, Arrow, .xlsx, JSON, NPZ, .npy), a Polars or pandas frame, a
        table of pyarrow, an array of labels or an array (n, classes) of probabilities; a row per
        example, joined by id where there is one.
    labels
        True labels, in any of these forms. If not given, a column of either model's.
    slices
        A column by which to slice, or several, of any of these files; or arrays by name.
    retrains
        Other retrainings of the base's recipe, or a folder of `bench`, to measure how many
        predictions retraining alone changes.
    columns
        Which column is what, if names do not say it: `Columns`, or a dict of its fields, such as
        {"id": "ticket"}. The options id=, prediction=, label=, probabilities= and positive= that
        errors mention are these fields.
    cluster
        A column, or an array, whose values group rows that are not independent, such as a user.
    min_slice
        Values of a column with fewer examples form one slice, left out if still too small.
    labels_cover
        Which examples have a label, if not all do: "all" if they were drawn without regard to
        flips, "flips" if every flip has one. Inferred from the labels where possible.
    min_overlap
        The share of either model's rows that must be in the other.
    form
        How text files are written, if not in UTF-8 with commas and decimal points.

    Examples
    --------
    >>> result = compare(["cat", "dog", "dog"], ["cat", "eel", "dog"], labels=["cat", "eel", "dog"])
    >>> result.estimates["churn"].value
    0.333...
    """
    given = read_inputs(
        base, candidate, labels, slices, retrains, columns=columns, cluster=cluster,
        min_overlap=min_overlap, form=form, names=names,
    )  # fmt: skip
    floor = None
    if given.retrains:
        own = given.base, given.paired, given.retrains, given.of_kind, given.candidate.name
        floor = noise_floor(*own)
        check_retrainings(floor.n, given.paired.n, min_overlap)
    return compare_given(given, floor, min_slice=min_slice, labels_cover=labels_cover)


def compare_given(
    given: Inputs,
    floor: Floor | None = None,
    *,
    min_slice: int = 50,
    labels_cover: str | None = None,
) -> Comparison:
    """Compare what has already been read; the arguments are those of `compare`."""
    as_whole(min_slice, 1, "min_slice")
    cover = labels_cover or ("flips" if given.is_flip_list else None)
    result = _compared(given.paired, floor, given.taken, min_slice, cover)
    doubts = find_doubts(given)
    cautions = find_cautions(given, result.labels_cover, floor)
    warnings = (*(doubt.warning for doubt in doubts), *cautions)
    thresholds = given.base.threshold, given.candidate.threshold
    notes = (*result.notes, *_without_truth(given))
    return replace(
        result, warnings=warnings, doubts=doubts, notes=notes, thresholds_given=thresholds
    )


def _without_truth(given: Inputs) -> list[str]:
    """A note that no labels were found, with the unused columns that may hold them."""
    models = (given.base, given.candidate)
    if given.labels is not None or any(model.labels is not None for model in models):
        return []
    base = set(given.base.all_columns)  # a column that both have is read from base alone
    names = [*given.base.unused, *(one for one in given.candidate.unused if one not in base)]
    if not names:
        return []
    shown = ", ".join(names[:N_UNUSED]) + (" …" if len(names) > N_UNUSED else "")
    return [f"no true labels found; not used: {shown}"]


def _compared(
    paired: Paired,
    floor: Floor | None,
    taken: dict[str, dict[str, str]],
    min_slice: int,
    asked_cover: str | None,
) -> Comparison:
    """Measure everything for paired predictions; without warnings and doubts."""
    outcomes = Outcomes.of(paired)
    cover = find_cover(outcomes, asked_cover)
    covered = cover_note(outcomes, cover)
    if cover == "flips" and floor is not None:
        floor = replace(floor, accuracy=None)
    counting = Counting(paired.clusters, EVERY if cover == "flips" else LABELLED)
    counts = counting.all(outcomes)
    is_tested = (
        paired.labels is not None and paired.clusters is None
    )  # McNemar's test assumes independent rows
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
        estimates=estimates(counts, cover),
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


def estimates(counts: Counts, cover: str | None) -> dict[str, Interval]:
    """Every measure that the labels allow, with its interval, in the order of MEASURES."""
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
    """Drop the labels: labels on flips alone do not give accuracies at other thresholds."""
    return replace(paired, labels=None)


def _by_class(paired: Paired, outcomes: Outcomes) -> list[dict[str, Any]]:
    """Flips from and to each class; with labels, bad and good flips of each true class."""
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
