"""A measure that a policy limits, and how many more examples would end a hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from unchurn.comparison.measures.outcomes import BAD, EVERY, FLIPPED, Counts
from unchurn.metrics.intervals import LEVEL, Interval

MOST = 1e4  # times as many examples: advising more is useless
WITHOUT_GAIN = "without a gain in accuracy "
STEPS = 12  # of a bisection from 1 to MOST, to a quarter of a percent


@dataclass(frozen=True)
class Measured:
    """A measure that a policy limits, over all examples or a slice."""

    name: str  # churn, bad_flips or accuracy_loss
    counts: Counts

    @property
    def units(self) -> int:
        """Number of examples, or of clusters, that it is measured on."""
        return self.counts.units(EVERY if self.name == "churn" else self.counts.judged)

    def interval(self, level: float = LEVEL) -> Interval:
        """The measured value with its interval."""
        if self.name == "churn":
            return self.counts.rate(FLIPPED, level=level)
        if self.name == "bad_flips":
            return self.counts.rate_of_judged(BAD, level)
        found = self.counts.difference(level)
        return Interval(-found.value, -found.high, -found.low, found.note)

    def with_more(self, times: float, level: float = LEVEL) -> Interval:
        """The interval that `times` as many examples like these would give."""
        if not self.counts.clustered:
            table = np.rint(self.counts.table * times).astype(np.int64)
            return replace(self, counts=replace(self.counts, table=table)).interval(level)
        found = self.interval(level)
        low, high = (found.value + (end - found.value) / math.sqrt(times)
                     for end in (found.low, found.high))  # fmt: skip
        return Interval(found.value, low, high)


def least_units(limit: float) -> float:
    """Number of examples needed to promote a candidate without a single flip.

    >>> least_units(0.005)
    736
    """
    if limit <= 0:
        return math.inf
    return 1 if limit >= 1 else math.ceil(math.log((1 - LEVEL) / 2) / math.log1p(-limit))


def times_to_end(with_more: Callable[[float], Interval], limit: float, *, inside: bool) -> float:
    """How many times as many examples, or retrainings, bring an interval inside a limit.

    Or outside of it, if not `inside`; infinite if no number does.
    """

    def is_decided(times: float) -> bool:
        found = with_more(times)
        return found.high <= limit if inside else found.low > limit

    few, many = 1.0, MOST
    if not is_decided(many):
        return math.inf
    for _ in range(STEPS):
        middle = math.sqrt(few * many)
        few, many = (few, middle) if is_decided(middle) else (middle, many)
    return many


def what_ends(
    measured: Measured, limit: float, reject_level: float = LEVEL, which: str = "like these"
) -> str:
    """Say what would end a hold: about how many more examples like these, or why none would."""
    there, clustered, value = measured.units, measured.counts.clustered, measured.interval().value
    unit = "clusters" if clustered else "examples"
    if limit <= 0 and measured.name != "accuracy_loss":
        return "it cannot promote: no number of examples shows that nothing flips"
    unless = WITHOUT_GAIN if measured.name == "accuracy_loss" else ""
    if value >= 0 and (few := too_few(there, limit, clustered, unless)):
        return few
    is_inside = value <= limit
    level = LEVEL if is_inside else reject_level
    times = times_to_end(lambda k: measured.with_more(k, level), limit, inside=is_inside)
    if math.isinf(times):
        return f"it lies so near the limit that no number of {unit} is likely to decide"
    decision = "promote" if is_inside else "reject"
    return f"about {more(there, times, unit)} {which} would {decision}"


def too_few(there: int, limit: float, clustered: bool, unless: str) -> str:
    """Say that a limit cannot promote with so few examples, or clusters; empty if it can.

    A measure that may be negative may promote with fewer: `unless` says so.
    """
    least = least_units(limit)
    if not there < least < math.inf:
        return ""
    unit = "clusters" if clustered else "examples"
    return (
        f"{unless}it cannot promote with so few {unit}: even without a flip it would take "
        f"{least:,}, and there are {there:,}"
    )


def more(there: int, times: float, what: str) -> str:
    """How many to add for `times` as many as there are, rounded to two digits, as text."""
    return n_more(int(float(f"{max(math.ceil(there * (times - 1)), 1):.2g}")), what)


def n_more(count: int, what: str) -> str:
    """A number of further things, as text; `what` is their plural.

    >>> n_more(1, "retrainings"), n_more(1200, "examples")
    ('1 more retraining', '1,200 more examples')
    """
    return f"{count:,} more {what.removesuffix('s') if count == 1 else what}"
