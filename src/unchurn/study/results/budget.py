"""Which settings keep a study's budget, and the sentences that say so.

Reported runs decide: a setting that kept the budget by luck, on the runs that chose it, does not
count as keeping it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unchurn.methods.registry import PLUS
from unchurn.report.numbers import percent

if TYPE_CHECKING:
    from unchurn.study.results.result import Result, SettingResult


def keeps(result: Result, row: SettingResult) -> bool:
    """Whether a setting's reported runs keep the budget on the part on which it was chosen."""
    return not exceeded(result, row)


def exceeded(result: Result, row: SettingResult, part: str | None = None) -> str:
    """Limits exceeded by a setting's reported runs on a part, as text; empty if all are kept."""
    scenario, runs = result.subject.scenario, row.reported.runs[part or result.chosen_on]
    found = [
        f"{scenario.metrics[name].heading} {percent(scenario.metrics[name].of(runs).mean)}"
        for name, limit in scenario.limits(result.subject.budget).items()
        if scenario.excess(runs, {name: limit}) > 0
    ]
    return ", ".join(found)


def limits_in_words(result: Result) -> str:
    """The limits of the budget, as text: "bad flips at most 0.20%"."""
    scenario = result.subject.scenario
    limits = scenario.limits(result.subject.budget).items()
    return ", ".join(f"{scenario.metrics[n].heading} at most {percent(v)}" for n, v in limits)


def way_out(result: Result, untried: list[str]) -> str:
    """What to try when no setting keeps the budget, as a sentence; empty if nothing is left.

    The older model's own answers keep any budget, and `stay` serves more of them the larger its
    ratio. Without an older model, the sentence names the methods `untried`.
    """
    if not result.subject.scenario.has_base:
        return f"Try {' or '.join(untried)}." if untried else ""
    if ratios := _ratios_of_stay(result):
        return f"Try stay with a ratio above {max(ratios):g}: it keeps more of the old answers."
    recipe = "stay+safe_ema" if result.subject.is_of_networks else "stay"
    return (
        f"Try {recipe}: it keeps the old answer unless the new model is surer, and both models "
        "serve; unchurn blend does so with two files of predictions."
    )


def unsearched(result: Result) -> str:
    """Say that every method was tried at one setting only; empty if some were searched."""
    is_alone = len(result.by_method) < 2  # nothing but plain training
    if is_alone or len(result.settings) > len(result.by_method):
        return ""
    return (
        " Each method was tried at one setting: methods without parameters, with the preset grid, "
        "try more."
    )


def _ratios_of_stay(result: Result) -> list[float]:
    """Ratios with which `stay` was tried, alone or in a combination."""
    return [
        own["ratio"]
        for row in result.settings
        for name, own in zip(row.setting.name.split(PLUS), row.setting.methods, strict=False)
        if name == "stay"
    ]


def budget_note(result: Result) -> str:
    """Which methods keep the budget with their chosen settings, and which do not."""
    chosen = result.chosen
    over = {name: exceeded(result, row) for name, row in chosen.items()}
    kept = ", ".join(name for name, by in over.items() if not by)
    missed = ", ".join(f"{name} ({by})" for name, by in over.items() if by)
    fresh = " of fresh runs" if any(row.fresh for row in chosen.values()) else ""
    said = [f"kept by {kept or 'none'}", f"not by {missed}" if missed else ""]
    return (
        f"Budget: {limits_in_words(result)}, on the {result.chosen_on} part{fresh}: "
        f"{'; '.join(part for part in said if part)}."
    )
