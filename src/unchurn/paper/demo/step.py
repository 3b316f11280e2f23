"""`Step`: one of the story's four, as the terminal and the page both tell it."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unchurn.gate.verdict import Verdict
from unchurn.metrics.intervals import Interval
from unchurn.report import formats
from unchurn.report.numbers import behind, points
from unchurn.report.table import Table

if TYPE_CHECKING:
    from unchurn.paper.demo.charts import Spec

INDENT = "   "
FEW = 3  # examples in a terminal


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A number that is shown large, and what it is."""

    number: str
    caption: str


@dataclass(frozen=True, kw_only=True)
class Flipping:
    """A test example that flips: what it is, what each retraining says, its features."""

    number: int
    label: str
    said: tuple[str, ...]
    features: tuple[tuple[str, str], ...]

    @property
    def counted(self) -> str:
        """How many retrainings say what."""
        return ", ".join(f"{n} × {said}" for said, n in Counter(self.said).most_common())


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A candidate and the gate's verdict on it."""

    candidate: str
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Step:
    """Numbers first, then a sentence or two, and a chart; some have more to show."""

    title: str
    figures: tuple[Figure, ...]
    text: str
    chart: Spec
    caption: str  # how to read the chart
    table: Table | None = None
    examples: tuple[Flipping, ...] = ()
    verdicts: tuple[Judged, ...] = ()

    def in_words(self, number: int, width: int) -> str:
        """The step as a terminal shows it."""
        room = min(width, 100)
        lines = [f"{number}  {self.title}", ""]
        size = max(len(figure.number) for figure in self.figures)
        for figure in self.figures:
            lines.append(_hung(f"{INDENT}{figure.number:>{size}}  ", figure.caption, room))
        lines += ["", _hung(INDENT, self.text, room)]
        lines += [""] if self.examples else []
        for example in self.examples[:FEW]:
            lines.append(f"{INDENT}page {example.number} is {example.label}: {example.counted}")
        if self.table is not None:
            shown = formats.text(self.table, room - len(INDENT)).rstrip()
            lines += ["", textwrap.indent(shown, INDENT)]
        for judged in self.verdicts:
            lines += ["", f"{INDENT}{judged.candidate}: {judged.verdict.decision.upper()}"]
            for one in judged.verdict.checks:
                lines.append(_hung(f"{INDENT}  {one.name}  ", one.reason, room))
        return "\n".join(lines) + "\n"


def _hung(first: str, words: str, width: int) -> str:
    """Words after `first`, wrapped; further lines are indented to where the words begin."""
    return textwrap.fill(words, width, initial_indent=first, subsequent_indent=" " * len(first))


def chance(difference: Interval) -> str:
    """A difference with its interval, and whether chance explains it."""
    ends = behind(difference, in_points=True)
    return f"{points(difference.value)}{ends}, {is_chance(difference)}"


def is_chance(difference: Interval) -> str:
    """Whether chance explains a difference, as far as its interval tells."""
    if math.isnan(difference.low):
        return "too few runs to tell from chance"
    is_beyond = difference.low > 0 or difference.high < 0
    return "beyond chance" if is_beyond else "chance may explain it"
