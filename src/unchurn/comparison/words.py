"""A comparison in words and tables: for the terminal, and as Markdown for a pull request."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unchurn.report import formats
from unchurn.report.formats import visible
from unchurn.report.numbers import NONE, behind, between, percent, points, signed
from unchurn.report.table import Cell, Column, Note, Table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from unchurn.comparison.result import Comparison
    from unchurn.comparison.slices import Slice
    from unchurn.metrics.intervals import Interval

NAMES = {
    "churn": "churn",
    "accuracy_base": "accuracy of base",
    "accuracy_candidate": "accuracy of candidate",
    "accuracy_difference": "difference in accuracy",
    "churn_correct": "churn where base is right",
    "churn_incorrect": "churn where base is wrong",
    "bad_flips": "bad flips (right → wrong)",
    "good_flips": "good flips (wrong → right)",
    "wrong_to_wrong": "wrong → another wrong",
}
SIGNS = {"promote": "✅", "hold": "⏸️", "reject": "❌"}
COLOURS = {"promote": "green", "hold": "yellow", "reject": "red"}
N_SLICES = 10  # that are shown
N_CLASSES = 12
HALF = 0.5
SHOWN_THRESHOLDS = (0.1, 0.3, HALF, 0.7, 0.9)
EMPTY = Cell(text="")


@dataclass(frozen=True)
class BannerLine:
    """One reason of a decision; what was measured and its limit, where that is a number."""

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


def sentences(comparison: Comparison) -> list[str]:
    """What moved; and whether that is more than retraining alone, if there are retrainings."""
    more = (floor_sentence(comparison), accuracies_sentence(comparison))
    return [headline(comparison), *(one for one in more if one is not None)]


def headline(comparison: Comparison) -> str:
    """What moved, in one sentence."""
    churn = comparison.estimates["churn"]
    text = f"{percent(churn.value)} of {comparison.n:,} predictions change ({between(churn)})"
    if comparison.labels_cover is not None:
        change = comparison.estimates["accuracy_difference"]
        bad, good = (int(m.sum()) for m in (comparison.outcomes.bad, comparison.outcomes.good))
        text += (
            f"; accuracy {points(change.value)} ({between(change, in_points=True)}): "
            f"{good:,} good flips, {bad:,} bad"
        )
    return text + "."


def floor_sentence(comparison: Comparison) -> str | None:
    """Whether the candidate moves more than retraining alone, in one sentence."""
    floor = comparison.floor
    if floor is None:
        return None
    text = (
        f"Retraining alone moves {percent(floor.churn.value)}{behind(floor.churn)}; the candidate "
        f"moves {points(floor.excess.value)} beyond it{behind(floor.excess, in_points=True)}."
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
    """The retrainings' accuracies beside base's and the candidate's, in one sentence."""
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
    outside = "" if found.is_another_retraining else ", and the candidate's is outside"
    return f"{text}; one more retraining may have {percent(low)} to {percent(high)}{outside}."


def measures(comparison: Comparison) -> Table:
    """Every measure with its value, interval and remark."""
    rows = []
    for name, estimate in comparison.estimates.items():
        is_difference = name == "accuracy_difference"
        shown = points(estimate.value) if is_difference else percent(estimate.value)
        ends = between(estimate, in_points=is_difference)
        rows.append(
            (
                Cell(text=NAMES[name]), Cell(text=shown, value=estimate.value), Cell(text=ends),
                Cell(text=estimate.note),
            )
        )  # fmt: skip
    unknown = [shown for name, shown in NAMES.items() if name not in comparison.estimates]
    if comparison.mcnemar is not None:
        exact, mid = comparison.mcnemar
        both = Cell(text=f"{exact:.3g}; {mid:.3g}", value=exact)
        rows.append((Cell(text="McNemar's p (exact; mid-p)"), both, EMPTY, EMPTY))
    if comparison.movement is not None:
        n, mean, bits = (comparison.movement[k] for k in ("n", "mean_absolute", "jensen_shannon"))
        of = Cell(text=f"of {n:,} examples" if n < comparison.n else "")
        change = Cell(text=f"{mean:.4f}", value=mean)
        divergence = Cell(text=f"{bits:.4f} bits", value=bits)
        rows.append((Cell(text="mean change of a probability"), change, EMPTY, of))
        rows.append((Cell(text="mean Jensen–Shannon divergence"), divergence, EMPTY, EMPTY))
    only_flips = comparison.labels_cover == "flips"
    note = Note(text=f"Unknown, as only the flips are labelled: {', '.join(unknown)}.")
    return Table(
        columns=_columns("measure", "value", "95 % interval", ""),
        rows=tuple(rows),
        notes=(note,) if only_flips else (),
    )


def slices(comparison: Comparison, most: int = N_SLICES) -> Table:
    """The slices that differ most from the rest; their flips for the worse where labels tell."""
    shown = comparison.slices[:most]
    with_labels = any(one.bad_flips is not None for one in shown)
    judged = (Column(heading="bad flips", may_go=2), Column(heading="accuracy", may_go=1))
    columns = (
        Column(heading="slice", is_text=True, may_shorten=True),
        Column(heading="examples"),
        Column(heading="churn"),
        Column(heading="95 % interval", may_go=4),
        Column(heading="the rest"),
        *(judged if with_labels else ()),
        Column(heading="q", may_go=3),
        Column(heading="", is_text=True),
    )
    rows = tuple(
        (
            Cell(text=f"{one.column}={one.value}", is_foreign=True), _count(one.n),
            Cell(text=percent(one.churn.value), value=one.churn.value),
            Cell(text=between(one.churn), value=one.churn.low),
            Cell(text=percent(one.rest), value=one.rest),
            *(_for_the_worse(one) if with_labels else ()),
            Cell(text=f"{one.q:.2g}" if one.q else "<1e-300", value=one.q),
            Cell(text="differs" if one.is_notable else ""),
        )
        for one in shown
    )  # fmt: skip
    what = "accuracy: the candidate's less base's, in points."
    notes = (
        *_of_many(len(rows), len(comparison.slices), "slices that differ most from the rest"),
        *((Note(text=what, of=("accuracy",)),) if with_labels else ()),
    )
    return Table(columns=columns, rows=rows, notes=notes)


def _for_the_worse(one: Slice) -> tuple[Cell, Cell]:
    """A slice's bad flips and change of accuracy, where some of it is labelled."""
    if one.bad_flips is None or one.accuracy_difference is None:
        return Cell(text=NONE), Cell(text=NONE)
    change = one.accuracy_difference.value
    return (
        Cell(text=percent(one.bad_flips.value), value=one.bad_flips.value),
        Cell(text=signed(change), value=change),
    )


def classes(comparison: Comparison, most: int = N_CLASSES) -> Table:
    """The classes with the most flips."""
    headings = {"predicted_base": "by base", "flips_from": "flips from", "flips_to": "flips to"}
    if comparison.n_labelled > 0:
        headings |= {"labelled": "labelled", "bad_flips": "bad flips", "good_flips": "good flips"}
    ranked = sorted(comparison.classes, key=lambda row: -(row["flips_from"] + row["flips_to"]))
    rows = tuple(
        (Cell(text=row["class"], is_foreign=True), *(_count(row[name]) for name in headings))
        for row in ranked[:most]
    )
    notes = _of_many(len(rows), len(ranked), "classes with the most flips")
    name = Column(heading="class", is_text=True, may_shorten=True)
    columns = (name, *(Column(heading=heading) for heading in headings.values()))
    return Table(columns=columns, rows=rows, notes=notes)


def _of_many(shown: int, total: int, which: str) -> tuple[Note, ...]:
    """A note that a table holds only some."""
    return (Note(text=f"The {shown:,} of {total:,} {which}."),) if shown < total else ()


def thresholds(comparison: Comparison) -> Table:
    """For two classes: churn, and both accuracies if known, at some other thresholds."""
    shown = [row for row in comparison.thresholds if row["threshold"] in SHOWN_THRESHOLDS]
    names = [name for name in ("churn", "accuracy_base", "accuracy_candidate")
             if shown and name in shown[-1]]  # fmt: skip
    rows = tuple(
        (
            Cell(text=f"{row['threshold']:g}", value=row["threshold"]),
            *(Cell(text=percent(row[name]), value=row[name]) for name in names),
        )
        for row in shown
    )
    heading = f"threshold for {comparison.thresholds_for}"
    first = Column(heading=heading, is_text=True, is_foreign=True)
    at_half = next((row for row in shown if row["threshold"] == HALF), {})
    differs = any(
        not math.isclose(at_half[name], comparison.estimates[name].value)
        for name in names
        if name in at_half and name in comparison.estimates
    )
    why = (
        "At 0.5 it is not as above: here every prediction goes by its probability, and one of just "
        "0.5 reaches the threshold."
    )
    return Table(
        columns=(first, *(Column(heading=NAMES[name]) for name in names)),
        rows=rows,
        notes=(Note(text=why),) if differs else (),
    )


def remarks(comparison: Comparison) -> list[str]:
    """What was taken for what, what was left out, and what else to know."""
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
        parts = [
            f"## {SIGNS[banner.decision]} unchurn gate: {banner.decision}",
            formats.markdown(_checks(banner)).rstrip("\n"),
        ]
    parts += [f"⚠️ {formats.in_markdown(warning)}" for warning in comparison.warnings]
    parts += [formats.in_markdown(sentence) for sentence in sentences(comparison)]
    parts += [formats.markdown(table).rstrip("\n") for table in _tables(comparison)]
    parts += [f"- {formats.in_markdown(line)}" for line in remarks(comparison)]
    return "\n\n".join(parts) + "\n"


def show(console: Console, comparison: Comparison, banner: Banner | None = None) -> None:
    """The same on the terminal."""
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
    for table in _tables(comparison):
        show_table(console, table)
    console.print()
    show_remarks(console, comparison)


def show_table(console: Console, table: Table) -> None:
    """A table below what stands on the terminal, no wider than that."""
    from rich.text import Text

    console.print(Text(f"\n{formats.text(table, console.width)}"), end="")


def show_warnings(console: Console, comparison: Comparison) -> None:
    """What may make it another answer than was meant, on the terminal."""
    from rich.text import Text

    for warning in comparison.warnings:
        console.print(Text(visible(f"warning: {warning}"), style="yellow"))


def show_remarks(console: Console, comparison: Comparison) -> None:
    """The remarks on the terminal."""
    from rich.text import Text

    for line in remarks(comparison):
        console.print(Text(visible(line), style="dim"))


def _tables(comparison: Comparison) -> list[Table]:
    """The tables that have something to show."""
    tables = [f(comparison) for f in (measures, slices, classes, thresholds)]
    return [table for table in tables if table.rows]


def _columns(*headings: str) -> tuple[Column, ...]:
    """Columns of numbers behind one of names; one without a heading has words, too."""
    return tuple(Column(heading=h, is_text=i == 0 or not h) for i, h in enumerate(headings))


def _count(number: int) -> Cell:
    return Cell(text=f"{number:,}", value=number)


def _checks(banner: Banner) -> Table:
    """The reasons of a decision."""
    rows = tuple(
        (
            Cell(text=line.name, is_foreign=True),
            Cell(text=f"{SIGNS[line.decision]} {line.decision}"),
            Cell(text=line.reason, is_foreign=True),
        )
        for line in banner.lines
    )
    columns = tuple(Column(heading=h, is_text=True) for h in ("check", "", "reason"))
    return Table(columns=columns, rows=rows)


def _rich_checks(banner: Banner) -> RichTable:
    """The same for the terminal: a line each."""
    from rich.table import Table as RichTable
    from rich.text import Text

    grid = RichTable.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    for line in banner.lines:
        decision = Text(f"  {line.decision}", style=COLOURS[line.decision])
        grid.add_row(decision, Text(visible(f"{line.name}: {line.reason}")))
    return grid
