"""A result as tables: one of the chosen settings for readers, one of all settings for programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from unchurn.methods import METHODS, Method
from unchurn.metrics.registry import Metric
from unchurn.report import formats, numbers
from unchurn.report.table import Cell, Column, Note, Table

if TYPE_CHECKING:
    from unchurn.metrics.churn import MeanSd
    from unchurn.metrics.intervals import Interval
    from unchurn.study.result import Result, SettingResult

OF_ALL_SETTINGS = ("csv", "json")  # formats for programs; the others are for readers
DIFFERENCES = {"churn": "churn − control's", "accuracy": "accuracy − control's"}  # by metric
Filled = tuple[Column, dict[str, Cell]]  # a column with its cells, by method
BRACKETS = "Brackets: 95 %, runs paired, jackknife over runs plus the variance of the examples."


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A column of what somebody else measured, given by whoever knows it."""

    heading: str
    of: Callable[[str, str], str]  # a dataset's and a method's names → text, "" for nothing


@cache
def handed_down() -> tuple[Beside, ...]:
    """The columns that other rooms and packages give by the entry point `unchurn.published`."""
    return tuple(point.load() for point in entry_points(group="unchurn.published"))


def render(result: Result, form: str, *, width: int | None = None) -> str:
    """A table of results in one of the formats; text no wider than `width`, if it is given."""
    if form in OF_ALL_SETTINGS:
        return formats.render(settings_table(result), form)
    table = chosen_table(result)
    return formats.text(table, width) if form == "text" else formats.render(table, form)


def chosen_table(result: Result) -> Table:
    """A row for each method: its chosen setting and what was measured, or why all of it failed."""
    chosen = result.choose()
    differences = {name: result.against_control(row) for name, row in chosen.items()}
    about = _columns_about(result, chosen)
    found = [
        *_metric_columns(result, chosen),
        *_beside_columns(result.subject.data.name, chosen),
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
    metrics = result.subject.scenario.metrics
    rows = []
    for row in result.settings:
        values = measured(result, row)
        numbers_of_row = [
            part
            for name in metrics
            for part in ((values[name].mean, values[name].sd) if values else (math.nan, math.nan))
        ]
        n_runs = result.subject.runs - len(row.failures)
        rows.append(
            (
                Cell(text=result.subject.data.name, is_foreign=True),
                Cell(text=row.setting.name),
                Cell(text=row.setting.text),
                Cell(text=str(id(row) in chosen).lower(), value=id(row) in chosen),
                Cell(text=str(n_runs), value=n_runs),
                *(Cell(text=numbers.file_percent(v), value=100 * v) for v in numbers_of_row),
                Cell(text="; ".join(row.failures)),
            )
        )
    names = [f"{name}{kind}" for name in metrics for kind in ("", "_sd")]
    headings = ["dataset", "method", "settings", "chosen", "runs", *names, "failure"]
    return Table(columns=tuple(Column(heading=h) for h in headings), rows=tuple(rows))


def measured(result: Result, row: SettingResult) -> dict[str, MeanSd]:
    """What the metrics say of a setting's runs on the test part; nothing if a run failed."""
    if not row.runs:
        return {}
    metrics = result.subject.scenario.metrics
    return {name: metric.of(row.runs["test"]) for name, metric in metrics.items()}


def single_models(chosen: dict[str, SettingResult]) -> dict[str, SettingResult]:
    """The methods that are one model: an ensemble costs several, and is not held against them."""
    return {name: row for name, row in chosen.items() if len(row.setting.method.members()) == 1}


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
    """A column for each metric, the best single model marked."""
    values = {name: measured(result, row) for name, row in chosen.items()}
    single = single_models(chosen)
    columns = []
    for metric in result.subject.scenario.metrics.values():
        means = {name: own[metric.name] for name, own in values.items()}
        best = _best(metric, {name: means[name].mean for name in single})
        cells = {name: _mean_cell(value, is_best=name == best) for name, value in means.items()}
        columns.append((Column(heading=metric.heading), cells))
    return columns


def _beside_columns(dataset: str, chosen: Iterable[str]) -> list[Filled]:
    """What somebody else measured, where that is anything."""
    columns = []
    for beside in handed_down():
        texts = {name: beside.of(dataset, name) for name in chosen}
        if any(texts.values()):
            cells = {name: Cell(text=text) for name, text in texts.items()}
            columns.append((Column(heading=beside.heading, may_go=True), cells))
    return columns


def _difference_columns(differences: dict[str, dict[str, Interval] | None]) -> list[Filled]:
    """Churn and accuracy less control's, where anything is to be compared with it."""
    if not any(differences.values()):
        return []
    return [
        (
            Column(heading=heading, may_go=True),
            {name: _difference_cell((of or {}).get(metric)) for name, of in differences.items()},
        )
        for metric, heading in DIFFERENCES.items()
    ]


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


def _notes(result: Result, differences: Iterable[dict[str, Interval] | None]) -> Iterable[Note]:
    """What a reader must know to read the numbers right."""
    subject = result.subject
    about = [subject.data.name, f"{subject.runs} runs of each setting", subject.length]
    yield Note(text=f"{', '.join(part for part in about if part)}. {subject.scenario.note()}")
    if len(result.settings) > len(result.by_method) or result.chosen_on == "validation":
        more = " A method that tried more settings had more chances: it gets no interval."
        yield Note(
            text=f"Settings chosen on the {result.chosen_on} part: highest accuracy; of those less "
            f"than 0.1 points below it, lowest churn.{more if result.chosen_on == 'test' else ''}"
        )
    yield Note(text="the best single model.", explains_mark=True)
    if any(of and not math.isnan(of["churn"].low) for of in differences):  # two runs have none
        yield Note(text=BRACKETS, of=tuple(DIFFERENCES.values()))
    yield from _shared_references(result)
    if failed := [row for row in result.settings if row.failures]:
        yield Note(
            text=f"{len(failed)} settings failed and were not chosen: see table.csv for why."
        )


def _shared_references(result: Result) -> Iterable[Note]:
    """A note for each method whose runs all look at one reference model."""
    methods = {row.setting.name: row.setting.method for row in result.settings}
    fixed = {row.setting.name for row in result.settings if _is_fixed(row.setting.method)}
    for name in (name for name in methods if name in fixed):
        # A method's defaults are the paper's.
        is_usual = name in METHODS and _is_fixed(METHODS[name]())
        usual = ", as in the paper" if is_usual else ""
        subject = name.capitalize() if name.isalpha() else name  # a word, or a name as it is typed
        yield Note(text=f"{subject}'s runs share one reference{usual}: not quite independent.")


def _is_fixed(method: Method) -> bool:
    """Whether all runs of a method look at one reference."""
    need = method.reference()
    return need is not None and need.is_fixed
