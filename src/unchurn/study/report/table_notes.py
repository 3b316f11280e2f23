"""Notes below a table of results: what its numbers mean, and how settings were chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from unchurn.report import numbers
from unchurn.report.table import Note
from unchurn.study.advice.equal_runs import note_on_equal_runs
from unchurn.study.results.budget import budget_note

if TYPE_CHECKING:
    from unchurn.metrics.intervals import Interval
    from unchurn.study.results.result import Result

SPREAD = "Parentheses: standard deviation."
BRACKETS = "Brackets: 95 %, runs paired, jackknife over {} plus the variance of the examples."


def table_notes(
    result: Result,
    differences: Sequence[dict[str, Interval]],
    headings: dict[str, str],
    optimism: dict[str, float],
) -> Iterable[Note]:
    """The notes that explain the numbers of a table.

    `differences` are those from control, and `headings` the headings of their columns. `optimism`
    is each method's churn on the runs that chose its setting, minus that on fresh runs.
    """
    subject = result.subject
    about = [subject.data.name, f"{subject.runs} runs of each setting", subject.length]
    what = subject.scenario.note(len(subject.labels["test"]))
    yield Note(text=f"{', '.join(part for part in about if part)}. {what}")
    metrics = subject.scenario.metrics
    for names, words in subject.scenario.legend.items():
        if shown := tuple(metrics[name].heading for name in names if name in metrics):
            yield Note(text=words, of=shown)
    yield Note(text=SPREAD, of=("sd",))  # the name of the deviations that a narrow text drops
    if len(result.settings) > len(result.by_method) or result.chosen_on == "validation":
        more = " A method that tried more settings had more chances: it gets no interval."
        rule = (
            "highest accuracy of those that keep the budget; where none does, nearest to it."
            if subject.budget.given
            else "highest accuracy; of those less than 0.1 points below it, lowest "
            f"{subject.scenario.churn_words}."
        )
        yield Note(
            text=f"Settings chosen on the {result.chosen_on} part: {rule}"
            f"{more if result.chosen_on == 'test' else ''}"
        )
    if subject.budget.given and result.chosen:
        yield Note(text=budget_note(result))
    if optimism:
        yield Note(text=_note_on_fresh_runs(result, optimism))
    yield Note(text="the best single model.", explains_mark=True)
    lows = [of[subject.scenario.churn].low for of in differences]
    if not all(map(math.isnan, lows)):  # two runs have none
        brackets = BRACKETS.format(subject.scenario.units(subject.runs))
        yield Note(text=brackets, of=tuple(headings.values()))
    for note in dict.fromkeys(row.setting.note for row in result.settings if row.setting.note):
        yield Note(text=note)
    if note_on_equal := note_on_equal_runs(result):
        yield Note(text=note_on_equal)
    if failed := [row for row in result.settings if row.failures]:
        many = "1 setting" if len(failed) == 1 else f"{len(failed)} settings"
        yield Note(text=f"{many} failed, so not chosen: see table.csv for why.")


def _note_on_fresh_runs(result: Result, optimism: dict[str, float]) -> str:
    """Say why figures are of fresh runs, and how much better the runs that chose settings look."""
    text = (
        f"Figures are of {result.subject.runs} fresh runs of each chosen setting: on the runs that "
        "chose it, a winner of many looks better than it is"
    )
    several = [v for name, v in optimism.items() if len(result.by_method[name]) > 1]
    if not several:
        return f"{text}."
    of = "the method" if len(several) == 1 else f"the {len(several)} methods"
    mean = numbers.signed(sum(several) / len(several))
    words = result.subject.scenario.churn_words
    return f"{text} ({words} chosen − fresh: {mean}, the mean of {of} that tried several settings)."
