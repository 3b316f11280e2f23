"""Our numbers beside the paper's, as tables: of a result, and of a trial's variants."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unchurn.metrics.registry import METRICS
from unchurn.paper.experiments import smaller
from unchurn.paper.published import PAPER_METRICS, Published, published
from unchurn.paper.record_numbers import measured, paper_row
from unchurn.paper.records import Record
from unchurn.report import formats, numbers
from unchurn.report.table import Cell, Column, Note, Table
from unchurn.study.results.result import Result, SettingResult

NEAR = 2  # published standard deviations within which a number is called near
OF_TRIALS = ("accuracy", "churn")  # a trial's table has these, not all four


def beside_paper(study: str, result: Result) -> str:
    """A result's table for the terminal."""
    return formats.text(_result_table(study, result))


def table(record: Record) -> str:
    """A result's table in Markdown."""
    return formats.markdown(_result_table(record.study, record.result))


def trial_table(variants: Sequence[Record]) -> str:
    """A trial's variants on one dataset in Markdown: accuracy and churn, setting by setting."""
    results = [variant.result for variant in variants]
    parts = [smaller(result.subject) for result in results]
    less = [part for part in parts[0] if all(part in others for others in parts)]
    tables = []
    for variant, own in zip(variants, parts, strict=True):
        # Fewer epochs in some variants are what the trial tries; in all, they make it smaller.
        said = [part for part in own if part in less or not part.endswith("epochs")]
        tables.append(_table(variant.study, variant.result, OF_TRIALS, said))
    by_setting: dict[tuple[str, str], list[tuple[Cell, ...]]] = {}
    for variant, own_table in zip(variants, tables, strict=True):
        name = variant.name.rpartition("-")[2] if len(variants) > 1 else ""
        for method, setting, *cells in own_table.rows:
            row = (method, Cell(text=f"{setting.text} {name}".strip()), *cells)
            by_setting.setdefault((method.text, setting.text), []).append(row)
    return formats.markdown(
        Table(
            columns=tables[0].columns,
            rows=tuple(row for rows in by_setting.values() for row in rows),
            notes=_notes(results, less),
        )
    )


def choice_table(record: Record) -> str:
    """The setting of each method that the paper's rule chooses, beside its own; in Markdown."""
    rows = []
    for name, chosen in record.result.chosen.items():
        theirs = published()[record.dataset, name].parameters
        rows.append(
            (
                Cell(text=name),
                Cell(text=chosen.setting.text),
                Cell(text=str(len(record.result.by_method[name]))),
                *(_mean_cell(chosen, metric) for metric in OF_TRIALS),
                Cell(text=" ".join(f"{p}={value:g}" for p, value in theirs.items())),
            )
        )
    headings = ("of", "accuracy", "churn", "the paper's choice")
    columns = (*_text_columns("method", "chosen"), *(Column(heading=h) for h in headings))
    return formats.markdown(Table(columns=columns, rows=tuple(rows)))


def published_text(row: Published | None, metric: str) -> str:
    """A published mean with its deviation; empty if there is none."""
    if row is None or metric not in row.mean:
        return ""
    return numbers.with_spread(row.mean[metric] / 100, row.sd[metric] / 100)


def near_cells(row: SettingResult, paper: Published, metrics: Sequence[str]) -> list[bool]:
    """For each metric that both have, whether our mean is within NEAR published deviations."""
    ours = {metric: 100 * measured(row, metric).mean for metric in metrics}
    return [
        bool(abs(ours[metric] - paper.mean[metric]) <= NEAR * paper.sd[metric])
        for metric in metrics
        if metric in paper.mean and not math.isnan(ours[metric])
    ]


def _result_table(study: str, result: Result) -> Table:
    """A result's table: all that the paper measured, and how it is smaller than the study."""
    return _table(study, result, PAPER_METRICS, smaller(result.subject))


def _table(study: str, result: Result, metrics: Sequence[str], less: list[str]) -> Table:
    """For each setting our numbers, each followed by the paper's if it published any.

    Every row says `less`: how the result is smaller than the study.
    """
    theirs = [paper_row(study, result, row) for row in result.settings]
    columns = _text_columns("method", "setting")
    for metric in metrics:
        columns.append(Column(heading=METRICS[metric].heading))
        columns += [Column(heading="paper")] if any(theirs) else []
    columns += [Column(heading=f"within {NEAR} sd")] if any(theirs) else []
    columns += [Column(heading="only")] if less else []
    rows = []
    for row, paper in zip(result.settings, theirs, strict=True):
        cells = [Cell(text=row.setting.name), Cell(text=row.setting.text)]
        if not row.summary:
            rows.append((*cells, Cell(text=f"failed: {row.failures[0]}")))
            continue
        for metric in metrics:
            cells.append(_mean_cell(row, metric))
            cells += [Cell(text=published_text(paper, metric))] if any(theirs) else []
        cells += [Cell(text=_agreement(row, paper, metrics))] if any(theirs) else []
        cells += [Cell(text=", ".join(less))] if less else []
        rows.append(tuple(cells))
    return Table(columns=tuple(columns), rows=tuple(rows), notes=_notes([result], less))


def _text_columns(*headings: str) -> list[Column]:
    return [Column(heading=heading, is_text=True) for heading in headings]


def _mean_cell(row: SettingResult, metric: str) -> Cell:
    value = measured(row, metric)
    return Cell(text=numbers.with_spread(value.mean, value.sd), value=value.mean)


def _agreement(row: SettingResult, paper: Published | None, metrics: Sequence[str]) -> str:
    """How many published numbers of a row ours are near to; empty if none are published."""
    near = near_cells(row, paper, metrics) if paper else []
    return f"{sum(near)} of {len(near)}" if near else ""


def _notes(results: Sequence[Result], less: list[str]) -> tuple[Note, ...]:
    """Notes on what was trained, how long, how often and on how much."""
    subjects = [result.subject for result in results]
    first = subjects[0]
    models = dict.fromkeys(subject.learner["model"] for subject in subjects)
    lengths = dict.fromkeys(subject.length for subject in subjects)
    sizes = dict.fromkeys(f"{subject.data.n_train:,}" for subject in subjects)
    text = (
        f"{first.data.name}: {', '.join(models)}; {', '.join(lengths)}; {first.runs} runs; "
        f"{' or '.join(sizes)} training and {len(first.labels['test']):,} test examples. "
        "Percent, mean (sd over runs or pairs)."
    )
    said = [f"Smaller than the study: {', '.join(less)}."] if less else []
    return tuple(Note(text=line) for line in (text, *said))
