"""Results as tables: text, Markdown and LaTeX of the chosen settings, CSV of all."""

from __future__ import annotations

import csv
import html
import io
import math
import re
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from unchurn.core.errors import InputError
from unchurn.core.files import safe_cell
from unchurn.metrics.churn import ChurnSummary, MeanSd
from unchurn.metrics.intervals import Interval
from unchurn.paper.published import METRICS, published

if TYPE_CHECKING:
    from unchurn.study.result import Result, SettingResult

FORMS = ("text", "markdown", "latex", "csv")
SD = r" \([\d.–]+\)$"  # a deviation at the end of a cell
HEADINGS = ("accuracy", "churn", "correct", "incorrect")
Rows = list[tuple[list[str], set[int]]]  # cells, and which of them are best
# An ensemble costs several models, and churn among wrong predictions may be good: as in the paper,
# neither takes part in being best.
APART = "ensemble"
NEVER_BEST = "churn_incorrect"
DIFFERENCES = ("churn − control's", "accuracy − control's")
BRACKETS = "Brackets: 95 %, runs paired, jackknife over runs plus the variance of the examples."


def render(result: Result, form: str, *, width: int | None = None) -> str:
    """A table of results in one of the forms; text no wider than `width`, if it is given."""
    if form not in FORMS:
        raise InputError(f"no form of table {form!r}: there are {', '.join(FORMS)}")
    if form == "csv":
        return _csv(result)
    rows, lines = _rows(result), footer(result)
    if form == "text":
        return as_text(rows, lines, width, rows[0][0].index(HEADINGS[-1]) + 1)
    return {"markdown": as_markdown, "latex": _latex}[form](rows, lines)


def _rows(result: Result) -> Rows:
    """Cells of the heading and of each method's chosen setting, and which cells are best."""
    chosen = result.choose()
    best = best_single(chosen)
    paper = any((result.experiment.data.name, name) in published() for name in chosen)
    several = any(len(group) > 1 for group in result.by_method.values())
    differences = {name: result.against_control(one) for name, one in chosen.items()}
    compared = any(differences.values())
    heading = ["method", "setting", *(["tried"] if several else []), *HEADINGS]
    heading += [*(["paper"] if paper else []), *(DIFFERENCES if compared else [])]
    rows: Rows = [(heading, set())]
    for name, group in result.by_method.items():
        tried = [str(len(group))] if several else []
        if name not in chosen:
            reason = next(failure for member in group for failure in member.failures)
            rows.append(([name, "failed", *tried, reason], set()))
            continue
        summary = chosen[name].summary["test"]
        cells = [name, chosen[name].setting.text, *tried]
        first = len(cells)
        cells += [mean_sd(getattr(summary, metric)) for metric in METRICS]
        if paper:
            cells.append(papers(result.experiment.data.name, name))
        if compared:
            difference = differences[name]
            cells += [interval_text(difference[i]) if difference else "" for i in (1, 0)]
        marked = {first + i for i, metric in enumerate(METRICS) if best.get(metric) == name}
        rows.append((cells, marked))
    return rows


def papers(dataset: str, method: str) -> str:
    """What the paper published: mean accuracy, churn, correct and incorrect churn."""
    row = published().get((dataset, method))
    return " / ".join(f"{row.mean[metric]:.2f}" for metric in METRICS) if row else ""


def best_single(chosen: dict[str, SettingResult]) -> dict[str, str]:
    """The method that is best in each metric, of the single models."""
    single = {name: r.summary["test"] for name, r in chosen.items() if name != APART}
    if not single:
        return {}

    def worth(metric: str) -> Callable[[str], float]:
        sign = 1 if metric == "accuracy" else -1
        values = {name: sign * getattr(summary, metric).mean for name, summary in single.items()}
        return lambda name: -math.inf if math.isnan(values[name]) else values[name]

    best = {m: max(single, key=worth(m)) for m in METRICS if m != NEVER_BEST}
    return {m: name for m, name in best.items() if worth(m)(name) > -math.inf}


def footer(result: Result) -> list[str]:
    """What a reader must know to read the numbers right."""
    experiment = result.experiment
    lines = [
        f"{experiment.data.name}, {experiment.runs} runs of each setting, "
        f"{experiment.training.length}. Percent, mean (sd): accuracy over runs, churn over "
        "pairs of runs; correct, incorrect: churn among what a pair's first run got right, wrong.",
    ]
    if len(result.settings) > len(result.by_method) or experiment.validation:
        more = " A method that tried more settings had more chances: it gets no interval."
        lines.append(
            f"Settings chosen on the {result.chosen_on} part: highest accuracy; of those less than "
            f"0.1 points below it, lowest churn.{more if result.chosen_on == 'test' else ''}"
        )
    lines.append("Bold: the best single model.")
    differences = map(result.against_control, result.choose().values())
    if any(found and not math.isnan(found[1].low) for found in differences):  # two runs have none
        lines.append(BRACKETS)
    if any(
        r.setting.name == "anchor" and r.setting.method.reference_is_fixed for r in result.settings
    ):
        lines.append("Anchor's runs share one reference, as in the paper: not quite independent.")
    if failed := [r for r in result.settings if r.failures]:
        lines.append(f"{len(failed)} settings failed and were not chosen: see table.csv for why.")
    return lines


def interval_text(value: Interval) -> str:
    """A difference in percentage points, with its interval if it has one."""
    between = "" if math.isnan(value.low) else f" [{100 * value.low:+.2f}, {100 * value.high:+.2f}]"
    return f"{100 * value.value:+.2f}{between}"


def mean_sd(value: MeanSd) -> str:
    """A mean with its deviation, in percent."""
    sd = "–" if math.isnan(value.sd) else f"{100 * value.sd:.2f}"
    return "–" if math.isnan(value.mean) else f"{100 * value.mean:.2f} ({sd})"


def as_text(rows: Rows, footer: list[str], width: int | None, n_needed: int) -> str:
    """Aligned columns, the best marked by an asterisk.

    Where they do not fit, columns after the first `n_needed` are left out, then the deviations.
    """
    cells = [[f"*{c}" if i in best else c for i, c in enumerate(row)] for row, best in rows]
    n = len(cells[0])
    left_out = []
    sizes = _sizes(cells, n)
    while width is not None and _total(sizes) > width and len(sizes) > n_needed:
        sizes.pop()
        left_out = rows[0][0][len(sizes) :]
    if width is not None and _total(sizes) > width:
        left_out = ["sd", *left_out]
        cells = [[re.sub(SD, "", cell) for cell in row] for row in cells]
        sizes = _sizes(cells, n)[:n_needed]
    lines = []
    for row in cells:
        padded = [
            cell.ljust(size) if i < 2 else cell.rjust(size)
            for i, (cell, size) in enumerate(zip(row, sizes, strict=False))
        ]
        lines.append("  ".join(padded).rstrip())
    notes = [line.replace("Bold", "Asterisk") for line in footer]
    if set(DIFFERENCES) <= set(left_out):
        notes = [line for line in notes if line != BRACKETS]
    if left_out:
        notes.append(f"Not shown for want of width: {', '.join(left_out)}.")
    wrapped = [textwrap.fill(note, width) if width else note for note in notes]
    return "\n".join([*lines, "", *wrapped]) + "\n"


def _sizes(cells: list[list[str]], n: int) -> list[int]:
    """Widths of the columns; a failed method's short row has its reason instead."""
    return [max(len(row[i]) for row in cells if len(row) == n) for i in range(n)]


def _total(sizes: list[int]) -> int:
    return sum(sizes) + 2 * (len(sizes) - 1)


def as_markdown(rows: Rows, footer: list[str]) -> str:
    """A Markdown table."""
    width = len(rows[0][0])
    lines = []
    for number, (row, best) in enumerate(rows):
        cells = [f"**{c}**" if i in best else c for i, c in enumerate(row)]
        cells = [cell.replace("|", "\\|") for cell in cells] + [""] * (width - len(row))
        lines.append("| " + " | ".join(cells) + " |")
        if number == 0:
            lines.append("|" + " --- |" * 2 + " ---: |" * (width - 2))
    return (
        "\n".join([*lines, "", *(f"{html.escape(line, quote=False)}  " for line in footer)]) + "\n"
    )


def _latex(rows: Rows, footer: list[str]) -> str:
    """A LaTeX tabular (booktabs)."""
    width = len(rows[0][0])
    lines = [rf"\begin{{tabular}}{{ll{'r' * (width - 2)}}}", r"\toprule"]
    for number, (row, best) in enumerate(rows):
        cells = [rf"\textbf{{{_tex(c)}}}" if i in best else _tex(c) for i, c in enumerate(row)]
        lines.append(" & ".join(cells + [""] * (width - len(row))) + r" \\")
        if number == 0:
            lines.append(r"\midrule")
    lines += [r"\bottomrule", r"\end{tabular}", "", r"{\footnotesize"]
    return "\n".join([*lines, *(f"{_tex(line)}\\\\" for line in footer), "}"]) + "\n"


def _tex(text: str) -> str:
    """Text with what LaTeX takes for commands escaped."""
    text = re.sub(r"[\\^~]", " ", text)
    text = re.sub(r"([&%$#_{}])", r"\\\1", text)
    return text.replace("−", "$-$").replace("–", "--")


def _csv(result: Result) -> str:
    """One row per setting, in percent."""
    chosen = {id(setting) for setting in result.choose().values()}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    columns = [c for metric in METRICS for c in (metric, f"{metric}_sd")]
    writer.writerow(["dataset", "method", "settings", "chosen", "runs", *columns, "failure"])
    for row in result.settings:
        summary: ChurnSummary | None = row.summary.get("test")
        numbers = []
        for metric in METRICS:
            value = getattr(summary, metric) if summary else MeanSd(math.nan, math.nan, 0)
            numbers += [percent(value.mean), percent(value.sd)]
        name, text = row.setting.name, row.setting.text
        is_chosen = str(id(row) in chosen).lower()
        runs = result.experiment.runs - len(row.failures)
        failure = "; ".join(row.failures)
        writer.writerow(
            [safe_cell(result.experiment.data.name), name, text, is_chosen, runs, *numbers, failure]
        )
    return file.getvalue()


def percent(value: float) -> str:
    """A fraction as CSV has it; of NaN, nothing."""
    return "" if math.isnan(value) else f"{100 * value:.4f}"
