"""Format numbers as text: percent, points, intervals. All take fractions.

The format's `z` avoids −0.00 for numbers that round to zero.
"""

from __future__ import annotations

import math
from typing import Protocol

NONE = "–"  # shown for an unknown number
SMALL = 0.0001  # two decimals of percent hardly tell smaller rates from zero
EXACT = 0.001  # relative error with which a limit may be shown


class Estimate(Protocol):
    """A value with the two ends of its interval; NaN if these are unknown."""

    @property
    def value(self) -> float:
        """The estimate."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""


def percent(value: float, digits: int = 2) -> str:
    """A percentage with %, for sentences: 1.23%; small ones have more digits: 0.0035%."""
    return NONE if math.isnan(value) else f"{value:z.{_enough(value, digits)}%}"


def decimals(value: float, within: float = 0.05) -> int:
    """The decimals, two or more, that show a percentage with a relative error of at most `within`.

    What is too small for a rate, such as a rounding error of floats, has two: it is shown as zero.

    >>> decimals(0.0123), decimals(0.00004), decimals(0.0), decimals(0.00125, within=0.001)
    (2, 3, 2, 3)
    """
    size = abs(100 * value)
    return next((n for n in range(2, 10) if abs(round(size, n) - size) <= within * size), 2)


def _enough(value: float, digits: int = 2) -> int:
    """The decimals to show: `digits`, or as many as a percentage below 0.01 needs."""
    return max(digits, decimals(value)) if abs(value) < SMALL else digits


def fine_percent(value: float) -> str:
    """A percentage with %, and enough digits to tell a small rate from zero: 1.23%, 0.004%."""
    return percent(value, decimals(value))


def limit_percent(value: float) -> str:
    """A limit as it was set: 1.00%, 0.125%."""
    return percent(value, decimals(value, EXACT))


def bare_percent(value: float, digits: int = 2) -> str:
    """A percentage without %, for columns whose table says percent: 1.23."""
    return NONE if math.isnan(value) else f"{100 * value:z.{digits}f}"


def file_percent(value: float) -> str:
    """A percentage without %, for files that programs read: 1.2346; empty if unknown."""
    return "" if math.isnan(value) else f"{100 * value:z.4f}"


def with_spread(mean: float, sd: float) -> str:
    """A mean with its deviation, for columns: 1.23 (0.12)."""
    return NONE if math.isnan(mean) else f"{bare_percent(mean)} {spread(sd)}"


def spread(sd: float) -> str:
    """A deviation as written after a mean: (0.12)."""
    return f"({bare_percent(sd)})"


def points(value: float) -> str:
    """A difference, for sentences: +0.12 points."""
    return NONE if math.isnan(value) else f"{fine_signed(value)} points"


def fine_signed(value: float) -> str:
    """A difference in points; small ones have more digits: +0.12, -0.0035."""
    return NONE if math.isnan(value) else f"{100 * value:+z.{_enough(value)}f}"


def signed(value: float) -> str:
    """A difference in points, for columns of means over runs: +0.12."""
    return NONE if math.isnan(value) else f"{100 * value:+z.2f}"


def difference(estimate: Estimate) -> str:
    """A difference in points with its interval, for columns: +0.12 [-0.03, +0.27]."""
    if math.isnan(estimate.low):
        return signed(estimate.value)
    return f"{signed(estimate.value)} [{signed(estimate.low)}, {signed(estimate.high)}]"


def between(estimate: Estimate, *, in_points: bool = False) -> str:
    """The ends of an interval: 1.00% to 1.50%, or +0.10 to +0.30."""
    if math.isnan(estimate.low):
        return "no interval"
    show = fine_signed if in_points else percent
    return f"{show(estimate.low)} to {show(estimate.high)}"


def behind(estimate: Estimate, *, in_points: bool = False) -> str:
    """The ends in brackets, as written after a number in a sentence; empty if unknown."""
    return "" if math.isnan(estimate.low) else f" ({between(estimate, in_points=in_points)})"
