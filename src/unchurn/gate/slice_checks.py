"""Checks of every slice against a limit: all must be inside to promote; one proven harm rejects.

To promote, every slice must lie inside, so its own 95 % interval is enough: all harmful slices
would have to err together. To reject, one slice outside is enough, and one of many may be outside
by chance: only then is the level corrected for the number of slices (Holm).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from unchurn.comparison.measures.slices import SliceCounts
from unchurn.core.errors import InputError
from unchurn.gate.measured import Measured, what_ends
from unchurn.gate.policy import Limit
from unchurn.gate.verdict import Check, held_against
from unchurn.metrics.intervals import LEVEL, Interval
from unchurn.report.numbers import percent


class HasInterval(Protocol):
    """A measure of a slice, with an interval."""

    def interval(self, level: float = LEVEL) -> Interval:
        """The measured value with its interval at a level."""


def slice_checks(slices: list[SliceCounts], name: str, limit: Limit, min_slice: int) -> list[Check]:
    """A check of every slice.

    A slice with too few examples could hardly prove safety: it can only prove harm.
    """
    if not slices:
        raise InputError(f"max_{name} needs slices: give slices=")
    measured = [Measured(name.removeprefix("slice_"), one.counts) for one in slices]
    found = [one.interval() for one in measured]
    harmful = prove_harm(measured, found, limit.limit)
    count = sum(not math.isnan(one.low) for one in found)
    checks = []
    for i, one in enumerate(slices):
        label = f"{name} of {one.column}={one.value}"
        is_small = one.n < min_slice
        burden = "prove-harm" if is_small else limit.burden
        if is_small:
            label += f" ({one.n} examples)"
        if math.isnan(found[i].low):
            checks.append(_unknown(label, found[i], burden))
        elif i in harmful:
            interval, level = harmful[i]
            at = "" if level == LEVEL else f" at {percent(level)}, for all slices at once"
            why = "the interval lies outside"
            checks.append(held_against(label, "reject", why, interval, limit.limit, at))
        else:
            level = 1 - (1 - LEVEL) / max(count - len(harmful), 1)
            checks.append(_unharmed(label, measured[i], found[i], limit.limit, burden, level))
    return checks


def prove_harm(
    measured: Sequence[HasInterval], found: list[Interval], limit: float
) -> dict[int, tuple[Interval, float]]:
    """The slices proven to be outside a limit, with the intervals and levels that prove it.

    The level is corrected for all slices at once (Holm): each slice that is proven leaves one fewer
    to correct for. `found` are the 95 % intervals.
    """
    count = sum(not math.isnan(one.low) for one in found)
    suspects = [i for i, one in enumerate(found) if one.low > limit]
    proven: dict[int, tuple[Interval, float]] = {}
    while len(proven) < len(suspects):
        level = 1 - (1 - LEVEL) / (count - len(proven))
        at_level = {i: measured[i].interval(level) for i in suspects if i not in proven}
        further = {i: (one, level) for i, one in at_level.items() if one.low > limit}
        if not further:
            break
        proven |= further
    return proven


def _unknown(label: str, found: Interval, burden: str) -> Check:
    """The check of a slice without an interval, which proves neither harm nor safety."""
    why = f"it cannot be checked: {found.note}"
    if burden == "prove-harm":
        return Check(label, "promote", f"{why}; harm is not proven")
    return Check(label, "hold", why)


def _unharmed(
    label: str, measured: Measured, found: Interval, limit: float, burden: str, level: float
) -> Check:
    """The check of a slice that does not reject: promote or hold."""
    if found.high <= limit:
        return held_against(label, "promote", "the interval lies inside", found, limit)
    if burden == "prove-harm":
        return held_against(label, "promote", "harm is not proven", found, limit)
    why = "the data leave it open"
    if found.low > limit:
        why = "outside, but one of so many slices may be by chance"
    ends = what_ends(measured, limit, level, "of this slice")
    return held_against(label, "hold", f"{why}; {ends}", found, limit)
