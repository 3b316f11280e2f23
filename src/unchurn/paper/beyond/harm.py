"""What does not help: recipes that do harm beyond chance, on tables and on the six tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unchurn.methods.registry import PLUS
from unchurn.paper.beyond.decision import over_datasets
from unchurn.paper.beyond.rows import Over, Row, methods_of
from unchurn.paper.beyond.tables import TABLES
from unchurn.paper.studies import RECIPES

OFTEN = 0.25  # of the datasets
FEW_ROWS = 1000  # below it, the usual number of epochs is a short training
DECAY = "decay"


@dataclass(frozen=True, kw_only=True)
class Harm:
    """The recipes that do harm on many tables, and all that do on a task."""

    alone: Sequence[Over]  # of each method its worst setting, worst first
    combined: Sequence[Over]
    on_tasks: dict[str, list[Row]]  # worst first
    decay: Sequence[Over]  # on tables of few rows, on the others, on the six tasks


def find_harm(on_tables: Sequence[Over], rows: dict[str, list[Row]]) -> Harm:
    """What does harm on tables, and on each of the six tasks."""
    often = often_harmful(on_tables)
    tasks = {name: rows[name] for name in RECIPES if name in rows}
    tables = {name: rows[name] for name in TABLES if name in rows}
    small = [own for name, own in tables.items() if TABLES[name].rows < FEW_ROWS]
    large = [own for name, own in tables.items() if TABLES[name].rows >= FEW_ROWS]
    return Harm(
        alone=worst_of_each(one for one in often if PLUS not in one.recipe),
        combined=[one for one in often if PLUS in one.recipe],
        on_tasks={name: found for name, own in tasks.items() if (found := harmful(own))},
        decay=[over_datasets(each, DECAY) for each in (small, large, tasks.values())],
    )


def often_harmful(recipes: Iterable[Over]) -> list[Over]:
    """The recipes that do harm on a quarter of their datasets or more, on the most first."""
    found = [one for one in recipes if one.count("harms") >= OFTEN * len(one.rows)]
    return sorted(found, key=lambda one: (-one.count("harms"), -one.ratio))


def worst_of_each(recipes: Iterable[Over]) -> list[Over]:
    """The first recipe of each method; all are of one method."""
    first: dict[str, Over] = {}
    for one in recipes:
        first.setdefault(methods_of(one.recipe)[0], one)
    return list(first.values())


def harmful(rows: Iterable[Row]) -> list[Row]:
    """The rows that do harm, lowest accuracy first."""
    return sorted((row for row in rows if row.harms), key=lambda row: row.summary.accuracy.mean)
