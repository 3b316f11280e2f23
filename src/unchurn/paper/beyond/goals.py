"""The lowest churn of a task within a cost: chosen on some test rows, reported on the others.

On the rows that chose it, the best of many looks better than it is. So the test rows are halved:
each half chooses the recipe of lowest churn, which is measured on the other, and the mean of both
is reported. This does not remove what is peculiar to the runs, which are the same on both halves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unchurn.metrics.churn import ChurnSummary
from unchurn.paper.beyond.rows import Row, methods_of
from unchurn.paper.beyond.tables import BEYOND
from unchurn.paper.united import of_recipe
from unchurn.study.design.settings import make_setting

HALVED_BY = 0  # the seed of the halves
ENSEMBLE = "ensemble(m=5)"
# The goal of a recipe at no cost was set for these: averages or a decay, with or without smoothing.
SIMPLE = {"ema", "safe_ema", "decay", "label_smoothing"}
Mask = npt.NDArray[np.bool_]
Within = Callable[[Row], bool]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What was chosen on each half of the test rows, and what that gave on the other."""

    recipes: tuple[str, ...]  # one, or two where the halves disagree
    churn: float
    accuracy: float
    plain_churn: float  # plain training's, on the same rows
    plain_accuracy: float

    @property
    def written(self) -> str:
        """The recipes in Markdown."""
        return " or ".join(f"`{recipe}`" for recipe in self.recipes)

    @property
    def ratio(self) -> float:
        """Churn divided by plain training's."""
        return self.churn / self.plain_churn

    @property
    def gain(self) -> float:
        """Accuracy minus plain training's."""
        return self.accuracy - self.plain_accuracy


class Goals:
    """The best of a task's rows: at no cost, with one served model, of all."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.control = next(row for row in rows if row.churn is None)
        five = make_setting(ENSEMBLE).facts().written
        self.ensemble = of_recipe(rows, five, BEYOND)
        n = len(self.control.runs.labels)
        first = np.random.default_rng(HALVED_BY).permutation(n) < n // 2
        self._halves = [_on_half(rows, self.control, half) for half in (first, ~first)]

    @property
    def simple(self) -> Choice:
        """The best of averages and decays, with or without smoothing."""
        return self._choose(lambda row: _is_simple(row.recipe))

    @property
    def free(self) -> Choice:
        """The best at no extra cost."""
        return self._choose(lambda row: row.is_free)

    @property
    def within_two(self) -> Choice:
        """The best with one served model, at no more than twice plain training's cost."""
        return self._choose(lambda row: row.is_single and row.trained <= 2)

    @property
    def single(self) -> Choice:
        """The best with one served model."""
        return self._choose(lambda row: row.is_single)

    @property
    def any(self) -> Choice:
        """The best of all."""
        return self._choose(lambda row: True)

    def _choose(self, within: Within) -> Choice:
        """Choose the lowest churn at no loss of accuracy on each half; measure it on the other."""
        first, second = self._halves
        chosen = [half.best(within) for half in (first, second)]
        told = [second.each[chosen[0].recipe], first.each[chosen[1].recipe]]
        plain = [second.plain, first.plain]
        return Choice(
            recipes=tuple(dict.fromkeys(row.recipe for row in chosen)),
            churn=_mean([one.churn.mean for one in told]),
            accuracy=_mean([one.accuracy.mean for one in told]),
            plain_churn=_mean([one.churn.mean for one in plain]),
            plain_accuracy=_mean([one.accuracy.mean for one in plain]),
        )


@dataclass(frozen=True)
class _Half:
    """What each recipe gave on half of the test rows."""

    rows: Sequence[Row]
    each: dict[str, ChurnSummary]  # by recipe
    plain: ChurnSummary

    def best(self, within: Within) -> Row:
        """The row of lowest churn `within` a cost, at no loss of accuracy; else plain training."""
        least = self.plain.accuracy.mean
        there = [row for row in self.rows if within(row) or row.churn is None]
        harmless = [row for row in there if self.each[row.recipe].accuracy.mean >= least]
        return min(harmless, key=lambda row: self.each[row.recipe].churn.mean)


def _on_half(rows: Sequence[Row], control: Row, half: Mask) -> _Half:
    each = {row.recipe: row.runs.only(half).summary for row in rows}
    return _Half(rows, each, each[control.recipe])


def _is_simple(recipe: str) -> bool:
    names = set(methods_of(recipe))
    return names <= SIMPLE and names != {"label_smoothing"}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
