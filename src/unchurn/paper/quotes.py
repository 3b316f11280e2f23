"""What explanations quote of the kept results, so that our numbers are not typed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from unchurn.core.errors import InputError
from unchurn.paper.published import METRICS
from unchurn.paper.records import Kept, paper_row
from unchurn.paper.studies import RUNS
from unchurn.paper.tables import near_cells
from unchurn.study.result import SettingResult


def quotes(kept: list[Kept]) -> dict[str, Callable[..., Any]]:
    """Functions for a template, each of results by name and of settings by their text."""
    by_name = {one.name: one for one in kept}

    def result(name: str) -> Kept:
        if name not in by_name:
            raise InputError(f"no result {name!r}")
        return by_name[name]

    def rows(name: str) -> dict[str, SettingResult]:
        found = result(name).result.settings
        return {f"{r.setting.name} {r.setting.text}".strip(): r for r in found if r.summary}

    def row(name: str, setting: str) -> SettingResult:
        found = rows(name)
        if setting not in found:
            raise InputError(f"{name} has no {setting!r}: it has {', '.join(found)}")
        return found[setting]

    def measured(name: str, setting: str, metric: str = "churn") -> str:
        """Our mean in percent."""
        if metric not in METRICS:
            raise InputError(f"no metric {metric!r}: there are {', '.join(METRICS)}")
        return f"{100 * getattr(row(name, setting).summary['test'], metric).mean:.2f}"

    def spread(prefix: str, setting: str) -> dict[str, str]:
        """The lowest and highest of our churns over the variants of a trial."""
        churns = [measured(name, setting) for name in by_name if name.startswith(prefix)]
        if not churns:
            raise InputError(f"no result {prefix}…")
        return {"low": min(churns, key=float), "high": max(churns, key=float)}

    def agreeing(name: str, *settings: str) -> str:
        """How many published numbers of these settings, or of all, ours agree with."""
        one, near = result(name), []
        for setting in settings or rows(name):
            ours = row(name, setting)
            paper = paper_row(one.study, one.result, ours)
            near += near_cells(ours, paper, METRICS) if paper else []
        return f"{sum(near)} of {len(near)}"

    def accuracies(name: str, setting: str) -> list[str]:
        """The accuracy of each run in whole percent, lowest first."""
        labels = result(name).result.experiment.data.y_test
        runs = row(name, setting).predictions["test"]
        return [f"{accuracy:.0f}" for accuracy in sorted(100 * np.mean(runs == labels, axis=1))]

    def of_five(name: str, setting: str) -> dict[str, str]:
        """The churn of five of many runs: what 95 % of all choices of them lie between.

        And how many percent of the choices are as high as the paper's.
        """
        one, runs = result(name), row(name, setting).predictions["test"]
        paper = paper_row(one.study, one.result, row(name, setting))
        if len(runs) < RUNS or paper is None:
            raise InputError(f"{name}: {setting!r} needs {RUNS} runs and a published churn")
        pairs = np.array([np.mean(runs != run, axis=1) for run in runs])
        fives = np.array(list(combinations(range(len(runs)), RUNS)))
        churns = pairs[fives[:, :, None], fives[:, None, :]].sum(axis=(1, 2)) / (RUNS * (RUNS - 1))
        low, high = 100 * np.quantile(churns, [0.025, 0.975])
        as_high = 100 * np.mean(100 * churns >= paper.mean["churn"])
        return {"low": f"{low:.2f}", "high": f"{high:.2f}", "as_high": f"{as_high:.0f}"}

    return {f.__name__: f for f in (measured, spread, agreeing, accuracies, of_five)}
