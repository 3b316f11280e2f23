"""Results of the scenario replay, release by release, and their table for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unchurn.core.errors import InputError
from unchurn.report import numbers
from unchurn.report.table import Cell, Column, Table
from unchurn.study.results.history import History, as_text

if TYPE_CHECKING:
    from unchurn.metrics.churn import MeanSd
    from unchurn.metrics.registry import Runs
    from unchurn.study.results.result import Result, SettingResult


@dataclass(frozen=True, eq=False, kw_only=True)
class Release:
    """A release of a setting: its time, and the predictions of the runs on its test rows."""

    number: int
    time: str
    trained_on: int
    runs: Runs


def releases(result: Result, row: SettingResult) -> Iterator[Release]:
    """The releases of a setting's reported runs; those without test rows are left out."""
    history = history_of(result)
    if not row.reported.runs:
        return
    runs = row.reported.runs["test"]
    for number in history.tested:
        kept = history.tested_by["test"] == number
        if kept.any():
            yield Release(
                number=number,
                time=as_text(history.times[number]),
                trained_on=history.trained_on[number],
                runs=runs.only(kept),
            )


def releases_table(result: Result) -> Table:
    """A row for every setting and release, numbers in percent with four decimals."""
    metrics = result.subject.scenario.metrics
    rows = []
    for row in result.settings:
        is_chosen = result.is_chosen(row)
        for one in releases(result, row):
            measured: list[MeanSd] = [metric.of(one.runs) for metric in metrics.values()]
            of_metrics = [value for found in measured for value in (found.mean, found.sd)]
            n_test = len(one.runs.labels)
            rows.append(
                (
                    Cell(text=row.setting.name),
                    Cell(text=row.setting.text),
                    Cell(text=str(is_chosen).lower(), value=is_chosen),
                    Cell(text=str(one.number), value=one.number),
                    Cell(text=one.time),
                    Cell(text=str(one.trained_on), value=one.trained_on),
                    Cell(text=str(n_test), value=n_test),
                    *(Cell(text=numbers.file_percent(v), value=100 * v) for v in of_metrics),
                )
            )
    names = [f"{name}{sd}" for name in metrics for sd in ("", "_sd")]
    headings = ["method", "settings", "chosen", "release", "time", "trained_on", "tested_on"]
    return Table(columns=tuple(Column(heading=h) for h in (*headings, *names)), rows=tuple(rows))


def history_of(result: Result) -> History:
    """The history of a result; InputError if its scenario has no releases."""
    history = result.subject.history
    if history is None:
        raise InputError(f"{result.subject.scenario.name} has no releases: the scenario replay has")
    return history
