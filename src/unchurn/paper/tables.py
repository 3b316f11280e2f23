"""Our numbers beside the paper's, as tables: of a result, and of a trial's variants."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unchurn.paper.published import METRICS, Published, published
from unchurn.paper.records import Kept, paper_row
from unchurn.paper.studies import smaller
from unchurn.study.result import Result, SettingResult
from unchurn.study.table import HEADINGS, Rows, as_markdown, as_text, mean_sd

NEAR = 2  # published standard deviations within which a number is called near


def beside_paper(study: str, result: Result) -> str:
    """A result's table for the terminal."""
    less = smaller(result.experiment)
    rows = _rows(study, result, METRICS, less)
    return as_text(rows, _footer([result], less), None, len(rows[0][0]))


def table(one: Kept) -> str:
    """A result's table in Markdown."""
    less = smaller(one.result.experiment)
    return as_markdown(_rows(one.study, one.result, METRICS, less), _footer([one.result], less))


def trial_table(variants: Sequence[Kept]) -> str:
    """A trial's variants on one dataset in Markdown: accuracy and churn, setting by setting."""
    results = [one.result for one in variants]
    parts = [smaller(result.experiment) for result in results]
    less = [part for part in parts[0] if all(part in others for others in parts)]
    tables = []
    for one, own in zip(variants, parts, strict=True):
        # Fewer epochs in one variant are what is tried; in all of them, a smaller trial.
        said = [part for part in own if part in less or not part.endswith("epochs")]
        tables.append(_rows(one.study, one.result, METRICS[:2], said))
    by_setting: dict[tuple[str, str], Rows] = {}
    for one, (_, *lines) in zip(variants, tables, strict=True):
        variant = one.name.rpartition("-")[2] if len(variants) > 1 else ""
        for (method, setting, *cells), best in lines:
            row = ([method, f"{setting} {variant}".strip(), *cells], best)
            by_setting.setdefault((method, setting), []).append(row)
    rows: Rows = [tables[0][0], *(row for same in by_setting.values() for row in same)]
    return as_markdown(rows, _footer(results, less))


def choice_table(one: Kept) -> str:
    """What the paper's rule chooses of each method's settings, in Markdown, and what it chose."""
    rows: Rows = [(["method", "chosen", "of", "accuracy", "churn", "the paper's choice"], set())]
    for name, chosen in one.result.choose().items():
        theirs = published()[one.dataset, name].parameters
        summary = chosen.summary["test"]
        cells = [name, chosen.setting.text, str(len(one.result.by_method[name]))]
        cells += [mean_sd(summary.accuracy), mean_sd(summary.churn)]
        rows.append(([*cells, " ".join(f"{p}={value:g}" for p, value in theirs.items())], set()))
    return as_markdown(rows, [])


def _rows(study: str, result: Result, metrics: Sequence[str], less: list[str]) -> Rows:
    """A heading, then for each setting our numbers, each with the paper's behind it.

    In what it is less than the paper's is said in every row.
    """
    theirs = [paper_row(study, result, row) for row in result.settings]
    heading = ["method", "setting"]
    for name in HEADINGS[: len(metrics)]:
        heading += [name, *(["paper"] if any(theirs) else [])]
    heading += [*([f"within {NEAR} sd"] if any(theirs) else []), *(["only"] if less else [])]
    rows: Rows = [(heading, set())]
    for row, paper in zip(result.settings, theirs, strict=True):
        cells = [row.setting.name, row.setting.text]
        if not row.summary:
            rows.append(([*cells, f"failed: {row.failures[0]}"], set()))
            continue
        for metric in metrics:
            cells.append(mean_sd(getattr(row.summary["test"], metric)))
            if any(theirs):
                cells.append(papers(paper, metric))
        if any(theirs):
            near = near_cells(row, paper, metrics) if paper else []
            cells.append(f"{sum(near)} of {len(near)}" if near else "")
        rows.append(([*cells, *([", ".join(less)] if less else [])], set()))
    return rows


def papers(row: Published | None, metric: str) -> str:
    """A published mean with its deviation; nothing if there is none."""
    return f"{row.mean[metric]:.2f} ({row.sd[metric]:.2f})" if row and metric in row.mean else ""


def near_cells(row: SettingResult, paper: Published, metrics: Sequence[str]) -> list[bool]:
    """Of each metric that both have: whether our mean is within two published deviations."""
    ours = {metric: 100 * getattr(row.summary["test"], metric).mean for metric in metrics}
    return [
        bool(abs(ours[metric] - paper.mean[metric]) <= NEAR * paper.sd[metric])
        for metric in metrics
        if metric in paper.mean and not math.isnan(ours[metric])
    ]


def _footer(results: Sequence[Result], less: list[str]) -> list[str]:
    """What was trained, how long, how often and on how much."""
    experiments = [result.experiment for result in results]
    first = experiments[0]
    models = dict.fromkeys(str(experiment.model) for experiment in experiments)
    lengths = dict.fromkeys(experiment.training.length for experiment in experiments)
    sizes = dict.fromkeys(f"{len(experiment.data.y_train):,}" for experiment in experiments)
    text = (
        f"{first.data.name}: {', '.join(models)}; {', '.join(lengths)}; {first.runs} runs; "
        f"{' or '.join(sizes)} training and {len(first.data.y_test):,} test examples. "
        "Percent, mean (sd over runs or pairs)."
    )
    return [text, *([f"Smaller than the study: {', '.join(less)}."] if less else [])]
