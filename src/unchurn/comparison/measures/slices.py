"""Compare slices, the examples with one value of a column, with the rest: churn and accuracy."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn.comparison.inputs.classes import IntTable, number
from unchurn.comparison.measures.outcomes import BAD, EVERY, FLIPPED, Counts
from unchurn.core.errors import InputError
from unchurn.metrics.intervals import Interval, clustered_p_value

if TYPE_CHECKING:
    from unchurn.comparison.inputs.pairs import Paired
    from unchurn.comparison.measures.outcomes import Counting, Outcomes

MOST_VALUES = 1000  # values of a column to slice by; one with more is an identifier
NOTABLE = 0.05  # rate of false discoveries, Benjamini–Yekutieli


@dataclass(frozen=True)
class SliceCounts:
    """The examples with one value of a column, or with several rare ones, counted."""

    column: str
    value: str
    counts: Counts

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.counts.number(EVERY)


@dataclass(frozen=True, kw_only=True)
class Slice:
    """One value of a column: its churn and the rest's, and the p-value that they are the same.

    `q` is p after Benjamini and Yekutieli's correction for all slices, which may overlap.
    """

    column: str
    value: str
    n: int
    churn: Interval
    rest: float
    p: float
    q: float
    bad_flips: Interval | None
    accuracy_difference: Interval | None

    @property
    def is_notable(self) -> bool:
        """Whether its churn differs from the rest's beyond chance, allowing for all slices."""
        return self.q <= NOTABLE

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        plain = {
            name: value.to_dict() if isinstance(value, Interval) else value
            for name, value in vars(self).items()
        }
        rest = None if math.isnan(self.rest) else self.rest
        return {**plain, "rest": rest, "notable": self.is_notable}


def count_slices(paired: Paired, outcomes: Outcomes, counting: Counting) -> list[SliceCounts]:
    """Count the outcomes of every value of the slice columns; a missing value is one, too."""
    counted = []
    for column, texts in paired.slices.items():
        values, (numbers,) = number([texts.fill_null("(missing)")])
        if len(values) > MOST_VALUES:
            raise InputError(
                f"slice column {column!r} has {len(values):,} distinct values: slices are for "
                f"categories, of at most {MOST_VALUES}"
            )
        counts = counting.by_value(outcomes, numbers, len(values))
        counted += [SliceCounts(column, *one) for one in zip(values, counts, strict=True)]
    return counted


def take_rare_together(counted: list[SliceCounts], min_size: int) -> list[SliceCounts]:
    """Merge values of a column with too few examples into one slice, after its other values."""
    slices = []
    for column in dict.fromkeys(one.column for one in counted):
        values = [one for one in counted if one.column == column]
        rare = [one for one in values if one.n < min_size]
        slices += [one for one in values if one.n >= min_size]
        if len(rare) == 1:
            slices += rare
        elif rare:
            name = f"({len(rare)} values of under {min_size} examples)"
            together = Counts.together([one.counts for one in rare])
            slices.append(SliceCounts(column, name, together))
    return slices


def compare_slices(
    counted: list[SliceCounts], everything: Counts, min_size: int
) -> tuple[list[Slice], list[str]]:
    """Compare every slice with the rest, surest difference first; and notes on small slices."""
    from scipy.stats import false_discovery_control

    n_values = Counter(one.column for one in counted)
    large, notes = [], []
    for one in take_rare_together(counted, min_size):
        if one.n < min_size:
            notes.append(
                f"{one.column}={one.value}: {one.n} examples are too few to compare (fewer than "
                f"{min_size})"
            )
            continue
        large.append(one)
        if one.n == everything.number(EVERY) and n_values[one.column] > 1:
            notes.append(
                f"{one.column}: none of its values has {min_size} examples, so they are one slice "
                "of all: give ranges of them as a column"
            )
    if not large:
        return [], notes
    flipped, every = everything.each(FLIPPED), everything.each(EVERY)
    p_values = [_p_value(one.counts, flipped, every) for one in large]
    q_values = false_discovery_control(p_values, method="by")
    found = [
        _compared(one, everything, p, float(q))
        for one, p, q in zip(large, p_values, q_values, strict=True)
    ]
    return sorted(found, key=lambda one: (one.q, one.p, one.column, one.value)), notes


def _compared(one: SliceCounts, everything: Counts, p: float, q: float) -> Slice:
    """One slice beside the rest of everything."""
    counts, others = one.counts, everything.number(EVERY) - one.n
    flipped = everything.number(FLIPPED) - counts.number(FLIPPED)
    is_judged = counts.number(counts.judged) > 0
    return Slice(
        column=one.column,
        value=one.value,
        n=one.n,
        churn=counts.rate(FLIPPED),
        rest=flipped / others if others else math.nan,
        p=p,
        q=q,
        bad_flips=counts.rate_of_judged(BAD) if is_judged else None,
        accuracy_difference=counts.difference() if is_judged else None,
    )


def _p_value(inside: Counts, flipped: IntTable, every: IntTable) -> float:
    """The p-value that a slice and the rest flip alike: χ², Fisher's exact test, or by cluster.

    `flipped` and `every` count the flipped and all examples; with clusters, those of each cluster.
    """
    if inside.number(EVERY) == every.sum():
        return 1.0
    if inside.clusters is not None:
        # A cluster is left out of the slice and the rest at once, so both have an entry for each.
        events, sizes = np.zeros_like(flipped), np.zeros_like(every)
        events[inside.clusters], sizes[inside.clusters] = inside.each(FLIPPED), inside.each(EVERY)
        return clustered_p_value(events, sizes, flipped - events, every - sizes)
    from scipy.stats import chi2_contingency, fisher_exact

    here = np.array([inside.number(FLIPPED), inside.number(~FLIPPED)])
    table = np.array([here, [int(flipped), int(every - flipped)] - here])
    if not table.sum(axis=0).all():
        return 1.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    if expected.min() >= 5:
        return float(chi2_contingency(table, correction=False).pvalue)
    return float(fisher_exact(table).pvalue)
