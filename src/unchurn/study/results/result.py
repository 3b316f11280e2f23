"""`Result`: the outcome of a study, computed from the predictions of its runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unchurn.core.errors import InputError, unknown
from unchurn.metrics.budget import Budget, best_within
from unchurn.metrics.churn import ChurnSummary, MeanSd
from unchurn.metrics.intervals import Interval
from unchurn.metrics.registry import Runs
from unchurn.study.design.settings import SettingFacts
from unchurn.study.results import selection
from unchurn.study.results.examples import Example
from unchurn.study.results.subject import Subject

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from unchurn.report.table import Table

SCHEMA = "unchurn.bench/1"
CONTROL = "control"  # the method that all others are compared with
Classes = npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False, repr=False)  # predictions would fill a screen
class SettingResult:
    """The runs of one setting: predicted classes by part, (R, n), or why some failed.

    `fresh` has further runs, which had no part in choosing it (see `trainings/fresh_runs.py`).
    """

    setting: SettingFacts
    runs: dict[str, Runs]  # by part; empty if a run failed
    failures: tuple[str, ...] = ()
    fresh: SettingResult | None = None

    @property
    def reported(self) -> SettingResult:
        """The runs whose figures are reported: the fresh ones, if there are any."""
        return self.fresh or self

    @property
    def predictions(self) -> dict[str, Classes]:
        """Predicted classes by part, (R, n)."""
        return {part: runs.predictions for part, runs in self.runs.items()}

    @property
    def summary(self) -> dict[str, ChurnSummary]:
        """Accuracy and churn by part; empty if a run failed."""
        return {part: runs.summary for part, runs in self.runs.items()}

    def __repr__(self) -> str:
        made = f"runs={len(self.runs['test'].predictions)}" if self.runs else "failed"
        return f"SettingResult({self.setting.written!r}, {made})"


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The result of a study; it needs neither the data nor the learner."""

    subject: Subject
    settings: list[SettingResult]
    notes: tuple[str, ...] = ()
    made_by: tuple[str, ...] = ()  # versions and machines that made the runs
    seconds: float = 0  # sum over trainings
    examples: tuple[Example, ...] = ()  # those that flip most between runs of `repeated`

    @property
    def chosen_on(self) -> str:
        """The part of the data on which settings were chosen."""
        return self.subject.chosen_on

    @cached_property
    def by_method(self) -> dict[str, list[SettingResult]]:
        """The settings of each method, in the order of the study."""
        groups: dict[str, list[SettingResult]] = {}
        for result in self.settings:
            groups.setdefault(result.setting.name, []).append(result)
        return groups

    @cached_property
    def chosen(self) -> dict[str, SettingResult]:
        """The setting of each method by the study's own budget, or the paper's rule."""
        return self.choose()

    def is_chosen(self, result: SettingResult) -> bool:
        """Whether a setting is the chosen one of its method."""
        return self.chosen.get(result.setting.name) is result

    def choose(
        self, *, max_bad_flips: float | None = None, max_churn: float | None = None
    ) -> dict[str, SettingResult]:
        """Choose a setting of each method, by the paper's rule or, if there is one, by a budget.

        The budget is the given one, else the study's own. It chooses the most accurate setting that
        keeps it on the part on which settings are chosen; if none does, the setting that exceeds it
        least. A setting with a failed run is never chosen.
        """
        other = Budget(max_bad_flips=max_bad_flips, max_churn=max_churn)
        budget = other if other.given else self.subject.budget
        chosen = {}
        for name, group in self.by_method.items():
            there = [result for result in group if result.runs]
            if there:
                runs = [result.runs[self.chosen_on] for result in there]
                chosen[name] = there[self.best_of(runs, budget)]
        return chosen

    def best_of(self, each: Sequence[Runs], budget: Budget | None = None) -> int:
        """The position of the best of several settings' runs, by the budget or the paper's rule."""
        if not all(isinstance(runs, Runs) for runs in each):
            raise InputError("best_of takes runs, as each of Result.settings has them")
        scenario = self.subject.scenario
        limits = scenario.limits(self.subject.budget if budget is None else budget)

        def means(name: str) -> list[float]:
            return [scenario.metrics[name].of(runs).mean for runs in each]

        if not limits:
            return selection.choose(means("accuracy"), means(scenario.churn))
        churn = means(scenario.limited.get("max_churn", scenario.churn))
        return best_within(
            means("accuracy"), churn, [scenario.excess(runs, limits) for runs in each]
        )

    @property
    def repeated(self) -> SettingResult | None:
        """The setting whose flips are shown: control's, or else the first method's."""
        chosen = self.chosen
        return chosen.get(CONTROL) or next(iter(chosen.values()), None)

    def pareto(self, method: str | None = None) -> list[SettingResult]:
        """Settings that none beats in both test accuracy and correct churn, lowest churn first.

        Scenarios with an older model use bad flips instead of correct churn (`Scenario.charted`).
        """
        there = [
            (r, accuracy, churn)
            for r in self.settings
            if r.runs and method in (None, r.setting.name)
            for accuracy, churn in [self.charted(r)]
            if not math.isnan(churn)
        ]
        on = selection.pareto([a for _, a, _ in there], [churn for *_, churn in there])
        return [there[i][0] for i in on]

    def charted(self, result: SettingResult) -> tuple[float, float]:
        """A setting's test accuracy, and the metric that it is charted against."""
        metrics, runs = self.subject.scenario.metrics, result.runs["test"]
        accuracy, churn = (metrics[n].of(runs) for n in ("accuracy", self.subject.scenario.charted))
        return accuracy.mean, churn.mean

    def differences(self, first: str, second: str) -> dict[str, Interval]:
        """A method's chosen setting minus another's on the test part, by metric.

        With fewer than three runs, or older models, intervals have no ends: none would be reliable.
        """
        chosen = self.chosen
        for name in (first, second):
            if name not in chosen:
                raise InputError(unknown("method with a chosen setting", name, chosen))
        ours, theirs = (chosen[name].reported.runs["test"] for name in (first, second))
        found = self.subject.scenario.differences(ours, theirs)
        if not self.subject.are_too_few:
            return found
        return {name: Interval(of.value, math.nan, math.nan) for name, of in found.items()}

    def difference(self, first: str, second: str) -> tuple[Interval, Interval]:
        """Test accuracy and churn of a method's chosen setting minus another's, with intervals.

        If there is an older model, bad flips take the place of churn.
        """
        found = self.differences(first, second)
        return found["accuracy"], found[self.subject.scenario.churn]

    def against_control(self, result: SettingResult) -> dict[str, Interval] | None:
        """A chosen setting's differences from control, by metric; None if it has none.

        Control itself has none, nor has a setting that the test part chose among several.
        """
        return self._less_control.get(result.setting.name) if self.is_chosen(result) else None

    @cached_property
    def _less_control(self) -> dict[str, dict[str, Interval]]:
        """The differences of each method's chosen setting from control's.

        A method whose setting the test part chose among several has none.
        """
        chosen = self.chosen
        if CONTROL not in chosen:
            return {}
        return {
            name: self.differences(name, CONTROL)
            for name in chosen
            if name != CONTROL and (len(self.by_method[name]) == 1 or self.chosen_on != "test")
        }

    def optimism(self, result: SettingResult) -> dict[str, float]:
        """A setting's figures on the test part minus those of its fresh runs, by metric."""
        if result.fresh is None:
            return {}
        ours, fresh = result.runs["test"], result.fresh.runs["test"]
        metrics = self.subject.scenario.metrics.items()
        return {name: metric.of(ours).mean - metric.of(fresh).mean for name, metric in metrics}

    @property
    def advice(self) -> str:
        """Which method to use and why, in a few sentences; or what to try next."""
        from unchurn.study.advice.advice import advice

        return advice(self)

    def table(self, form: str = "text") -> str:
        """Chosen settings as "text", "markdown", "latex" or "html"; all as "csv" or "json"."""
        from unchurn.study.report import table

        return table.render(self, form)

    def to_frame(self) -> pl.DataFrame:
        """Every setting's numbers as a Polars frame, as in table.csv: in percent."""
        from unchurn.study.report.table import settings_table

        return _frame(settings_table(self))

    def releases(self) -> pl.DataFrame:
        """Every setting's numbers by release, in percent; only in the scenario replay."""
        from unchurn.study.results.over_time import releases_table

        return _frame(releases_table(self))

    @cached_property
    def frontier_rows(self) -> list[dict[str, Any]]:
        """A row per setting: the numbers of `chart`, in percent."""
        from unchurn.study.report.frontier import frontier_data

        return frontier_data(self)

    def chart(self) -> alt.LayerChart:
        """Each method's churn and accuracy with intervals, as a chart that a notebook shows."""
        from unchurn.study.report.frontier import frontier

        return frontier(self)

    def chart_over_time(self, metric: str = "accuracy") -> alt.LayerChart:
        """A chart of a metric of each method by release; only in the scenario replay."""
        from unchurn.study.report.over_time_charts import over_time

        return over_time(self, metric)

    def to_dict(self) -> dict[str, Any]:
        """Everything but predictions as plain values: what was studied, numbers, differences."""
        return {
            "schema": SCHEMA,
            "subject": self.subject.to_dict(),
            "chosen_on": self.chosen_on,
            "settings": [self._plain(result) for result in self.settings],
            "notes": list(self.notes),
            "made_by": list(self.made_by),
            "seconds": self.seconds,
        }

    def _plain(self, result: SettingResult) -> dict[str, Any]:
        differences = self.against_control(result)
        return {
            "method": result.setting.name,
            "setting": result.setting.text,
            "chosen": self.is_chosen(result),
            "failures": list(result.failures),
            "metrics": self._measured(result),
            "less_control": None
            if differences is None
            else {name: interval.to_dict() for name, interval in differences.items()},
            **self._plain_fresh(result),
        }

    def _plain_fresh(self, result: SettingResult) -> dict[str, Any]:
        if result.fresh is None:
            return {}
        optimism = {n: None if math.isnan(v) else v for n, v in self.optimism(result).items()}
        return {"fresh": {"metrics": self._measured(result.fresh), "optimism": optimism}}

    def _measured(self, result: SettingResult) -> dict[str, Any]:
        """The metrics of a setting's runs, by part."""
        metrics = self.subject.scenario.metrics.values()
        return {
            part: {metric.name: _number(metric.of(runs)) for metric in metrics}
            for part, runs in result.runs.items()
        }

    def save(self, folder: str | Path) -> None:
        """Write all files of a study's folder except its runs; `Result.load` reads it again.

        The files of predictions then have no probabilities: only `bench(out=…)` keeps the runs.
        """
        from unchurn.study.results.folder import save

        save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> Result:
        """Read a study's result from its folder; neither data nor learner are needed."""
        from unchurn.study.results.folder import load

        return load(Path(folder))

    def report(self, path: str | Path) -> None:
        """Write one self-contained HTML page."""
        from unchurn.study.report.page import write_report

        write_report(self, Path(path))

    def __repr__(self) -> str:
        notes = (f"note: {note}" for note in self.notes)
        return "\n".join([self.table().rstrip(), *notes, "", self.advice])

    def _repr_markdown_(self) -> str:
        """The result as a notebook shows it."""
        return "\n".join([self.table("markdown"), *(f"note: {note}\n" for note in self.notes)])


def _frame(table: Table) -> pl.DataFrame:
    """A table as a Polars frame: numbers where cells have them, else text."""
    import polars as pl

    rows = [[c.text if c.value is None else c.value for c in row] for row in table.rows]
    return pl.DataFrame(rows, schema=list(table.headings), orient="row", strict=False)


def _number(value: MeanSd) -> dict[str, float | None]:
    """A mean and its standard deviation for JSON, which has no NaN."""
    return {k: None if math.isnan(v) else v for k, v in (("mean", value.mean), ("sd", value.sd))}
