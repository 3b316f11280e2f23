"""What was measured beyond the paper, a row for each setting on each dataset, against control."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from unchurn.core.errors import InputError
from unchurn.methods.registry import parse_method
from unchurn.metrics.churn import ChurnSummary
from unchurn.metrics.intervals import Interval
from unchurn.metrics.registry import Runs
from unchurn.paper.beyond.tables import BEYOND, TABLES
from unchurn.paper.records import Record, read
from unchurn.paper.studies import RECIPES
from unchurn.paper.united import by_dataset, united
from unchurn.report.numbers import bare_percent
from unchurn.study.results.result import CONTROL, SettingResult
from unchurn.study.scenarios.retrain import Retrain


@dataclass(frozen=True, kw_only=True)
class Row:
    """A setting on a dataset."""

    dataset: str
    recipe: str  # as it is written: `label_smoothing(a=0.1)+ema`
    runs: Runs = field(repr=False, compare=False)  # on the test part
    control: ChurnSummary
    churn: Interval | None  # minus control's, as is accuracy; None for control itself
    accuracy: Interval | None
    trained: int
    served: int
    is_papers: bool = False  # as the paper chose it, from the runs of the reproduction
    calibration_error: float = math.nan
    log_loss: float = math.nan

    @property
    def summary(self) -> ChurnSummary:
        """Accuracy and churn."""
        return self.runs.summary

    @property
    def is_single(self) -> bool:
        """Whether one network answers."""
        return self.served == 1

    @property
    def is_free(self) -> bool:
        """Whether one network is trained, and one answers."""
        return self.is_single and self.trained == 1

    @cached_property
    def ratio(self) -> float:
        """Churn divided by control's; NaN if control has none."""
        plain = self.control.churn.mean
        return self.summary.churn.mean / plain if plain > 0 else math.nan

    @property
    def lowers_churn(self) -> bool:
        """Whether it lowers churn beyond chance."""
        return self.churn is not None and self.churn.high < 0

    @property
    def raises_churn(self) -> bool:
        """Whether it raises churn beyond chance."""
        return self.churn is not None and self.churn.low > 0

    @property
    def loses(self) -> bool:
        """Whether it loses accuracy beyond chance."""
        return self.accuracy is not None and self.accuracy.high < 0

    @property
    def harms(self) -> bool:
        """Whether it raises churn or loses accuracy beyond chance."""
        return self.raises_churn or self.loses

    @property
    def gains(self) -> bool:
        """Whether it gains accuracy beyond chance."""
        return self.accuracy is not None and self.accuracy.low > 0


def read_rows(folder: Path, study: str = BEYOND) -> dict[str, list[Row]]:
    """The rows of every dataset that a folder has results of, tables and tasks alike."""
    return {dataset: _rows(record) for dataset, record in by_dataset(folder, study).items()}


def add_papers(rows: dict[str, list[Row]], folder: Path) -> None:
    """Add the paper's methods at their published settings, from the reproduction's runs."""
    for dataset, own in rows.items():
        paths = [folder / f"{table}-{dataset}.json" for table in ("table1", "table2")]
        there = {row.recipe for row in own}
        if all(path.exists() for path in paths):
            papers = united([read(path) for path in paths])
            own += [row for row in _rows(papers) if row.recipe not in there]


def _rows(record: Record) -> list[Row]:
    control = next((r for r in record.result.settings if r.setting.name == CONTROL), None)
    if control is None or not control.runs:
        raise InputError(f"{record.name} has no runs of {CONTROL}")
    pairs = zip(record.result.settings, record.facts["settings"], strict=True)
    return [_row(record.dataset, one, control, facts) for one, facts in pairs if one.runs]


def _cost(facts: dict[str, Any], one: SettingResult) -> dict[str, Any]:
    """A setting's cost and calibration as recorded; the reproduction's results record neither."""
    if "trained" not in facts:
        return {"trained": one.setting.n_trained, "served": one.setting.n_models, "is_papers": True}
    names = ("trained", "served", "calibration_error", "log_loss")
    return {name: facts[name] for name in names if name in facts}


def _row(dataset: str, one: SettingResult, control: SettingResult, facts: dict[str, Any]) -> Row:
    differences = None
    if one is not control:
        differences = Retrain().differences(one.runs["test"], control.runs["test"])
    return Row(
        dataset=dataset,
        recipe=one.setting.written,
        runs=_tested(one),
        control=_tested(control).summary,
        churn=differences["churn"] if differences else None,
        accuracy=differences["accuracy"] if differences else None,
        **_cost(facts, one),
    )


def _tested(one: SettingResult) -> Runs:
    """The runs on the test part; correct churn is by both runs of a pair, whatever the result's."""
    return replace(one.runs["test"], given="either")


@dataclass(frozen=True, kw_only=True)
class Over:
    """A recipe over several datasets."""

    recipe: str
    rows: tuple[Row, ...]

    @property
    def ratio(self) -> float:
        """The mean `ratio`, over the datasets where control has churn."""
        known = [row.ratio for row in self.rows if not math.isnan(row.ratio)]
        return sum(known) / len(known) if known else math.nan

    @property
    def accuracy(self) -> float:
        """The mean of accuracy minus control's."""
        return sum(r.summary.accuracy.mean - r.control.accuracy.mean for r in self.rows) / len(
            self.rows
        )

    @property
    def is_harmless(self) -> bool:
        """Whether it neither raises churn nor loses accuracy beyond chance on any dataset."""
        return not self.count("harms")

    def count(self, what: str) -> int:
        """On how many datasets it `lowers_churn`, `raises_churn`, `loses`, `harms` or `gains`."""
        return sum(getattr(row, what) for row in self.rows)

    def named(self, what: str) -> str:
        """The datasets that `count` counts."""
        return ", ".join(row.dataset for row in self.rows if getattr(row, what))


def over_tables(rows: dict[str, list[Row]]) -> list[Over]:
    """The recipes measured on all tables that have results, lowest churn first."""
    there = [name for name in TABLES if name in rows]
    every = over(row for name in there for row in rows[name])
    return [one for one in every if len(one.rows) == len(there)]


def only_on_tables(rows: dict[str, list[Row]]) -> list[str]:
    """The methods of tables of which no recipe is tried on any of the paper's tasks."""
    on_tasks, on_tables = (
        {one for n in names for row in rows.get(n, ()) for one in methods_of(row.recipe)}
        for names in (RECIPES, TABLES)
    )
    return sorted(on_tables - on_tasks)


def methods_of(recipe: str) -> list[str]:
    """The names of a recipe's methods: `twin(a=1)+ema` is of `twin` and `ema`."""
    return [name for name, _ in parse_method(recipe)]


def over(rows: Iterable[Row]) -> list[Over]:
    """Recipes over the datasets of these rows, lowest churn first."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.recipe, []).append(row)
    every = [Over(recipe=recipe, rows=tuple(own)) for recipe, own in groups.items()]
    return sorted(every, key=lambda one: (math.isnan(one.ratio), one.ratio))


def changed(row: Row) -> str:
    """A recipe's churn, bold where it is lower beyond chance, with a mark where it does harm."""
    text = bare_percent(row.summary.churn.mean)
    text = f"**{text}**" if row.lowers_churn else text
    return f"{text}{' ▲' if row.raises_churn else ''}{' ✗' if row.loses else ''}"
