"""How often intervals over retrainings cover: predictions are the sign of a noisy margin."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from frequencies import Cell, Table, coverage
from scipy.special import ndtr

from unchurn.comparison.noise.floor import ENOUGH, floor_of
from unchurn.core.arrays import Array
from unchurn.metrics.intervals import FEW
from unchurn.metrics.over_runs import (
    accuracy_difference,
    accuracy_prediction_interval,
    churn_difference,
)

Generator = np.random.Generator
RUNS = (2, 3, 5, 10)
SKEWED = (
    "with this many examples what is left is how the runs' own shifts differ, and churn depends on "
    "how far a run's shift is from base's, whichever way: its distribution has a long upper tail "
    "(like a squared normal's), of which a few retrainings show little. The logarithm does not "
    "mend it, and a few retrainings cannot tell the skewness. The more ways there are in which "
    "runs differ (ten classes here), the less of it there is."
)
NO_RUN_EFFECT = (
    "runs have no effect of their own here, only chance by example; the interval still allows for "
    "one, and is wider than it needs to be."
)
GRID = np.linspace(-7, 7, 561)
WEIGHTS = np.exp(-(GRID**2) / 2) / np.exp(-(GRID**2) / 2).sum()


@dataclass(frozen=True)
class Recipe:
    """A margin ~ N(middle, 1) by example; each run adds a shift by class, and noise by example."""

    noise: float
    shift: float
    classes: int = 1
    middle: float = 1.5

    def shifts(self, rng: Generator, runs: int) -> Array:
        """Of each run and class."""
        return rng.normal(0, 1, (runs, self.classes)) * self.shift

    def right(self, rng: Generator, margins: Array, of: Array, shifts: Array) -> Array:
        """Whether each run is right about each example: (runs, n); `of` is an example's class."""
        noise = rng.standard_normal((len(shifts), len(margins)), dtype=np.float32)
        noise *= np.float32(self.noise)
        noise += shifts.astype(np.float32)[:, of]
        noise += margins
        return noise > 0

    def examples(self, rng: Generator, n: int, users: Array | None = None) -> tuple[Array, Array]:
        """Margins and classes; half of a margin's variance is its user's, where there are users."""
        margins = rng.standard_normal(n, dtype=np.float32)
        if users is not None:
            own = rng.standard_normal(users[-1] + 1, dtype=np.float32)
            margins = (margins + own[users]) / np.sqrt(np.float32(2))
        return margins + np.float32(self.middle), rng.integers(0, self.classes, n)

    def chance(self, shifts: Array | None = None) -> Array:
        """That a run is right, by (class, margin): a run of these shifts, or any retraining."""
        if shifts is None:
            spread = np.hypot(self.noise, self.shift)
            return np.asarray(ndtr((GRID + self.middle) / spread))[None]
        return np.asarray(ndtr((GRID + self.middle + shifts[:, None]) / self.noise))


def churn_between(one: Array, two: Array) -> float:
    """The churn, over all examples there could be, of two runs with these chances."""
    return float(((one * (1 - two) + two * (1 - one)) @ WEIGHTS).mean())


@dataclass(frozen=True)
class Scenario:
    """A recipe, on so many examples."""

    n: int
    recipe: Recipe
    draws: int
    per_user: int | None = None  # examples of a user, which are alike

    @property
    def users(self) -> Array | None:
        """The user of each example."""
        return None if self.per_user is None else np.arange(self.n) // self.per_user

    @property
    def churn(self) -> float:
        """Of two retrainings."""
        return churn_between(self.recipe.chance(), self.recipe.chance())

    @property
    def accuracy_sd(self) -> float:
        """Between retrainings, over all examples: what a small shift does at the margin of 0."""
        at_zero = np.exp(-(self.recipe.middle**2) / 2) / np.sqrt(2 * np.pi)
        return float(at_zero * self.recipe.shift / np.sqrt(self.recipe.classes))

    @property
    def texts(self) -> list[str]:
        """As a table shows it."""
        return [f"{self.n:,}", f"{self.churn:.1%}", f"{self.recipe.shift:g}",
                str(self.recipe.classes), f"{self.accuracy_sd:.2%}"]  # fmt: skip


HEAD = ("n", "churn", "sd of the shift", "classes", "sd of accuracy")
BY_RUNS = tuple(f"R = {runs}" for runs in RUNS)


def scenarios(draws: int) -> list[Scenario]:
    """Few flips and many, runs with no effect of their own and a large one."""
    found = [Scenario(300, Recipe(0.05, shift), draws) for shift in (0.0, 0.02)]
    for n, classes in itertools.product((1000, 10_000), (1, 10)):
        found += [
            Scenario(n, Recipe(0.2, shift, classes), draws) for shift in (0.0, 0.02, 0.05, 0.15)
        ]
    for classes, shift in itertools.product((1, 10), (0.02, 0.05, 0.15)):
        found.append(Scenario(100_000, Recipe(0.2, shift, classes), -(-draws // 2)))
    return found


def floors(rng: Generator, draws: int) -> dict[str, Table]:
    """The floor, the excess, the prediction intervals, and the gate that trusts them."""
    names = ("floor", "excess", "prediction", "accuracy_prediction", "rejections")
    tables = {name: Table(name, HEAD + BY_RUNS, []) for name in names}
    for case in scenarios(draws):
        hits = np.stack([_one_floor(rng, case) for _ in range(case.draws)]).mean(axis=0)
        promised = case.n * case.churn >= FEW
        why = SKEWED if case.recipe.shift >= 0.05 else ""
        for name, rates in zip(names, hits.T, strict=True):
            cells = [
                Cell(float(rate), case.draws, 0, 0.05 if runs >= ENOUGH else 1, why)
                if name == "rejections"
                else coverage(float(rate), case.draws, promised and runs > 2, why)
                for runs, rate in zip(RUNS, rates, strict=True)
            ]
            tables[name].rows.append((case.texts, cells))
    return tables


def clustered_floors(rng: Generator, draws: int) -> dict[str, Table]:
    """The floor and the excess where examples come in clusters."""
    names = ("clustered_floor", "clustered_excess")
    head = (HEAD[0], "examples of a user", *HEAD[1:], *BY_RUNS)
    tables = {name: Table(name, head, []) for name in names}
    for (n, size), shift in itertools.product(
        ((1000, 10), (10_000, 10), (10_000, 100)), (0.0, 0.05)
    ):
        case = Scenario(n, Recipe(0.2, shift), draws, per_user=size)
        hits = np.stack([_one_floor(rng, case) for _ in range(draws)]).mean(axis=0)
        why = SKEWED if shift else ""
        for name, rates in zip(names, hits.T[:2], strict=True):
            cells = [coverage(float(rate), draws, runs > 2, why)
                     for runs, rate in zip(RUNS, rates, strict=True)]  # fmt: skip
            texts = [case.texts[0], str(size), *case.texts[1:]]
            tables[name].rows.append((texts, cells))
    return tables


def _one_floor(rng: Generator, case: Scenario) -> Array:
    """One draw of base, candidate, retrainings and examples: (R, what is covered)."""
    recipe = case.recipe
    shifts = recipe.shifts(rng, max(RUNS) + 2)
    right = recipe.right(rng, *recipe.examples(rng, case.n, case.users), shifts)
    base, candidate = recipe.chance(shifts[0]), recipe.chance(shifts[1])
    floor = churn_between(base, recipe.chance())  # over retrainings and examples, of this base
    excess = churn_between(base, candidate) - floor
    moved = right[1:] != right[0]
    hits = []
    for runs in RUNS:
        found = floor_of(moved[1 : runs + 1], moved[0], case.users)
        low, high = found.expected
        accuracies = right[2 : runs + 2].mean(axis=1)
        least, most = accuracy_prediction_interval(accuracies, case.n)
        hits.append(
            (
                found.churn.low <= floor <= found.churn.high,
                found.excess.low <= excess <= found.excess.high,
                low <= max(found.candidate, 0.5 / case.n) <= high,
                least <= right[1].mean() <= most,
                found.excess.low > 0 and not found.is_another_retraining,
            )
        )
    return np.array(hits)


def settings(rng: Generator, draws: int) -> dict[str, Table]:
    """`accuracy_difference` and `churn_difference` of two settings of a bench, paired by run."""
    names = ("accuracy_difference", "churn_difference")
    head = (*HEAD, *BY_RUNS)
    tables = {name: Table(name, head, []) for name in names}
    for n, shift in itertools.product((1000, 4000), (0.0, 0.02, 0.05, 0.15)):
        one, two = Recipe(0.2, shift), Recipe(0.12, shift)
        truths = [
            float((one.chance() - two.chance()).mean(axis=0) @ WEIGHTS),
            churn_between(one.chance(), one.chance()) - churn_between(two.chance(), two.chance()),
        ]
        hits = np.stack([_one_pair(rng, n, one, two, truths) for _ in range(draws)]).mean(axis=0)
        why = NO_RUN_EFFECT if shift == 0 else ""
        for name, rates in zip(names, hits.T, strict=True):
            cells = [
                coverage(float(rate), draws, runs > 2, why)
                for runs, rate in zip(RUNS, rates, strict=True)
            ]
            if name == "churn_difference":  # two runs give it no interval
                cells = cells[1:]
            tables[name].rows.append((Scenario(n, one, draws).texts, cells))
    tables["churn_difference"] = Table(
        "churn_difference", (*HEAD, *BY_RUNS[1:]), tables["churn_difference"].rows
    )
    return tables


def _one_pair(rng: Generator, n: int, one: Recipe, two: Recipe, truths: list[float]) -> Array:
    """Two settings whose runs share half of their shifts' variance, on the same examples."""
    margins, of = one.examples(rng, n)
    common, own, other = (one.shifts(rng, max(RUNS)) for _ in range(3))
    first = one.right(rng, margins, of, (common + own) / np.sqrt(2))
    second = two.right(rng, margins, of, (common + other) / np.sqrt(2))
    labels = np.ones(n, bool)
    hits = []
    for runs in RUNS:
        found = (
            accuracy_difference(first[:runs], second[:runs], labels),
            churn_difference(first[:runs], second[:runs]),
        )
        hits.append([i.low <= t <= i.high for i, t in zip(found, truths, strict=True)])
    return np.array(hits)
