"""Decide whether a method has lower churn, or is more accurate, than control beyond chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unchurn.metrics.intervals import LEVEL, Interval, level_of_all
from unchurn.study.results.selection import CLOSE

if TYPE_CHECKING:
    from unchurn.study.results.result import Result, SettingResult


def is_better(result: Result, row: SettingResult, *, alone: bool = False) -> bool:
    """Whether a setting lowers churn beyond chance, and accuracy by less than CLOSE.

    With `alone`, the level is that of a single method, however many were tried.
    """
    if not is_told(result, row):
        return False
    found = from_control(result, row)
    churn = found[result.subject.scenario.churn]
    high = churn.high if alone else churn.at(_level(result)).high
    return high < 0 and found["accuracy"].value > -CLOSE + 1e-12


def may_cost_nothing(result: Result, row: SettingResult) -> bool:
    """Whether a setting lowers churn beyond chance, and its loss of accuracy may be chance."""
    if not is_told(result, row):
        return False
    found = from_control(result, row)
    is_steadier = found[result.subject.scenario.churn].at(_level(result)).high < 0
    return is_steadier and found["accuracy"].value < 0 < found["accuracy"].high


def is_more_accurate(result: Result, row: SettingResult) -> bool:
    """Whether a setting is more accurate than control beyond chance, as the best of all tried."""
    if not is_told(result, row):
        return False
    level = 1 - (1 - LEVEL) / n_told(result)
    return from_control(result, row)["accuracy"].at(level).low > 0


def _level(result: Result) -> float:
    """The confidence level at which methods' churn is compared with control's."""
    told = [row for row in result.chosen.values() if is_told(result, row)]
    return level_of_all([from_control(result, row)[result.subject.scenario.churn] for row in told])


def n_told(result: Result) -> int:
    """How many methods are compared with control, with an interval."""
    return sum(is_told(result, row) for row in result.chosen.values())


def is_told(result: Result, row: SettingResult) -> bool:
    """Whether the difference from control has a confidence interval."""
    found = result.against_control(row)
    return found is not None and not math.isnan(found[result.subject.scenario.churn].low)


def from_control(result: Result, row: SettingResult) -> dict[str, Interval]:
    """The differences from control, by metric; empty if `against_control` has none."""
    return result.against_control(row) or {}
