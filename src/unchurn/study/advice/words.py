"""What was measured of a setting, and what it costs, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unchurn.metrics.intervals import Interval
from unchurn.report.numbers import between, percent, points

if TYPE_CHECKING:
    from unchurn.study.results.result import Result, SettingResult


def cost_of(result: Result, row: SettingResult) -> str:
    """The cost of training and serving a setting, compared with plain training, in words."""
    trained, served = row.setting.n_trained, row.setting.n_models
    what = "network" if result.subject.is_of_networks else "model"
    if trained == 1 and served == 1:
        return f"at no cost: one {what} is trained and served"
    serves = "one serves" if served == 1 else f"{served} serve"
    if trained == 1:
        return f"at no cost in training, but {served} models serve"
    return f"at the cost of training {trained} {what}s for one, of which {serves}"


def fall(found: dict[str, Interval]) -> str:
    """The fall in churn with its interval, in points."""
    churn = next(iter(found.values()))  # the first, as scenarios give them
    fall = Interval(-churn.value, -churn.high, -churn.low)
    return f"{points(fall.value)} ({between(fall, in_points=True)})".replace("+", "")


def measured(result: Result, row: SettingResult) -> str:
    """Accuracy and churn on the test part, in words."""
    says = result.subject.scenario.says.format(percent(churn_of(result, row)))
    return f"{accuracy_of(result, row)} accurate, {says}"


def beside_plain(result: Result, control: SettingResult) -> str:
    """Accuracy and churn of plain training, in parentheses, for comparison."""
    both = f"{accuracy_of(result, control)} and {percent(churn_of(result, control))}"
    return f" (plain training: {both})"


def accuracy_of(result: Result, row: SettingResult) -> str:
    """A setting's mean accuracy on the test part."""
    return percent(result.subject.scenario.metrics["accuracy"].of(row.reported.runs["test"]).mean)


def churn_of(result: Result, row: SettingResult, part: str = "test") -> float:
    """A setting's mean churn, or bad flips where the scenario counts these, on a part."""
    scenario = result.subject.scenario
    return scenario.metrics[scenario.churn].of(row.reported.runs[part]).mean


def written(row: SettingResult) -> str:
    """A setting as users write it."""
    return row.setting.written
