"""How often a bench recommends one of several methods that are all like plain training."""

from __future__ import annotations

from itertools import product

import numpy as np
from frequencies import PROMISED, Cell, Table
from over_retrainings import Generator, Recipe

from unchurn.core.arrays import Array
from unchurn.metrics.intervals import level_of_all
from unchurn.metrics.over_runs import accuracy_difference, churn_difference
from unchurn.study.results.selection import CLOSE

TEST = 2000
WRONG = 1 - PROMISED[0]  # how often something may be recommended that is no better


def draw(rng: Generator, recipe: Recipe, methods: int, runs: int) -> Array:
    """Which examples are right in control's runs, and in every method's, (methods + 1, runs, n).

    Runs of one number have half of their shifts' variance in common.
    """
    margins, of = recipe.examples(rng, TEST)
    common = recipe.shifts(rng, runs)
    shifts = ((common + recipe.shifts(rng, runs)) / np.sqrt(2) for _ in range(methods + 1))
    return np.stack([recipe.right(rng, margins, of, one) for one in shifts])


def recommended(right: Array) -> tuple[bool, bool]:
    """Whether any method is, each at 95 %, and all together, as `study/advice/` tells them."""
    control, *others = right
    churn = [churn_difference(ours, control) for ours in others]
    accuracy = [accuracy_difference(ours, control, np.ones(TEST, bool)).value for ours in others]
    level = level_of_all(churn)
    found = [
        [is_close and one.high < 0 for one in (own, own.at(level))]
        for own, is_close in zip(churn, (value > -CLOSE for value in accuracy), strict=True)
    ]
    alone, together = np.any(found, axis=0)
    return bool(alone), bool(together)


def recommendations(rng: Generator, draws: int) -> Table:
    """Studies of methods that differ in nothing: how many recommend one."""
    rows = []
    for runs, methods, shift in product((3, 5), (3, 12), (0.02, 0.05, 0.15)):
        recipe = Recipe(0.2, shift)
        drawn = (draw(rng, recipe, methods, runs) for _ in range(draws))
        alone, together = np.mean([recommended(right) for right in drawn], axis=0)
        cells = [Cell(float(alone), draws), Cell(float(together), draws, 0, WRONG)]
        rows.append(([str(runs), str(methods), f"{shift:g}"], cells))
    head = ("runs", "methods", "sd of the shift")
    return Table("recommendations", (*head, "each at 95 %", "all together, as advised"), rows)
