"""Upgrades on tables that no recipe was tried on before, and the decision (rule: study.py)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from unchurn.methods.registry import FROM_ANSWERS
from unchurn.paper.beyond.tables import ALL_TABLES, FRESH, NEWEST
from unchurn.paper.markdown import markdown_table
from unchurn.paper.studies import RECIPES
from unchurn.paper.upgrade.rows import Over, Row, cell
from unchurn.paper.upgrade.study import CANDIDATE, FORMER, ON_FRESH
from unchurn.report.numbers import bare_percent
from unchurn.study.design.settings import make_setting
from unchurn.study.results.result import CONTROL

MOST_HARMED = 3  # of the tables, in accuracy and in bad flips each
MOST_ABOVE = 0.01  # how far the mean ratio of bad flips may be above the former default's


@dataclass(frozen=True, kw_only=True)
class Fresh:
    """The former default, that without weights, and the candidate on fresh tables and six tasks."""

    rows: dict[str, list[Row]]
    former: Over
    without_weights: Over
    candidate: Over
    former_on_tasks: Over
    candidate_on_tasks: Over

    @property
    def are_tasks_measured(self) -> bool:
        """Whether the candidate was trained on all six tasks, so that the rule can be applied."""
        return self.candidate_on_tasks.n == len(RECIPES)

    @property
    def harms_few(self) -> bool:
        """Whether at most MOST_HARMED tables lose accuracy, or break more, beyond chance."""
        one = self.candidate
        return max(one.n_lower("accuracy"), one.n_higher("bad_flips")) <= MOST_HARMED

    @property
    def keeps_up(self) -> bool:
        """Whether it breaks about as little as the former default."""
        return self.candidate.ratio <= self.former.ratio + MOST_ABOVE

    @property
    def is_better_on_tasks(self) -> bool:
        """Whether it breaks about as little on the paper's tasks, and is more accurate there."""
        ours, theirs = self.candidate_on_tasks, self.former_on_tasks
        return ours.ratio <= theirs.ratio + MOST_ABOVE and ours.gain > theirs.gain

    @property
    def is_taken(self) -> bool:
        """Whether the candidate is taken as the default: all three conditions hold."""
        return self.harms_few and self.keeps_up and self.is_better_on_tasks

    @property
    def table(self) -> str:
        """A line for each table."""
        recipes = [_written(text) for text in ON_FRESH if text != CONTROL]
        shown = ("accuracy_base", "accuracy", "bad_flips")
        headings = ["table", "rows", "base", "plain", "bad flips", *(f"`{r}`" for r in recipes)]
        lines = []
        for name, own in self.rows.items():
            by_recipe = {row.recipe: row for row in own}
            plain = [bare_percent(by_recipe[CONTROL].mean(metric)) for metric in shown]
            cells = [cell(by_recipe[recipe]) for recipe in recipes]
            lines.append([name, f"{ALL_TABLES[name].rows:,}", *plain, *cells])
        return markdown_table(headings, lines)


def on_fresh(rows: dict[str, list[Row]]) -> Fresh | None:
    """What was measured on fresh tables and tasks; None while a table is missing."""
    fresh, tasks = ({n: rows[n] for n in names if n in rows}
                    for names in ((*FRESH, *NEWEST), RECIPES))  # fmt: skip
    if any(_over(fresh.values(), text).n < len(FRESH) + len(NEWEST) for text in ON_FRESH):
        return None
    return Fresh(
        rows=fresh,
        former=_over(fresh.values(), FORMER),
        without_weights=_over(fresh.values(), FROM_ANSWERS),
        candidate=_over(fresh.values(), CANDIDATE),
        former_on_tasks=_over(tasks.values(), FORMER),
        candidate_on_tasks=_over(tasks.values(), CANDIDATE),
    )


def _over(each: Iterable[list[Row]], text: str) -> Over:
    """A recipe over those datasets that have it."""
    recipe = _written(text)
    return Over(recipe=recipe, rows=tuple(r for own in each for r in own if r.recipe == recipe))


def _written(text: str) -> str:
    return make_setting(text).facts().written
