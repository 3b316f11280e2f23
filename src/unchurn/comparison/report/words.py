"""A comparison as text: for the terminal, and as Markdown for a pull request."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from unchurn.comparison.report.tables import all_tables
from unchurn.report import formats
from unchurn.report.formats import visible
from unchurn.report.numbers import behind, between, percent, points
from unchurn.report.table import Cell, Column, Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from unchurn.comparison.result import Comparison
    from unchurn.metrics.intervals import Interval

SIGNS = {"promote": "✅", "hold": "⏸️", "reject": "❌"}
# Letters of Markdown: a comment on GitHub may have 65,536, of which checks take no more than ROOM.
LONGEST, ROOM = 60_000, 20_000
ELSEWHERE = "see --json"
N_CHECKS = 12  # up to so many checks of a verdict, all are listed
COLOURS = {"promote": "green", "hold": "yellow", "reject": "red"}


@dataclass(frozen=True)
class BannerLine:
    """One check of a decision and its reason; the measured value and limit if they are numbers."""

    name: str
    decision: str
    reason: str
    found: Interval | None = None
    limit: float | None = None


@dataclass(frozen=True)
class Banner:
    """A decision that is shown above a comparison: promote, hold or reject, and why."""

    decision: str
    meaning: str
    lines: tuple[BannerLine, ...]

    @property
    def in_the_way(self) -> list[BannerLine]:
        """The reasons against promotion: rejections first; slices last, the worst of them first."""
        against = [line for line in self.lines if line.decision != "promote"]
        return sorted(against, key=_place)

    @property
    def passed(self) -> list[BannerLine]:
        """The checks that allow promotion."""
        return [line for line in self.lines if line.decision == "promote"]

    def folded(self) -> tuple[list[BannerLine], list[BannerLine]]:
        """The checks to list, and those to fold: slices that pass, if there are many checks."""
        if len(self.lines) <= N_CHECKS:
            return list(self.lines), []
        slices = [line for line in self.passed if line.name.startswith("slice_")]
        overall = [line for line in self.passed if line not in slices]
        return [*self.in_the_way, *overall], slices

    def said(self) -> list[tuple[str, str]]:
        """Decisions and reasons, a line each; if there are many, one line for slices that pass."""
        lines, slices = self.folded()
        said = [(line.decision, visible(f"{line.name}: {line.reason}")) for line in lines]
        if slices:
            said.append(
                ("promote", f"{len(slices)} checks of slices, which --json and --html list")
            )
        return said


def _place(line: BannerLine) -> tuple[bool, bool, float]:
    """Sort key of the reasons against promotion; slices go by how far they are beyond the limit."""
    is_slice = line.name.startswith("slice_")
    beyond = 0.0
    if is_slice and line.found is not None and line.limit is not None:
        beyond = line.found.value - line.limit
    return line.decision == "hold", is_slice, -beyond


def sentences(comparison: Comparison) -> list[str]:
    """What changed and, if there are retrainings, whether it is more than retraining alone."""
    more = (floor_sentence(comparison), accuracies_sentence(comparison))
    return [headline(comparison), *(one for one in more if one is not None)]


def headline(comparison: Comparison) -> str:
    """What changed, in one sentence."""
    churn = comparison.estimates["churn"]
    text = f"{percent(churn.value)} of {comparison.n:,} predictions change ({between(churn)})"
    if comparison.labels_cover is not None:
        change = comparison.estimates["accuracy_difference"]
        bad, good = (int(m.sum()) for m in (comparison.outcomes.bad, comparison.outcomes.good))
        judged = comparison.counts.number(comparison.counts.judged)
        among = "" if judged == comparison.n else f"on the {judged:,} with a true label, "
        text += (
            f"; {among}accuracy {points(change.value)} ({between(change, in_points=True)}): "
            f"{good:,} good flip{'s' * (good != 1)}, {bad:,} bad"
        )
    return text + "."


def floor_sentence(comparison: Comparison) -> str | None:
    """Whether the candidate changes more than retraining alone, in one sentence; or None."""
    floor = comparison.floor
    if floor is None:
        return None
    on = "" if floor.n == comparison.n else f", on the {floor.n:,} examples that all have,"
    if floor.copies:
        return (
            f"The retrainings move{on} {percent(floor.churn.value)}, the candidate moves "
            f"{points(floor.excess.value)} beyond it; as some seem to be copies, that is not the "
            "noise of retraining, and says nothing of one more."
        )
    text = (
        f"Retraining alone moves{on} {percent(floor.churn.value)}{behind(floor.churn)}; the "
        f"candidate moves {points(floor.excess.value)} beyond it"
        f"{behind(floor.excess, in_points=True)}."
    )
    if floor.is_another_retraining is None:
        return text
    low, high = floor.expected
    may = f"one more retraining may move {percent(low)} to {percent(high)}"
    if floor.is_another_retraining:
        return f"{text} It may be just another retraining: {may}."
    more = "more" if floor.candidate > high else "less"
    return f"{text} It is not just another retraining: {may}, and it moves {more}."


def accuracies_sentence(comparison: Comparison) -> str | None:
    """Accuracies of retrainings, base and candidate, in one sentence; None if unknown."""
    floor = comparison.floor
    if floor is None or floor.accuracy is None:
        return None
    found = floor.accuracy
    each = f"{percent(min(found.each))} to {percent(max(found.each))}"
    text = (
        f"Retrainings' accuracies are {percent(found.each[0]) if len(found.each) == 1 else each}, "
        f"base's is {percent(found.base)}, the candidate's {percent(found.candidate)}"
    )
    if found.is_another_retraining is None:
        return f"{text}."
    low, high = found.expected
    where = "below" if found.candidate < low else "above"
    outside = "" if found.is_another_retraining else f", and the candidate's is {where} that"
    return f"{text}; one more retraining may have {percent(low)} to {percent(high)}{outside}."


def remarks(comparison: Comparison) -> list[str]:
    """The role of each column, the rows left out, and further notes."""
    lines = []
    for name, taken in comparison.taken.items():
        shown = ", ".join(f"{what}: {column}" for what, column in taken.items())
        lines.append(f"{name}: {shown}")
    lines += [
        f"left out: {count:,} row{'s' * (count != 1)} {why}"
        for why, count in comparison.paired.excluded.items()
    ]
    return [*lines, *comparison.notes]


def markdown(comparison: Comparison, banner: Banner | None = None) -> str:
    """The comparison, and the verdict above it, for a pull request's comment."""
    parts = ["## unchurn compare"]
    if banner is not None:
        listed, slices = banner.folded()
        parts = [
            f"## {SIGNS[banner.decision]} unchurn gate: {banner.decision}",
            _checks_that_fit(listed, ROOM),
        ]
        if slices:
            summary = f"<details><summary>{len(slices)} checks of slices that promote</summary>"
            parts += [summary, _checks_that_fit(slices, ROOM // 2), "</details>"]
    parts += [f"⚠️ {formats.in_markdown(warning)}" for warning in comparison.warnings]
    parts += [formats.in_markdown(sentence) for sentence in sentences(comparison)]
    parts += [formats.markdown(table).rstrip("\n") for table in all_tables(comparison)]
    parts += [f"- {formats.in_markdown(line)}" for line in remarks(comparison)]
    text = "\n\n".join(parts) + "\n"
    if len(text) <= LONGEST:
        return text
    while len("\n\n".join(parts)) > LONGEST and len(parts) > 1:  # tables may hold any names
        parts.pop()
    return "\n\n".join([*parts, f"The rest has no room: {ELSEWHERE}."]) + "\n"


def _checks_that_fit(lines: list[BannerLine], room: int) -> str:
    """A Markdown table of the first checks, as many as there is room for."""
    head, rule, *rows = formats.markdown(_checks(lines)).splitlines()
    ends = accumulate(len(row) + 1 for row in rows)
    fitting = rows[: sum(end <= room for end in ends)]
    gone = len(rows) - len(fitting)
    told = ["", f"and {gone:,} more: {ELSEWHERE}"] if gone else []
    return "\n".join([head, rule, *fitting, *told])


def show(console: Console, comparison: Comparison, banner: Banner | None = None) -> None:
    """Print the comparison, and the verdict above it, on the terminal."""
    from rich.text import Text

    if banner is not None:
        console.print(Text(banner.decision.upper(), style=f"bold {COLOURS[banner.decision]}"))
        console.print(_rich_checks(banner))
        console.print()
    show_warnings(console, comparison)
    first, *more = sentences(comparison)
    console.print(Text(first, style="bold"))
    for sentence in more:
        console.print(Text(sentence))
    for table in all_tables(comparison):
        show_table(console, table)
    console.print()
    show_remarks(console, comparison)


def show_table(console: Console, table: Table) -> None:
    """Print a table after an empty line, no wider than the terminal."""
    from rich.text import Text

    console.print(Text(f"\n{formats.text(table, console.width)}"), end="")


def show_warnings(console: Console, comparison: Comparison) -> None:
    """Print the warnings on the terminal."""
    from rich.text import Text

    for warning in comparison.warnings:
        console.print(Text(visible(f"warning: {warning}"), style="yellow"))


def show_remarks(console: Console, comparison: Comparison) -> None:
    """Print the remarks on the terminal."""
    from rich.text import Text

    for line in remarks(comparison):
        console.print(Text(visible(line), style="dim"))


def _checks(lines: list[BannerLine]) -> Table:
    """A table of checks and their reasons."""
    rows = tuple(
        (
            Cell(text=line.name, is_foreign=True),
            Cell(text=f"{SIGNS[line.decision]} {line.decision}"),
            Cell(text=line.reason, is_foreign=True),
        )
        for line in lines
    )
    columns = tuple(Column(heading=h, is_text=True) for h in ("check", "", "reason"))
    return Table(columns=columns, rows=rows)


def _rich_checks(banner: Banner) -> RichTable:
    """The checks and their reasons, for the terminal."""
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    for decision, reason in banner.said():
        grid.add_row(Text(f"  {decision}", style=COLOURS[decision]), Text(reason))
    return grid
