"""A comparison and a verdict in words: for the terminal, and as Markdown for a pull request."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from unchurn.comparison.compare import Comparison
    from unchurn.gate.decide import Verdict
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
N_SLICES = 10  # that are shown
N_CLASSES = 12
SHOWN_THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)
Table = list[list[str]]


def headline(comparison: Comparison) -> str:
    """What moved, in one sentence."""
    churn = comparison.estimates["churn"]
    text = f"{churn.value:.2%} of {comparison.n:,} predictions change ({_between(churn)})"
    if comparison.n_labelled:
        change = comparison.estimates["accuracy_difference"]
        bad, good = (int(m.sum()) for m in (comparison.outcomes.bad, comparison.outcomes.good))
        text += (
            f"; accuracy {_points(change.value)} ({_between(change, points=True)}): "
            f"{good:,} good flips, {bad:,} bad"
        )
    return text + "."


def floor_sentence(comparison: Comparison) -> str | None:
    """Whether the candidate moves more than retraining alone, in one sentence."""
    floor = comparison.floor
    if floor is None:
        return None
    text = f"Retraining alone moves {floor.churn.value:.2%}{_interval(floor.churn)}; "
    text += f"the candidate moves {_points(floor.excess.value)} beyond it"
    text += _interval(floor.excess, points=True)
    low, high = floor.expected
    if floor.is_another_retraining is None:
        return text + "."
    may = f"one more retraining may move {low:.2%} to {high:.2%}"
    if floor.is_another_retraining:
        return f"{text}. It may be just another retraining: {may}."
    more = "more" if floor.candidate > high else "less"
    return f"{text}. It is not just another retraining: {may}, and it moves {more}."


def measures(comparison: Comparison) -> Table:
    """Measure, value, interval, remark."""
    rows = [["measure", "value", "95 % interval", ""]]
    for name, value in comparison.estimates.items():
        points = name == "accuracy_difference"
        shown = _points(value.value) if points else _percent(value.value)
        rows.append([NAMES[name], shown, _between(value, points=points), value.note])
    if comparison.mcnemar is not None:
        exact, mid = comparison.mcnemar
        rows.append(["McNemar's p (exact; mid-p)", f"{exact:.3g}; {mid:.3g}", "", ""])
    if comparison.movement is not None:
        moved = comparison.movement
        of = f"of {moved['n']:,} examples" if moved["n"] < comparison.n else ""
        rows.append(["mean change of a probability", f"{moved['mean_absolute']:.4f}", "", of])
        bits = f"{moved['jensen_shannon']:.4f} bits"
        rows.append(["mean Jensen–Shannon divergence", bits, "", ""])
    return rows


def slices(comparison: Comparison, most: int = N_SLICES) -> Table:
    """The slices that differ most from the rest."""
    rows = [["slice", "examples", "churn", "95 % interval", "the rest", "q", ""]]
    for one in comparison.slices[:most]:
        rows.append(
            [
                f"{one.column}={one.value}", f"{one.n:,}", _percent(one.churn.value),
                _between(one.churn), _percent(one.rest), f"{one.q:.2g}" if one.q else "<1e-300",
                "differs" if one.is_notable else "",
            ]
        )  # fmt: skip
    return rows if len(rows) > 1 else []


def classes(comparison: Comparison, most: int = N_CLASSES) -> Table:
    """The classes with the most flips."""
    labelled = comparison.n_labelled > 0
    columns = {"class": "class", "predicted_base": "predicted by base", "flips_from": "flips from",
               "flips_to": "flips to"}  # fmt: skip
    if labelled:
        columns |= {"labelled": "labelled", "bad_flips": "bad flips", "good_flips": "good flips"}
    ranked = sorted(comparison.classes, key=lambda c: -(c["flips_from"] + c["flips_to"]))
    rows = [list(columns.values())]
    for row in ranked[:most]:
        rows.append([str(row["class"]), *(f"{row[c]:,}" for c in list(columns)[1:])])
    return rows


def thresholds(comparison: Comparison) -> Table:
    """For two classes: churn, and both accuracies, at some other thresholds."""
    name = f"threshold for {comparison.thresholds_for}"
    rows = [[name, "churn", "accuracy of base", "accuracy of candidate"]]
    for row in comparison.thresholds:
        if row["threshold"] in SHOWN_THRESHOLDS:
            known = [row[k] for k in ("accuracy_base", "accuracy_candidate") if k in row]
            cells = [_percent(row["churn"]), *(_percent(value) for value in known)]
            rows.append([f"{row['threshold']:g}", *cells])
    return [row[: len(rows[-1])] for row in rows] if len(rows) > 1 else []


def _tables(comparison: Comparison) -> list[Table]:
    return [f(comparison) for f in (measures, slices, classes, thresholds)]


def remarks(comparison: Comparison) -> list[str]:
    """What was taken for what, what was left out, and what else to know."""
    lines = []
    for name, taken in comparison.taken.items():
        shown = ", ".join(f"{what}: {column}" for what, column in taken.items())
        lines.append(f"{name}: {shown}")
    lines += [
        f"left out: {count:,} rows {why}" for why, count in comparison.paired.excluded.items()
    ]
    return [*lines, *comparison.notes]


def markdown(comparison: Comparison, verdict: Verdict | None = None) -> str:
    """The comparison, and the verdict above it, for a pull request's comment."""
    parts = []
    if verdict is not None:
        parts.append(f"## {SIGNS[verdict.decision]} unchurn gate: {verdict.decision}")
        checks = [["check", "", "reason"]]
        checks += [[c.name, f"{SIGNS[c.decision]} {c.decision}", c.reason] for c in verdict.checks]
        parts.append(_markdown_table(checks))
    else:
        parts.append("## unchurn compare")
    parts.append(_escaped(headline(comparison)))
    if (sentence := floor_sentence(comparison)) is not None:
        parts.append(_escaped(sentence))
    for table in _tables(comparison):
        if table:
            parts.append(_markdown_table(table))
    parts += [f"- {_escaped(line)}" for line in remarks(comparison)]
    return "\n\n".join(parts) + "\n"


def show(console: Console, comparison: Comparison, verdict: Verdict | None = None) -> None:
    """The same on the terminal."""
    from rich.table import Table as RichTable
    from rich.text import Text

    if verdict is not None:
        colour = {"promote": "green", "hold": "yellow", "reject": "red"}
        console.print(Text(verdict.decision.upper(), style=f"bold {colour[verdict.decision]}"))
        checks = RichTable.grid(padding=(0, 1))
        checks.add_column(no_wrap=True)
        for check in verdict.checks:
            decision = Text(f"  {check.decision}", style=colour[check.decision])
            checks.add_row(decision, Text(f"{check.name}: {check.reason}"))
        console.print(checks)
        console.print()
    console.print(Text(headline(comparison), style="bold"))
    if (sentence := floor_sentence(comparison)) is not None:
        console.print(Text(sentence))
    for table in _tables(comparison):
        if table:
            _rich_table(console, table)
    for line in remarks(comparison):
        console.print(Text(line, style="dim"))


def _rich_table(console: Console, rows: Table) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(rows[0]):
        table.add_column(Text(name), justify="left" if i == 0 or not name else "right")
    for row in rows[1:]:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _markdown_table(rows: Table) -> str:
    lines = ["| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is: a class named `<b>` or `a|b` stays that."""
    for character in "\\`*_[]<>|#":
        text = text.replace(character, f"\\{character}" if character not in "<>" else character)
    return " ".join(text.replace("<", "&lt;").replace(">", "&gt;").split())


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2%}"


def _points(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:+.2f} points"


def _between(value: Interval, *, points: bool = False) -> str:
    """The interval alone."""
    if math.isnan(value.low):
        return "no interval"
    if points:
        return f"{100 * value.low:+.2f} to {100 * value.high:+.2f}"
    return f"{value.low:.2%} to {value.high:.2%}"


def _interval(value: Interval, *, points: bool = False) -> str:
    """The interval in brackets, where there is one."""
    return "" if math.isnan(value.low) else f" ({_between(value, points=points)})"
