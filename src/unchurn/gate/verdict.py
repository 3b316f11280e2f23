"""`Verdict`: a gate's checks, their decision, and its forms: dict, banner, JUnit."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from typing import Any, Literal

from unchurn.comparison.report.words import Banner, BannerLine
from unchurn.metrics.intervals import Interval
from unchurn.report.numbers import EXACT, decimals, percent

NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Decision = Literal["promote", "hold", "reject"]
EXIT_CODES: dict[str, int] = {"promote": 0, "reject": 1, "hold": 3}
MEANING = {
    "promote": "The candidate may replace the base.",
    "hold": "The data leave it open whether the candidate keeps to every limit.",
    "reject": "The candidate breaks a limit.",
}


def shown(found: Interval, digits: int) -> str:
    """A measured value and the ends of its interval, as text."""
    value, low, high = (percent(one, digits) for one in (found.value, found.low, found.high))
    return f"{value} [{low}, {high}]"


@dataclass(frozen=True)
class Check:
    """One check and its reason; the measured value and the limit if they are numbers."""

    name: str
    decision: Decision
    reason: str
    found: Interval | None = field(default=None, compare=False)
    limit: float | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The check as a dict for JSON; value, interval and limit are null if it has no number."""
        found = self.found or Interval(math.nan, math.nan, math.nan)
        numbers = {"value": found.value, "low": found.low, "high": found.high}
        return {
            "name": self.name,
            "decision": self.decision,
            "reason": self.reason,
            **{key: None if math.isnan(number) else number for key, number in numbers.items()},
            "limit": self.limit,
        }


def held_against(
    name: str, decision: Decision, why: str, found: Interval, limit: float, at: str = ""
) -> Check:
    """A check whose reason shows the measured value, its limit and `why`; `at` names the level.

    The value is shown with the digits of the limit, so that the two can be compared, and with more
    if it is small.
    """
    digits = decimals(limit, EXACT)
    reason = f"{shown(found, digits)}{at}, limit {percent(limit, digits)}: {why}"
    return Check(name, decision, reason, found, limit)


@dataclass(frozen=True)
class Verdict:
    """Promote if every check does; reject if any does; hold otherwise."""

    checks: tuple[Check, ...]

    @property
    def decision(self) -> Decision:
        """The decision of all checks together."""
        for decision in ("reject", "hold"):
            if any(check.decision == decision for check in self.checks):
                return decision
        return "promote"

    @property
    def exit_code(self) -> int:
        """Promote 0, reject 1, hold 3."""
        return EXIT_CODES[self.decision]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as a dict for JSON."""
        return {"decision": self.decision, "checks": [check.to_dict() for check in self.checks]}

    def __str__(self) -> str:
        """The verdict as the command line prints it."""
        banner = self.banner()
        reasons = (f"  {decision} {reason}" for decision, reason in banner.said())
        return "\n".join([banner.decision.upper(), *reasons])

    def banner(self) -> Banner:
        """The verdict as shown above a comparison."""
        lines = tuple(
            BannerLine(one.name, one.decision, one.reason, one.found, one.limit)
            for one in self.checks
        )
        return Banner(self.decision, MEANING[self.decision], lines)

    def junit(self) -> str:
        """The verdict as JUnit XML: a test case per check; hold and reject are failures."""

        def allowed(text: str) -> str:
            return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)

        failures = sum(check.decision != "promote" for check in self.checks)
        counts = {"tests": str(len(self.checks)), "failures": str(failures)}
        suite = ET.Element("testsuite", {"name": "unchurn gate", **counts})
        for check in self.checks:
            case = {"classname": "unchurn.gate", "name": allowed(check.name)}
            element = ET.SubElement(suite, "testcase", case)
            if check.decision != "promote":
                failure = {"type": check.decision, "message": allowed(check.reason)}
                ET.SubElement(element, "failure", failure)
        ET.indent(suite)
        text = ET.tostring(suite, encoding="unicode")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'
