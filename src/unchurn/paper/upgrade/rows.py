"""What was measured of upgrades: a row for each setting and dataset, against plain retraining."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unchurn.core.errors import InputError
from unchurn.metrics.churn import MeanSd
from unchurn.metrics.intervals import Interval
from unchurn.paper.records import Record
from unchurn.paper.united import by_dataset
from unchurn.paper.upgrade.rare import Finds, finds
from unchurn.paper.upgrade.study import UPGRADE
from unchurn.report.numbers import NONE, bare_percent
from unchurn.study.results.result import CONTROL, SettingResult


@dataclass(frozen=True, kw_only=True)
class Row:
    """A setting on a dataset; all as fractions."""

    dataset: str
    recipe: str  # as it is written: `warm_start+anchor(a=0.8)+safe_ema`
    served: int  # models, the base among them where it answers too
    measured: dict[str, MeanSd]  # by metric, on the test part
    plain: dict[str, MeanSd]  # of plain retraining
    less_plain: dict[str, Interval]  # differences from it, by metric; empty for itself
    validation: dict[str, float]  # accuracy and bad flips on the validation part
    rare: Finds | None = None  # of the rarest class

    def mean(self, metric: str) -> float:
        """The mean of a metric on the test part."""
        return self.measured[metric].mean

    @property
    def ratio(self) -> float:
        """Bad flips divided by plain retraining's; NaN if it has none."""
        plain = self.plain["bad_flips"].mean
        return self.mean("bad_flips") / plain if plain > 0 else math.nan

    @property
    def gain(self) -> float:
        """Accuracy minus plain retraining's."""
        return self.mean("accuracy") - self.plain["accuracy"].mean

    def is_lower(self, metric: str) -> bool:
        """Whether a metric is below plain retraining's beyond chance."""
        return metric in self.less_plain and self.less_plain[metric].high < 0

    def is_higher(self, metric: str) -> bool:
        """Whether a metric is above plain retraining's beyond chance."""
        return metric in self.less_plain and self.less_plain[metric].low > 0


def read_rows(folder: Path) -> dict[str, list[Row]]:
    """The rows of every dataset that a folder has results of."""
    found = {dataset: _rows(record) for dataset, record in by_dataset(folder, UPGRADE).items()}
    if not found:
        raise InputError(f"{folder} has no results of `unchurn reproduce {UPGRADE}`")
    return found


def _rows(record: Record) -> list[Row]:
    plain = next((r for r in record.result.settings if r.setting.name == CONTROL), None)
    if plain is None or not plain.runs:
        raise InputError(f"{record.name} has no runs of {CONTROL}")
    each = zip(record.result.settings, record.facts["settings"], strict=True)
    return [_row(record, one, plain, facts) for one, facts in each if one.runs]


def _row(record: Record, one: SettingResult, plain: SettingResult, facts: dict[str, Any]) -> Row:
    scenario = record.result.subject.scenario
    ours, theirs = one.runs["test"], plain.runs["test"]
    return Row(
        dataset=record.dataset,
        recipe=one.setting.written,
        served=one.setting.n_models,
        measured={name: metric.of(ours) for name, metric in scenario.metrics.items()},
        plain={name: metric.of(theirs) for name, metric in scenario.metrics.items()},
        less_plain={} if one is plain else scenario.differences(ours, theirs),
        validation=facts["validation"],
        rare=finds(ours, theirs),
    )


def cell(row: Row) -> str:
    """Accuracy and bad flips, with marks for what chance does not explain."""
    flips = bare_percent(row.mean("bad_flips"))
    flips = f"**{flips}**" if row.is_lower("bad_flips") else flips
    more = " ▲" if row.is_higher("bad_flips") else ""
    lost = " ✗" if row.is_lower("accuracy") else ""
    share = NONE if math.isnan(row.ratio) else f"{bare_percent(row.ratio, 0)} %"
    return f"{bare_percent(row.mean('accuracy'))}{lost} / {flips} ({share}){more}"


def choose(rows: Iterable[Row]) -> Row:
    """The row of fewest bad flips at least as accurate as plain retraining, both on validation."""
    every = list(rows)
    plain = next(row for row in every if row.recipe == CONTROL)
    least = plain.validation["accuracy"]
    kept = [row for row in every if row.validation["accuracy"] >= least]
    return min(kept, key=lambda row: (row.validation["bad_flips"], -row.validation["accuracy"]))


@dataclass(frozen=True, kw_only=True)
class Over:
    """A recipe over several datasets."""

    recipe: str
    rows: tuple[Row, ...]

    @property
    def served(self) -> int:
        """How many models answer."""
        return self.rows[0].served

    @property
    def n(self) -> int:
        """How many datasets it was tried on."""
        return len(self.rows)

    @property
    def ratio(self) -> float:
        """The mean `ratio`, over the datasets where plain retraining has bad flips."""
        known = [row.ratio for row in self.rows if not math.isnan(row.ratio)]
        return sum(known) / len(known) if known else math.nan

    @property
    def gain(self) -> float:
        """The mean of accuracy minus plain retraining's."""
        return sum(row.gain for row in self.rows) / len(self.rows)

    def n_lower(self, metric: str) -> int:
        """On how many datasets a metric is lower beyond chance."""
        return sum(row.is_lower(metric) for row in self.rows)

    def n_higher(self, metric: str) -> int:
        """On how many datasets a metric is higher beyond chance."""
        return sum(row.is_higher(metric) for row in self.rows)


def over(rows: dict[str, list[Row]]) -> list[Over]:
    """Every recipe over the datasets that have it; most datasets, then fewest bad flips, first."""
    groups: dict[str, list[Row]] = {}
    for own in rows.values():
        for row in own:
            groups.setdefault(row.recipe, []).append(row)
    every = [Over(recipe=recipe, rows=tuple(own)) for recipe, own in groups.items()]
    return sorted(every, key=lambda one: (-one.n, math.isnan(one.ratio), one.ratio))
