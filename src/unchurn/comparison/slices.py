"""Slices: does a part of the examples flip more, or lose more accuracy, than the rest?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn.comparison.outcomes import BAD, EVERY, FLIPPED, LABELLED, Counts
from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError
from unchurn.metrics.intervals import Interval, clustered_p_value

if TYPE_CHECKING:
    from unchurn.comparison.inputs.pairs import Paired
    from unchurn.comparison.outcomes import Counting, Outcomes

MOST_VALUES = 1000  # of a column to slice by; more is an identifier
NOTABLE = 0.05  # false discoveries, Benjamini–Yekutieli


@dataclass(frozen=True)
class Part:
    """The examples with one value of a column, counted."""

    column: str
    value: str
    counts: Counts

    @property
    def n(self) -> int:
        """How many there are."""
        return self.counts.number(EVERY)


@dataclass(frozen=True)
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
        """Whether it differs from the rest beyond chance, among all slices that were looked at."""
        return self.q <= NOTABLE

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        plain = {
            name: value.to_dict() if isinstance(value, Interval) else value
            for name, value in vars(self).items()
        }
        rest = None if math.isnan(self.rest) else self.rest
        return {**plain, "rest": rest, "notable": self.is_notable}


def count_slices(
    paired: Paired, outcomes: Outcomes, counting: Counting, min_size: int
) -> list[Part]:
    """Count every value of the columns; those of a column with too few examples as one."""
    parts = []
    for name, column in paired.slices.items():
        values, numbers = _values(name, column)
        counts = counting.parts(outcomes, numbers, len(values))
        all_parts = [Part(name, *found) for found in zip(values, counts, strict=True)]
        small = [part for part in all_parts if part.n < min_size]
        parts += [part for part in all_parts if part.n >= min_size]
        if small:
            value = f"({len(small)} values under {min_size})" if len(small) > 1 else small[0].value
            together = np.sum([part.counts.table for part in small], axis=0)
            parts.append(Part(name, value, Counts(together)))
    return parts


def compare_slices(
    paired: Paired, outcomes: Outcomes, counting: Counting, min_size: int
) -> tuple[list[Slice], list[str]]:
    """Every slice against the rest, those that differ most first; notes on those too small."""
    from scipy.stats import false_discovery_control

    found, notes, everything = [], [], counting.all(outcomes)
    for part in count_slices(paired, outcomes, counting, min_size):
        if part.n < min_size:
            notes.append(
                f"{part.column}={part.value}: {part.n} examples are too few to compare (fewer than "
                f"{min_size})"
            )
            continue
        counts, rest = part.counts, Counts(everything.table - part.counts.table)
        known = counts.number(LABELLED) > 0
        others = rest.number(EVERY)
        if not others and paired.slices[part.column].n_unique() > 1:
            notes.append(
                f"{part.column}: none of its values has {min_size} examples, so they are one slice "
                "of all: give ranges of them as a column"
            )
        found.append(
            Slice(
                part.column,
                part.value,
                part.n,
                counts.rate(FLIPPED),
                rest.number(FLIPPED) / others if others else math.nan,
                _p_value(counts, rest) if others else 1.0,
                math.nan,
                counts.rate(BAD, LABELLED) if known else None,
                counts.difference() if known else None,
            )
        )
    if not found:
        return [], notes
    corrected = false_discovery_control([one.p for one in found], method="by")
    ranked = [replace(s, q=float(q)) for s, q in zip(found, corrected, strict=True)]
    return sorted(ranked, key=lambda one: (one.q, one.p, one.column, one.value)), notes


def _values(name: str, column: Any) -> tuple[list[str], IntArray]:
    """The distinct values as text, and each row's number among them; a gap is a value too."""
    import polars as pl

    text = column.fill_null("(missing)")
    distinct = text.unique().sort()
    if len(distinct) > MOST_VALUES:
        raise InputError(
            f"slice column {name!r} has {len(distinct):,} distinct values: slices are for "
            f"categories, of at most {MOST_VALUES}"
        )
    numbers = text.cast(pl.Enum(distinct)).to_physical().to_numpy()
    return distinct.to_list(), numbers


def _p_value(part: Counts, rest: Counts) -> float:
    """That a slice and the rest flip alike: Fisher's exact test, or Student's over clusters."""
    if part.table.ndim > 1:
        return clustered_p_value(*(one.each(k) for one in (part, rest) for k in (FLIPPED, EVERY)))
    from scipy.stats import chi2_contingency, fisher_exact

    table = np.array([[one.number(FLIPPED), one.number(~FLIPPED)] for one in (part, rest)])
    if not table.sum(axis=0).all():
        return 1.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    if expected.min() >= 5:
        return float(chi2_contingency(table, correction=False).pvalue)
    return float(fisher_exact(table).pvalue)
