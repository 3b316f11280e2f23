"""Functions that quote the recorded results in explanations, so that no number is typed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.paper import record_numbers
from unchurn.paper.published import PAPER_METRICS
from unchurn.paper.record_numbers import paper_row
from unchurn.paper.records import Record
from unchurn.paper.studies import RUNS
from unchurn.paper.tables import near_cells
from unchurn.report.numbers import bare_percent
from unchurn.study.results.result import SettingResult


def quotes(results: list[Record]) -> dict[str, Callable[..., Any]]:
    """Functions for a template, by name; each takes a result's name and a setting's text."""
    quoted = Quotes(results)
    return {
        "measured": quoted.measured,
        "spread": quoted.spread,
        "agreeing": quoted.agreeing,
        "accuracies": quoted.accuracies,
        "of_five": quoted.of_five,
    }


class Quotes:
    """Numbers of results as text: a template that saw the results themselves could write files."""

    def __init__(self, results: list[Record]) -> None:
        self._by_name = {record.name: record for record in results}

    def measured(self, name: str, setting: str, metric: str = "churn") -> str:
        """Our mean of a metric, in percent."""
        if metric not in PAPER_METRICS:
            raise InputError(f"no metric {metric!r}: there are {', '.join(PAPER_METRICS)}")
        return bare_percent(record_numbers.measured(self._row(name, setting), metric).mean)

    def spread(self, prefix: str, setting: str) -> dict[str, str]:
        """The lowest and highest of our churns over the variants of a trial."""
        churns = [self.measured(n, setting) for n in self._by_name if n.startswith(prefix)]
        if not churns:
            raise InputError(f"no result {prefix}…")
        return {"low": min(churns, key=float), "high": max(churns, key=float)}

    def agreeing(self, name: str, *settings: str) -> str:
        """How many published numbers of these settings, or of all, our means are near to."""
        record, near = self._record(name), []
        for setting in settings or self._rows(name):
            row = self._row(name, setting)
            paper = paper_row(record.study, record.result, row)
            near += near_cells(row, paper, PAPER_METRICS) if paper else []
        return f"{sum(near)} of {len(near)}"

    def accuracies(self, name: str, setting: str) -> list[str]:
        """The accuracy of each run in whole percent, lowest first."""
        labels = self._record(name).result.subject.labels["test"]
        runs = self._row(name, setting).predictions["test"]
        return [bare_percent(value, 0) for value in sorted(np.mean(runs == labels, axis=1))]

    def of_five(self, name: str, setting: str) -> dict[str, str]:
        """The range that holds the churn of 95 % of all choices of five of a setting's runs.

        And the percentage of these choices whose churn is at least the paper's.
        """
        record, row = self._record(name), self._row(name, setting)
        runs, paper = row.predictions["test"], paper_row(record.study, record.result, row)
        if len(runs) < RUNS or paper is None:
            raise InputError(f"{name}: {setting!r} needs {RUNS} runs and a published churn")
        churns = _churns_of_five(runs)
        low, high = np.quantile(churns, [0.025, 0.975])
        as_high = float(np.mean(100 * churns >= paper.mean["churn"]))
        return {
            "low": bare_percent(low),
            "high": bare_percent(high),
            "as_high": bare_percent(as_high, 0),
        }

    def _record(self, name: str) -> Record:
        if name not in self._by_name:
            raise InputError(f"no result {name!r}")
        return self._by_name[name]

    def _rows(self, name: str) -> dict[str, SettingResult]:
        """The settings of a result that did not fail, by method and parameters."""
        settings = self._record(name).result.settings
        return {f"{r.setting.name} {r.setting.text}".strip(): r for r in settings if r.summary}

    def _row(self, name: str, setting: str) -> SettingResult:
        rows = self._rows(name)
        if setting not in rows:
            raise InputError(f"{name} has no {setting!r}: it has {', '.join(rows)}")
        return rows[setting]


def _churns_of_five(runs: Array) -> Array:
    """The mean churn over pairs, for every choice of five runs."""
    pairs = np.array([np.mean(runs != run, axis=1) for run in runs])
    fives = np.array(list(combinations(range(len(runs)), RUNS)))
    total = pairs[fives[:, :, None], fives[:, None, :]].sum(axis=(1, 2))
    return np.asarray(total / (RUNS * (RUNS - 1)))
