"""Tables of a result: chosen settings for readers, all settings for programs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from unchurn.metrics.registry import Metric
from unchurn.report import formats, numbers
from unchurn.report.table import Cell, Column, Table
from unchurn.study.report.table_notes import table_notes
from unchurn.study.scenarios.retrain import Retrain

if TYPE_CHECKING:
    from unchurn.metrics.churn import MeanSd
    from unchurn.metrics.intervals import Interval
    from unchurn.study.results.result import Result, SettingResult

OF_ALL_SETTINGS = ("csv", "json")  # formats for programs; the others are for readers
_METHOD, _SETTING = (
    Column(heading=h, is_text=True, may_shorten=True) for h in ("method", "setting")
)
Filled = tuple[Column, dict[str, Cell]]  # a column with its cells, by method
# Columns that a narrow terminal drops, highest number first; standard deviations go after 3.
GOES = {
    "beside": 6, "optimism": 6, "neither better": 5, "difference": 5, "more": 4,
    "difference in accuracy": 3, "first difference": 1,
}  # fmt: skip
DIFFERENCE = "{} − control's"
CUT = "In full, what is cut above:"
OPTIMISM = "{}, chosen − fresh"


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A column of numbers that somebody else published, such as the paper's."""

    heading: str
    of: Callable[[str, str], str]  # (dataset's name, method's name) -> text, "" if none


@cache
def handed_down() -> tuple[Beside, ...]:
    """Columns that other layers and packages provide by the entry point `unchurn.published`."""
    return tuple(point.load() for point in entry_points(group="unchurn.published"))


def render(result: Result, form: str, *, width: int | None = None) -> str:
    """The table in a format; text no wider than `width`, if given, with cut names in full below."""
    if form in OF_ALL_SETTINGS:
        return formats.render(settings_table(result), form)
    table = chosen_table(result)
    if form != "text" or width is None:
        return formats.render(table, form)
    text = formats.text(table, width)
    cut = _cut_settings(table, text)
    wrapped = [textwrap.fill(line, width, subsequent_indent="  ") for line in cut]
    return "\n".join([text, CUT, *wrapped, ""]) if cut else text


def _cut_settings(table: Table, text: str) -> list[str]:
    """Methods and settings in full, for the rows where the text of the table has cut them."""
    lines = zip(table.rows, text.splitlines()[1:], strict=False)
    names = [((row[0].text, row[1].text), line) for row, line in lines]
    return [": ".join(cells) for cells, line in names if any(cell not in line for cell in cells)]


def chosen_table(result: Result) -> Table:
    """A row for each method: its chosen setting and its numbers, or why all its settings failed."""
    chosen = result.chosen
    differences = {name: result.against_control(row) for name, row in chosen.items()}
    headings, optimism = _difference_headings(result, differences.values()), _optimism(result)
    about = _columns_about(result, chosen)
    found = [
        *_metric_columns(result, chosen),
        *_beside_columns(result, chosen),
        *_difference_columns(differences, headings),
        *_optimism_columns(result, optimism, chosen),
    ]
    rows = []
    for name, group in result.by_method.items():
        cells = [cells[name] for _, cells in about]
        if name in chosen:
            cells += [cells[name] for _, cells in found]
        else:
            reason = next((failure for row in group for failure in row.failures), "no run")
            cells.append(Cell(text=reason, is_foreign=True))
        rows.append(tuple(cells))
    return Table(
        columns=tuple(column for column, _ in (*about, *found)),
        rows=tuple(rows),
        notes=tuple(
            table_notes(result, [of for of in differences.values() if of], headings, optimism)
        ),
    )


def settings_table(result: Result) -> Table:
    """A row for every setting, numbers in percent with four decimals; empty if a run failed.

    Chosen settings also have their differences from control with intervals.
    """
    told = [result.against_control(row) or {} for row in result.settings]
    compared = list(dict.fromkeys(metric for of in told for metric in of))
    kinds = ("", "fresh_") if any(row.fresh for row in result.settings) else ("",)
    metrics = result.subject.scenario.metrics
    rows = []
    for row, differences in zip(result.settings, told, strict=True):
        numbers_of_row = []
        for runs in (row, row.fresh)[: len(kinds)]:
            values = measured(result, runs) if runs else {}
            for name in metrics:
                found = values.get(name)
                numbers_of_row += [found.mean, found.sd] if found else [math.nan, math.nan]
        for metric in compared:
            less = differences.get(metric)
            numbers_of_row += [less.value, less.low, less.high] if less else [math.nan] * 3
        n_runs, is_chosen = result.subject.runs - len(row.failures), result.is_chosen(row)
        rows.append(
            (
                Cell(text=result.subject.data.name, is_foreign=True),
                Cell(text=row.setting.name),
                Cell(text=row.setting.text),
                Cell(text=str(is_chosen).lower(), value=is_chosen),
                Cell(text=str(n_runs), value=n_runs),
                *(Cell(text=numbers.file_percent(v), value=100 * v) for v in numbers_of_row),
                Cell(text="; ".join(row.failures)),
            )
        )
    names = [f"{kind}{name}{sd}" for kind in kinds for name in metrics for sd in ("", "_sd")]
    names += [f"{metric}_less_control{end}" for metric in compared for end in ("", "_low", "_high")]
    headings = ["dataset", "method", "settings", "chosen", "runs", *names, "failure"]
    return Table(columns=tuple(Column(heading=h) for h in headings), rows=tuple(rows))


def measured(result: Result, row: SettingResult) -> dict[str, MeanSd]:
    """The metrics of a setting's runs on the test part; empty if a run failed."""
    if not row.runs:
        return {}
    metrics = result.subject.scenario.metrics
    return {name: metric.of(row.runs["test"]) for name, metric in metrics.items()}


def single_models(chosen: dict[str, SettingResult]) -> dict[str, SettingResult]:
    """The methods that serve one model: ensembles cost more, and do not compete with them."""
    return {name: row for name, row in chosen.items() if row.setting.n_models == 1}


def _columns_about(result: Result, chosen: dict[str, SettingResult]) -> list[Filled]:
    """Columns of method, chosen setting and, if any method tried several, number of settings."""
    groups = result.by_method
    settings = {n: chosen[n].setting.text if n in chosen else "failed" for n in groups}
    columns = [
        (_METHOD, {n: Cell(text=n) for n in groups}),
        (_SETTING, {n: Cell(text=t) for n, t in settings.items()}),
    ]
    tried = {name: len(group) for name, group in groups.items()}
    if max(tried.values()) > 1:
        counts = {name: Cell(text=str(count), value=count) for name, count in tried.items()}
        columns.append((Column(heading="tried"), counts))
    return columns


def _metric_columns(result: Result, chosen: dict[str, SettingResult]) -> list[Filled]:
    """A column for each metric, the best single model marked.

    Accuracy and churn always stay; metrics without a better direction are dropped early.
    """
    values = {name: measured(result, row.reported) for name, row in chosen.items()}
    single = single_models(chosen)
    columns = []
    for metric in result.subject.scenario.metrics.values():
        means = {name: own[metric.name] for name, own in values.items()}
        best = _best(metric, {name: means[name].mean for name in single})
        cells = {name: _mean_cell(value, is_best=name == best) for name, value in means.items()}
        stays = metric.name in ("accuracy", result.subject.scenario.churn)
        may_go = 0 if stays else GOES["neither better" if metric.better is None else "more"]
        columns.append((Column(heading=metric.heading, may_go=may_go), cells))
    return columns


def _beside_columns(result: Result, chosen: Iterable[str]) -> list[Filled]:
    """Columns of published numbers, if there are any; these are known only for retraining."""
    if type(result.subject.scenario) is not Retrain:
        return []
    columns, dataset = [], result.subject.data.name
    for beside in handed_down():
        texts = {name: beside.of(dataset, name) for name in chosen}
        if any(texts.values()):
            cells = {name: Cell(text=text) for name, text in texts.items()}
            columns.append((Column(heading=beside.heading, may_go=GOES["beside"]), cells))
    return columns


def _difference_columns(
    differences: dict[str, dict[str, Interval] | None], headings: dict[str, str]
) -> list[Filled]:
    """Columns of differences from control."""
    # The advice depends on these two: they are the last to be dropped.
    goes = {
        "accuracy": "difference in accuracy",
        **dict.fromkeys([*headings][:1], "first difference"),
    }
    return [
        (
            Column(heading=heading, may_go=GOES[goes.get(metric, "difference")]),
            {name: _difference_cell((of or {}).get(metric)) for name, of in differences.items()},
        )
        for metric, heading in headings.items()
    ]


def _optimism_columns(
    result: Result, found: dict[str, float], chosen: Iterable[str]
) -> list[Filled]:
    """The column of churn on the runs that chose a setting, minus churn on fresh runs."""
    if not found:
        return []
    cells = {
        name: Cell(text=numbers.signed(found[name]), value=found[name])
        if name in found
        else Cell(text="")
        for name in chosen
    }
    words = result.subject.scenario.churn_words
    return [(Column(heading=OPTIMISM.format(words), may_go=GOES["optimism"]), cells)]


def _optimism(result: Result) -> dict[str, float]:
    """Churn on the runs that chose each method's setting, minus churn on fresh runs."""
    metric = result.subject.scenario.churn
    chosen = result.chosen.items()
    return {name: result.optimism(row)[metric] for name, row in chosen if row.fresh}


def _difference_headings(
    result: Result, differences: Iterable[dict[str, Interval] | None]
) -> dict[str, str]:
    """The metrics for which there are differences from control, and their headings."""
    metrics = result.subject.scenario.metrics
    there = dict.fromkeys(metric for of in differences for metric in of or ())
    return {metric: DIFFERENCE.format(metrics[metric].heading) for metric in there}


def _best(metric: Metric, means: dict[str, float]) -> str | None:
    """The method with the best mean; None if no direction is better, or all are NaN."""
    worth = {name: _worth(metric, mean) for name, mean in means.items()}
    best = max(worth, key=worth.__getitem__, default=None)
    return best if best is not None and worth[best] > -math.inf else None


def _worth(metric: Metric, mean: float) -> float:
    """A mean signed so that higher is better; −∞ if it is NaN or no direction is better."""
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
    return Cell(text=numbers.difference(interval), value=interval.value)
