"""`advice`: say in words which method to use, if any lowers churn beyond chance at no loss."""

from __future__ import annotations

import math
from itertools import count
from typing import TYPE_CHECKING

from unchurn.methods import make_method
from unchurn.metrics.against_base import right, right_before
from unchurn.report.numbers import between, percent, points
from unchurn.study.advice.beyond_chance import (
    from_control,
    is_better,
    is_more_accurate,
    may_cost_nothing,
    n_told,
)
from unchurn.study.advice.equal_runs import (
    FEW_ROWS,
    all_agree,
    ensemble_is_plain,
    ignores_seed,
    n_test_rows,
)
from unchurn.study.advice.majority_class import on_the_commonest
from unchurn.study.advice.words import (
    accuracy_of,
    beside_plain,
    churn_of,
    cost_of,
    fall,
    measured,
    written,
)
from unchurn.study.report.table import single_models
from unchurn.study.results.budget import exceeded, keeps, limits_in_words, unsearched, way_out
from unchurn.study.scenarios import Resample

if TYPE_CHECKING:
    from unchurn.study.results.result import Result, SettingResult

ON_TEST = "; chosen on the test data itself, it may look better here than it is"
FEW_RUNS = 5  # with fewer, the advice is to train more


def advice(result: Result) -> str:
    """Say which method to use, and why.

    A single model qualifies if its churn is below control's with the whole interval and its
    accuracy is less than 0.1 points below control's. The advice is the cheapest one whose churn is
    within chance of the lowest; if none qualifies, it is plain training, and what to try next. A
    successor of an older model also qualifies if it is more accurate beyond chance and its bad
    flips are no more: it was trained to be better. With a budget, the advice is the most accurate
    setting that keeps it, single models first; or plain training, if that keeps it and no other is
    more accurate beyond chance. If an older model, or always answering one class, is more accurate
    than all of them, the advice says so.

    Of many methods that are no better than control, some look better by chance. So the confidence
    level rises with the number of methods tried, but less if many of them are better
    (`level_of_all`). docs/statistics.md shows how often a method is recommended for its churn
    although none is better; how often a successor is for its accuracy was not simulated. With fewer
    than three runs, or older models, no interval can be relied on: none is then recommended for its
    churn, and the advice says how many runs are needed.
    """
    return f"{_recommended(result)}{_on_the_base(result)}{on_the_commonest(result)}"


def _recommended(result: Result) -> str:
    """Which of the methods to use."""
    chosen = result.chosen
    if not chosen:
        return "Every method failed: see the reasons in the table."
    control = chosen.get("control")
    if result.subject.budget.given:
        return _within_budget(result, chosen)
    if control is None:
        rows = list(chosen.values())
        row = rows[result.best_of([row.reported.runs[result.chosen_on] for row in rows])]
        return (
            f"Of these, {written(row)} is {measured(result, row)}: add control to see whether that "
            "is better than plain training."
        )
    better = [row for row in single_models(chosen).values() if is_better(result, row)]
    if not better:
        return _more_accurate(result, control) or _keep(result, control)
    best = _cheapest(result, better)
    text = (
        f"Use {written(best)}: {measured(result, best)}{beside_plain(result, control)}; "
        f"{result.subject.scenario.falls} by {fall(from_control(result, best))}, beyond chance, "
        f"{cost_of(result, best)}"
    )
    if result.chosen_on == "test":  # the best of several methods, at that
        text += ON_TEST
    return f"{text}. {best.setting.note}".rstrip()


def _within_budget(result: Result, chosen: dict[str, SettingResult]) -> str:
    """Name the most accurate setting that keeps the budget; if none does, the nearest to it."""
    kept = {name: row for name, row in chosen.items() if keeps(result, row)}
    single = single_models(kept)
    rows = list((single or kept or chosen).values())
    best = rows[result.best_of([row.reported.runs[result.chosen_on] for row in rows])]
    budget = f"the budget ({limits_in_words(result)}) on the {result.chosen_on} part"
    caution = unsearched(result) + (f" {_few(result)}" if result.subject.are_too_few else "")
    if not kept:
        out = way_out(result, _untried(result, _steadier(result)))
        return (
            f"No method keeps {budget}: {written(best)} comes nearest, with "
            f"{exceeded(result, best)}; it is {measured(result, best)}. {out}".rstrip()
            + caution
        )
    control = chosen.get("control")
    if "control" in kept and not is_more_accurate(result, best):
        best = kept["control"]
    if best is control:
        text = (
            f"Use plain training: it is {measured(result, best)}; it keeps {budget}, and no "
            "single model that does is more accurate beyond chance"
        )
    else:
        plain = "" if control is None else beside_plain(result, control)
        which = "the single models that keep" if single else "what keeps"
        none = "" if single else ", as no single model does"
        text = (
            f"Use {written(best)}: {measured(result, best)}{plain}, {cost_of(result, best)}; of "
            f"{which} {budget}{none}, it is the most accurate{_lost(result, best)}"
        )
    if result.chosen_on == "test":
        text += ON_TEST
    elif over := exceeded(result, best, "test"):
        text += f"; on the test part it does not keep it: {over}"
    return f"{text}.{caution}"


def _lost(result: Result, row: SettingResult) -> str:
    """What a setting costs in accuracy, in words; empty if that may be chance."""
    accuracy = from_control(result, row).get("accuracy")
    if accuracy is None or not accuracy.high < 0:
        return ""
    lost = points(accuracy.value).removeprefix("-")
    return f", but {lost} less so than plain training ({between(accuracy, in_points=True)})"


def _on_the_base(result: Result) -> str:
    """Say that the older model is more accurate than all new ones; empty if it is not."""
    metrics = result.subject.scenario.metrics
    runs = [row.reported.runs["test"] for row in result.chosen.values()]
    if not runs or runs[0].base is None:
        return ""
    best = max(runs, key=lambda own: metrics["accuracy"].of(own).mean)
    base = metrics["accuracy_base"].of(best).mean
    if base <= metrics["accuracy"].of(best).mean:
        return ""
    lost = right_before(best).mean(axis=0) - right(best).mean(axis=0)  # of each test row
    is_known = not result.subject.scenario.base_may_know_tests
    unless = "" if is_known else ", unless it was trained on these test rows"
    if lost.mean() < 2 * lost.std() / math.sqrt(len(lost)):
        return (
            f" The model before is as accurate, {percent(base)}, as far as {len(lost):,} rows "
            f"tell{unless}."
        )
    return (
        f" But the model before is more accurate than any of these, {percent(base)}: keep it"
        f"{unless}{'' if is_known else ', of which it then has too many right'}."
    )


def _cheapest(result: Result, better: list[SettingResult]) -> SettingResult:
    """The setting that trains fewest networks, among those within chance of the lowest churn."""
    best = min(better, key=lambda row: churn_of(result, row, result.chosen_on))
    alike = [row for row in better if not _is_told_from(result, row, best)]

    def cost(row: SettingResult) -> tuple[int, int, float]:
        lowest_churn = churn_of(result, row, result.chosen_on)
        return row.setting.n_trained, row.setting.n_models, lowest_churn

    return min(alike, key=cost)


def _is_told_from(result: Result, row: SettingResult, best: SettingResult) -> bool:
    """Whether a setting's churn is above the best's beyond chance."""
    if row is best:
        return False
    found = result.differences(row.setting.name, best.setting.name)
    return found[result.subject.scenario.churn].low > 0


def _more_accurate(result: Result, control: SettingResult) -> str:
    """Recommend a successor for its accuracy, if it breaks no more; empty if there is none such."""
    scenario = result.subject.scenario
    rows = [
        row
        for row in single_models(result.chosen).values()
        if is_more_accurate(result, row) and from_control(result, row)[scenario.churn].value <= 0
    ]
    if not rows or not scenario.has_base or result.subject.are_too_few:
        return ""
    best = _cheapest(result, rows)
    found = from_control(result, best)
    gain = found["accuracy"]
    doubt = "which may be chance"
    if found[scenario.churn].high < 0:  # alone it would be told, but not of so many
        doubt = f"as one of {n_told(result)} methods may by chance"
    more = f"{points(gain.value).removeprefix('+')} ({between(gain, in_points=True)})"
    text = (
        f"Use {written(best)}: {measured(result, best)}{beside_plain(result, control)}; it is more "
        f"accurate by {more}, beyond chance, {cost_of(result, best)}; {scenario.falls} by "
        f"{fall(found)}, {doubt}"
    )
    if result.chosen_on == "test":
        text += ON_TEST
    return f"{text}. {best.setting.note}".rstrip()


def _keep(result: Result, control: SettingResult) -> str:
    """Say that no single model is better than plain training, and what to try next."""
    n = len(result.by_method) - 1
    if n and result.subject.are_too_few and not _is_settled(result):
        return _cannot_tell(result, control)
    tried = "nothing else was tried"
    if n:
        what = result.subject.scenario.churn_words
        none = f"none of the {n} methods tried lowers"
        if n == 1:
            none = "the method tried does not lower"
        if _steadier_of_several(result):  # which `_next` names
            none = "no method tried that serves a single model lowers"
        tried = f"{none} {what} beyond chance at no loss of accuracy"
    text = f"Use plain training: {tried}; it is {measured(result, control)}"
    return f"{text}. {ensemble_is_plain(result)}{_next(result)}".rstrip()


def _cannot_tell(result: Result, control: SettingResult) -> str:
    """Say that there are too few runs, or older models, and what was measured so far."""
    what = result.subject.scenario.churn_words
    chosen = result.choose()
    single = single_models(chosen)
    among = " of single models" if len(single) < len(chosen) else ""
    row = min(single.values(), key=lambda row: churn_of(result, row))
    text = f"Cannot tell yet: {_few(result)} Plain training is {measured(result, control)}"
    if churn_of(result, row) < churn_of(result, control):
        lowest = percent(churn_of(result, row))
        text += f"; {written(row)} has the lowest {what}{among}, {lowest}, and is "
        text += f"{accuracy_of(result, row)} accurate: whether that is chance is not known"
    return f"{text}. {_on_few_rows(result)}".rstrip()


def _next(result: Result) -> str:
    """Say what to try next if no single model is better."""
    chosen = result.chosen
    single = single_models(chosen)
    if steadier := _steadier_of_several(result):
        row = _cheapest(result, steadier)
        return (
            f"Several models do: {written(row)} lowers it by {fall(from_control(result, row))}, "
            f"{cost_of(result, row)}."
        )
    costs = [row for row in single.values() if may_cost_nothing(result, row)]
    if costs:
        row = _cheapest(result, costs)
        found = from_control(result, row)
        return (
            f"{written(row)} lowers it beyond chance, by {fall(found)}, {cost_of(result, row)}; "
            f"its accuracy is {points(-found['accuracy'].value).removeprefix('+')} lower, which "
            f"may be chance ({between(found['accuracy'], in_points=True)})."
        )
    near = [row for row in single.values() if is_better(result, row, alone=True)]
    if near:
        row = _cheapest(result, near)
        return (
            f"{written(row)} by itself would be told from it, but of {n_told(result)} methods one "
            "may be so by chance: try it alone, with another seed or more runs."
        )
    if equal := _of_equal_runs(result):
        return equal
    if few := _few(result):
        return few
    others = (name for name in single if name != "control")
    untold = [name for name in others if result.against_control(single[name]) is None]
    if untold:
        return f"Settings of {untold[0]} were chosen on the test data: choose them on validation."
    left = _untried(result, _steadier(result))
    return f"Try {' or '.join(left)}." if left else ""


def _steadier_of_several(result: Result) -> list[SettingResult]:
    """The settings that serve several models and are better than plain training."""
    several = [row for row in result.chosen.values() if row.setting.n_models > 1]
    return [row for row in several if is_better(result, row)]


def _of_equal_runs(result: Result) -> str:
    """Say what to do if more runs alone would change nothing; empty if they might."""
    if rows := _on_few_rows(result):
        return f"{rows} {_few(result)}".rstrip()
    if result.subject.scenario.has_base or not ignores_seed(result):
        return ""
    if _is_settled(result):
        return (
            "More runs would be equal, too, as far as these tell: to see what other data changes, "
            f"give scenario= {Resample.name}."
        )
    left = _untried(result, ["bagging"])
    return f"Try {left[0]}, whose members each see other rows." if left else ""


def _is_settled(result: Result) -> bool:
    """Whether more runs would be equal, too, as far as these runs show."""
    scenario = result.subject.scenario
    may_differ = scenario.has_base or scenario.name == Resample.name
    is_known = n_test_rows(result) >= FEW_ROWS and ignores_seed(result)
    return not may_differ and is_known and all_agree(result)


def _on_few_rows(result: Result) -> str:
    """Say that there are few test rows; empty if there are enough."""
    n = n_test_rows(result)
    return f"{n} test rows tell little: test on {FEW_ROWS} or more." if n < FEW_ROWS else ""


def _few(result: Result) -> str:
    """Say that there are few runs, or older models; empty if there are enough."""
    runs, scenario = result.subject.runs, result.subject.scenario
    if not result.subject.are_too_few:
        return f"{runs} runs tell little: try {FEW_RUNS} or more." if runs < FEW_RUNS else ""
    n = scenario.n_units(runs)
    units = "runs" if n == runs else "older models"
    first = max(FEW_RUNS, runs + 1)
    enough = next(more for more in count(first) if not scenario.are_too_few(more))
    return f"{n} {units} are too few: train {enough} runs or more."


def _untried(result: Result, names: list[str]) -> list[str]:
    """The methods among `names` that were tried neither alone nor in a combination."""
    known = {part for tried in result.chosen for part in (tried, *tried.split("+"))}
    return [name for name in names if name not in known]


def _steadier(result: Result) -> list[str]:
    """Methods that the scenario advises; without networks, those that change targets, and bagging.

    Bagging is left out where there is an older model.
    """
    scenario = result.subject.scenario
    if result.subject.is_of_networks:
        return list(scenario.steadier)
    names = [name for name in scenario.steadier if make_method(name).changes == "targets"]
    return names if scenario.has_base else [*names, "bagging"]
