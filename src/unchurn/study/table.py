"""A result as tables: one of the chosen settings for readers, one of all settings for programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unchurn.metrics.registry import METRICS, Metric, Runs
from unchurn.report import formats, numbers
from unchurn.report.table import Cell, Column, Note, Table

if TYPE_CHECKING:
    from unchurn.metrics.churn import MeanSd
    from unchurn.metrics.intervals import Interval
    from unchurn.study.result import Result, SettingResult

OF_ALL_SETTINGS = ("csv", "json")  # formats for programs; the others are for readers
DIFFERENCES = ("churn − control's", "accuracy − control's")
Filled = tuple[Column, dict[str, Cell]]  # a column with its cells, by method
BRACKETS = "Brackets: 95 %, runs paired, jackknife over runs plus the variance of the examples."


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A column of what somebody else measured, given by whoever knows it."""

    heading: str
    of: Callable[[str, str], str]  # a dataset's and a method's names → text, "" for nothing


def render(
    result: Result, form: str, *, width: int | None = None, beside: Beside | None = None
) -> str:
    """A table of results in one of the formats; text no wider than `width`, if it is given."""
    if form in OF_ALL_SETTINGS:
        return formats.render(settings_table(result), form)
    table = chosen_table(result, beside)
    return formats.text(table, width) if form == "text" else formats.render(table, form)


def chosen_table(result: Result, beside: Beside | None = None) -> Table:
    """A row for each method: its chosen setting and what was measured, or why all of it failed."""
    chosen = result.choose()
    differences = {name: result.against_control(row) for name, row in chosen.items()}
    about = _columns_about(result, chosen)
    found = [
        *_metric_columns(result, chosen),
        *_beside_column(beside, result.experiment.data.name, chosen),
        *_difference_columns(differences),
    ]
    rows = []
    for name, group in result.by_method.items():
        cells = [cells[name] for _, cells in about]
        if name in chosen:
            cells += [cells[name] for _, cells in found]
        else:
            reason = next(failure for row in group for failure in row.failures)
            cells.append(Cell(text=reason, is_foreign=True))
        rows.append(tuple(cells))
    return Table(
        columns=tuple(column for column, _ in (*about, *found)),
        rows=tuple(rows),
        notes=tuple(_notes(result, differences.values())),
    )


def settings_table(result: Result) -> Table:
    """A row for every setting, numbers in percent with four digits; empty where a run failed."""
    chosen = {id(row) for row in result.choose().values()}
    rows = []
    for row in result.settings:
        values = measured(result, row)
        numbers_of_row = [
            part
            for name in METRICS
            for part in ((values[name].mean, values[name].sd) if values else (math.nan, math.nan))
        ]
        n_runs = result.experiment.runs - len(row.failures)
        rows.append(
            (
                Cell(text=result.experiment.data.name, is_foreign=True),
                Cell(text=row.setting.name),
                Cell(text=row.setting.text),
                Cell(text=str(id(row) in chosen).lower(), value=id(row) in chosen),
                Cell(text=str(n_runs), value=n_runs),
                *(Cell(text=numbers.file_percent(v), value=100 * v) for v in numbers_of_row),
                Cell(text="; ".join(row.failures)),
            )
        )
    names = [f"{name}{kind}" for name in METRICS for kind in ("", "_sd")]
    headings = ["dataset", "method", "settings", "chosen", "runs", *names, "failure"]
    return Table(columns=tuple(Column(heading=h) for h in headings), rows=tuple(rows))


def measured(result: Result, row: SettingResult) -> dict[str, MeanSd]:
    """What METRICS say of a setting's runs on the test part, by name; nothing if a run failed."""
    if not row.summary:
        return {}
    runs = Runs(predictions=row.predictions["test"], labels=result.experiment.data.y_test)
    return {name: metric.of(runs) for name, metric in METRICS.items()}


def single_models(chosen: dict[str, SettingResult]) -> dict[str, SettingResult]:
    """The methods that are one model: an ensemble costs several, and is not held against them."""
    return {name: row for name, row in chosen.items() if row.setting.method.n_members == 1}


def _columns_about(result: Result, chosen: dict[str, SettingResult]) -> list[Filled]:
    """The method, its chosen setting, and how many settings were tried where any tried several."""
    groups = result.by_method
    settings = {n: chosen[n].setting.text if n in chosen else "failed" for n in groups}
    columns = [
        (Column(heading="method", is_text=True), {n: Cell(text=n) for n in groups}),
        (Column(heading="setting", is_text=True), {n: Cell(text=t) for n, t in settings.items()}),
    ]
    tried = {name: len(group) for name, group in groups.items()}
    if max(tried.values()) > 1:
        counts = {name: Cell(text=str(count), value=count) for name, count in tried.items()}
        columns.append((Column(heading="tried"), counts))
    return columns


def _metric_columns(result: Result, chosen: dict[str, SettingResult]) -> list[Filled]:
    """A column for each of METRICS, the best single model marked."""
    values = {name: measured(result, row) for name, row in chosen.items()}
    single = single_models(chosen)
    columns = []
    for metric in METRICS.values():
        means = {name: own[metric.name] for name, own in values.items()}
        best = _best(metric, {name: means[name].mean for name in single})
        cells = {name: _mean_cell(value, is_best=name == best) for name, value in means.items()}
        columns.append((Column(heading=metric.heading), cells))
    return columns


def _beside_column(beside: Beside | None, dataset: str, chosen: Iterable[str]) -> list[Filled]:
    """What somebody else measured, where that is anything."""
    texts = {name: beside.of(dataset, name) for name in chosen} if beside else {}
    if not beside or not any(texts.values()):
        return []
    cells = {name: Cell(text=text) for name, text in texts.items()}
    return [(Column(heading=beside.heading, may_go=True), cells)]


def _difference_columns(differences: dict[str, tuple[Interval, Interval] | None]) -> list[Filled]:
    """Churn and accuracy less control's, where anything is to be compared with it."""
    if not any(differences.values()):
        return []
    cells: dict[str, dict[str, Cell]] = {heading: {} for heading in DIFFERENCES}
    for name, found in differences.items():
        accuracy, churn = found or (None, None)
        for heading, interval in zip(DIFFERENCES, (churn, accuracy), strict=True):
            cells[heading][name] = _difference_cell(interval)
    return [(Column(heading=heading, may_go=True), own) for heading, own in cells.items()]


def _best(metric: Metric, means: dict[str, float]) -> str | None:
    """The name of the best mean, if one can be best and any is known."""
    worth = {name: _worth(metric, mean) for name, mean in means.items()}
    best = max(worth, key=worth.__getitem__, default=None)
    return best if best is not None and worth[best] > -math.inf else None


def _worth(metric: Metric, mean: float) -> float:
    """The higher the better; what is not known, or no better either way, is worth nothing."""
    if metric.better is None or math.isnan(mean):
        return -math.inf
    return mean if metric.better == "higher" else -mean


def _mean_cell(value: MeanSd, *, is_best: bool) -> Cell:
    is_known = not math.isnan(value.mean)
    return Cell(
        text=numbers.bare_percent(value.mean),
        value=value.mean,
        spread=numbers.spread(value.sd) if is_known else "",
        is_best=is_best,
    )


def _difference_cell(interval: Interval | None) -> Cell:
    if interval is None:
        return Cell(text="")
    difference, ends = numbers.difference_parts(interval)
    return Cell(text=difference, spread=ends, value=interval.value)


def _notes(
    result: Result, differences: Iterable[tuple[Interval, Interval] | None]
) -> Iterable[Note]:
    """What a reader must know to read the numbers right."""
    experiment = result.experiment
    yield Note(
        text=f"{experiment.data.name}, {experiment.runs} runs of each setting, "
        f"{experiment.training.length}. Percent, mean (sd): accuracy over runs, churn over "
        "pairs of runs; correct, incorrect: churn among what a pair's first run got right, wrong."
    )
    if len(result.settings) > len(result.by_method) or experiment.validation:
        more = " A method that tried more settings had more chances: it gets no interval."
        yield Note(
            text=f"Settings chosen on the {result.chosen_on} part: highest accuracy; of those less "
            f"than 0.1 points below it, lowest churn.{more if result.chosen_on == 'test' else ''}"
        )
    yield Note(text="the best single model.", explains_mark=True)
    if any(found and not math.isnan(found[1].low) for found in differences):  # two runs have none
        yield Note(text=BRACKETS, of=DIFFERENCES)
    yield from _shared_references(result)
    if failed := [row for row in result.settings if row.failures]:
        yield Note(
            text=f"{len(failed)} settings failed and were not chosen: see table.csv for why."
        )


def _shared_references(result: Result) -> Iterable[Note]:
    """A note for each method whose runs all look at one reference model."""
    methods = {row.setting.name: row.setting.method for row in result.settings}
    fixed = {row.setting.name for row in result.settings if row.setting.method.reference_is_fixed}
    for name in (name for name in methods if name in fixed):
        # A method's defaults are the paper's.
        usual = ", as in the paper" if type(methods[name])().reference_is_fixed else ""
        subject = name.capitalize() if name.isalpha() else name  # a word, or a name as it is typed
        yield Note(text=f"{subject}'s runs share one reference{usual}: not quite independent.")
