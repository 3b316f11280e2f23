"""How much better the best of many settings looks than it is, on the runs that chose it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import comb

import numpy as np
from frequencies import PROMISED, Cell, Table
from over_retrainings import Generator, Recipe

from unchurn.core.arrays import Array
from unchurn.metrics.over_runs import accuracy_difference, churn_difference
from unchurn.study.results.selection import choose

RUNS, TEST, VALIDATION = 5, 2000, 1000
WRONG = 1 - PROMISED[0]  # how often an interval of no difference may leave out zero


@dataclass(frozen=True)
class Drawn:
    """Which examples are right in control's runs and every setting's, (settings, runs, n).

    The settings are alike in all: what differs is chance. Validation examples come first; the
    second half of the runs is fresh.
    """

    right: Array

    @classmethod
    def of(cls, rng: Generator, recipe: Recipe, settings: int) -> Drawn:
        """Draw them; runs of one number have half of their shifts' variance in common."""
        margins, of = recipe.examples(rng, VALIDATION + TEST)
        common = recipe.shifts(rng, 2 * RUNS)
        found = []
        for _ in range(settings + 1):
            shifts = (common + recipe.shifts(rng, 2 * RUNS)) / np.sqrt(2)
            found.append(recipe.right(rng, margins, of, shifts))
        return cls(np.stack(found))

    def chosen(self) -> int:
        """The place of the setting that a bench would choose on the validation part."""
        right = self.right[1:, :RUNS, :VALIDATION]
        n_right = right.sum(axis=1)
        churn = (n_right * (RUNS - n_right)).mean(axis=1) / comb(RUNS, 2)
        return 1 + choose(right.mean(axis=(1, 2)).tolist(), churn.tolist())

    def claims(self) -> Array:
        """On the runs that chose, then on fresh ones: is churn, is accuracy said to differ; churn.

        (2, 3); churn is that of the chosen setting.
        """
        place = self.chosen()
        found = []
        for runs in (slice(RUNS), slice(RUNS, None)):
            control, ours = (self.right[i, runs, VALIDATION:] for i in (0, place))
            churn = churn_difference(ours, control)
            accuracy = accuracy_difference(ours, control, np.ones(TEST, bool))
            differ = [one.low > 0 or one.high < 0 for one in (churn, accuracy)]
            n_right = ours.sum(axis=0)
            found.append([*differ, (n_right * (RUNS - n_right)).mean() / comb(RUNS, 2)])
        return np.array(found)


def choices(rng: Generator, draws: int) -> Table:
    """Settings that differ in nothing, one of them chosen: what is claimed, before and now."""
    rows = []
    for settings, shift in product((1, 9, 48), (0.02, 0.05, 0.15)):
        recipe = Recipe(0.2, shift)
        found = np.stack([Drawn.of(rng, recipe, settings).claims() for _ in range(draws)])
        (*before, chosen), (*now, fresh) = found.mean(axis=0)
        cells = [Cell(float(rate), draws) for rate in before]
        cells += [Cell(float(rate), draws, 0, WRONG) for rate in now]
        rows.append(([str(settings), f"{shift:g}", f"{100 * (chosen - fresh):+z.2f}"], cells))
    head = ("settings", "sd of the shift", "churn, chosen − fresh, points")
    both = [f"{of} differs: {runs}" for runs in ("the runs that chose", "fresh runs")
            for of in ("churn", "accuracy")]  # fmt: skip
    return Table("choices", (*head, *both), rows)
