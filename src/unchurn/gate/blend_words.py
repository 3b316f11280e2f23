"""Describe a blend in sentences and a table: the candidate alone beside the served answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unchurn.report.numbers import fine_signed, percent
from unchurn.report.table import Cell, Column, Table

if TYPE_CHECKING:
    from unchurn.gate.blend import Blend
    from unchurn.metrics.intervals import Interval

NAMES = {
    "accuracy": "accuracy",
    "accuracy_difference": "less base's, in points",
    "churn": "churn",
    "bad_flips": "bad flips",
    "good_flips": "good flips",
}


def headline(blend: Blend) -> str:
    """The ratio, and how many of the candidate's answers it takes, in one sentence."""
    differ, switched = int(blend.comparison.outcomes.flipped.sum()), int(blend.switched.sum())
    if blend.is_chosen and math.isinf(blend.ratio):
        return f"None of {differ:,} answers that differ is taken: within the budget, none helps."
    return (
        f"Ratio {written(blend.ratio)}: {switched:,} of {differ:,} answers that differ are the "
        "candidate's, the rest the base's."
    )


def hint(blend: Blend) -> str:
    """Say that the numbers are optimistic if the same rows chose the ratio; else empty."""
    if not blend.is_chosen or math.isinf(blend.ratio):
        return ""
    return (
        "These rows chose the ratio, so its numbers are optimistic; apply it to others with "
        f"--ratio {written(blend.ratio)}. The budget is kept by the numbers; gate asks the same of "
        "whole intervals, and may hold at the same limit."
    )


def how_to_read(threshold: float | None) -> str:
    """Say with which threshold compare and gate count the served answers as here; empty for None.

    >>> how_to_read(0.3)
    "compare and gate count so with --threshold 0.3, (the base's: what is served has its answers)."
    """
    if threshold is None:  # the base's own answers count, as they do without the option
        return ""
    return (
        f"compare and gate count so with --threshold {threshold!r}, (the base's: what is served "
        "has its answers)."
    )


def measures(blend: Blend) -> Table:
    """The candidate alone beside the served answers, each with its interval."""
    rows = tuple(
        (Cell(text=words), *(_cell(name, found) for found in (blend.candidate, blend.served)))
        for name, words in NAMES.items()
        if name in blend.candidate
    )
    headings = ("against base", "candidate alone", "served")
    columns = tuple(Column(heading=h, is_text=i == 0) for i, h in enumerate(headings))
    return Table(columns=columns, rows=rows)


def written(ratio: float) -> str:
    """A ratio with all its digits, which are few.

    >>> written(3.0), written(0.45), written(math.inf)
    ('3', '0.45', 'inf')
    """
    return repr(ratio).removesuffix(".0")


def _cell(name: str, found: dict[str, Interval]) -> Cell:
    estimate = found[name]
    show = fine_signed if name == "accuracy_difference" else percent
    value, low, high = map(show, (estimate.value, estimate.low, estimate.high))
    return Cell(text=f"{value} [{low}, {high}]", value=estimate.value)
