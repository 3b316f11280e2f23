"""Whether a candidate takes the default's place, by a rule settled beforehand (study.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unchurn.paper.beyond.rows import Over, Row, changed
from unchurn.paper.beyond.study import CANDIDATE
from unchurn.paper.beyond.tables import ALL_TABLES, FRESH
from unchurn.paper.markdown import markdown_table
from unchurn.paper.studies import RECIPES
from unchurn.report.numbers import bare_percent, difference
from unchurn.study.design.settings import make_setting

FORMER_DEFAULT = "safe_ema"
MOST_HARMED = 1  # of the fresh tables, in accuracy and in churn each
MOST_ABOVE = 0.02  # how far the mean ratio of churn may be above the former default's


@dataclass(frozen=True)
class Decision:
    """The candidate and the former default on the fresh tables, and on the six tasks."""

    fresh: dict[str, list[Row]]
    former: Over
    candidate: Over
    former_on_tasks: Over
    candidate_on_tasks: Over

    @property
    def harms_few(self) -> bool:
        """Whether at most MOST_HARMED tables lose accuracy, or churn more, beyond chance."""
        return all(self.candidate.count(harm) <= MOST_HARMED for harm in ("loses", "raises_churn"))

    @property
    def keeps_up(self) -> bool:
        """Whether it lowers churn about as much as the former default on tables."""
        return self.candidate.ratio <= self.former.ratio + MOST_ABOVE

    @property
    def is_better_on_tasks(self) -> bool:
        """Whether it lowers churn more than the former default on the paper's tasks."""
        return self.candidate_on_tasks.ratio < self.former_on_tasks.ratio

    @property
    def is_taken(self) -> bool:
        """Whether the candidate is taken as the default: all three conditions hold."""
        return self.harms_few and self.keeps_up and self.is_better_on_tasks

    @property
    def table(self) -> str:
        """A line for each fresh table."""
        return each_table(self.fresh, (self.former.recipe, self.candidate.recipe))


def decide(rows: dict[str, list[Row]]) -> Decision | None:
    """The decision by what was measured; None while a table or a task is missing."""
    candidate = make_setting(CANDIDATE).facts().written
    fresh, tasks = ({n: rows[n] for n in names if n in rows} for names in (FRESH, RECIPES))
    found = [
        over_datasets(own.values(), recipe)
        for own in (fresh, tasks)
        for recipe in (FORMER_DEFAULT, candidate)
    ]
    expected = [len(FRESH), len(FRESH), len(RECIPES), len(RECIPES)]
    if [len(one.rows) for one in found] != expected:
        return None
    return Decision(fresh, *found)


def each_table(rows: dict[str, list[Row]], recipes: Sequence[str]) -> str:
    """A line for each table: plain training, and what recipes change."""
    headings = ["table", "rows", "accuracy", "churn"]
    headings += [h for r in recipes for h in (f"`{r}`", "accuracy − plain's")]
    lines = []
    for name, own in rows.items():
        by_recipe, plain = {row.recipe: row for row in own}, own[0].control
        about = [bare_percent(plain.accuracy.mean), bare_percent(plain.churn.mean)]
        cells = [cell for recipe in recipes for cell in _cells(by_recipe[recipe])]
        lines.append([name, f"{ALL_TABLES[name].rows:,}", *about, *cells])
    return markdown_table(headings, lines)


def over_datasets(each: Iterable[list[Row]], recipe: str) -> Over:
    """A recipe over those datasets that have it."""
    rows = tuple(row for own in each for row in own if row.recipe == recipe)
    return Over(recipe=recipe, rows=rows)


def _cells(row: Row) -> list[str]:
    """A recipe's churn, with marks, and its accuracy minus plain training's."""
    return [changed(row), "" if row.accuracy is None else difference(row.accuracy)]
