"""How often the gate promotes, holds and rejects: by its rules, and by those it had before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from frequencies import Cell, Table
from over_retrainings import WEIGHTS, Generator, Recipe

from unchurn.comparison.noise.floor import accuracies_of
from unchurn.core.arrays import Array
from unchurn.gate.slice_checks import prove_harm
from unchurn.metrics.intervals import LEVEL, Interval, paired_difference

DECISIONS = ("promote", "hold", "reject")
SLICES, ROWS, CHURN = 20, 20_000, 0.02
SIZE = ROWS // SLICES
LIMIT = 0.005  # accuracy that may be lost, of those of retrainings
WRONG = 0.025  # how often a limit's interval may end on the wrong side
NEAR_ZERO = 0.1295  # accuracy that a shift of 1 costs: the density of margins at 0


@lru_cache(None)
def _loss(good: int, bad: int, level: float) -> Interval:
    found = paired_difference(good, bad, SIZE, level)
    return Interval(-found.value, -found.high, -found.low)


@dataclass(frozen=True)
class Counted:
    """A slice's flips, in the place of `Measured`, whose intervals would be computed each time."""

    good: int
    bad: int

    def interval(self, level: float = LEVEL) -> Interval:
        """The loss of accuracy."""
        return _loss(self.good, self.bad, level)


def slice_decisions(counts: Array, limit: float) -> tuple[str, str]:
    """Of good and bad flips by slice, (slices, 2): as decided before, and as decided now."""
    slices = [Counted(int(good), int(bad)) for good, bad in counts]
    at_once = [one.interval(1 - (1 - LEVEL) / len(slices)) for one in slices]
    alone = [one.interval() for one in slices]
    before = _decision(at_once, limit, any(one.low > limit for one in at_once))
    return before, _decision(alone, limit, bool(prove_harm(slices, alone, limit)))


def _decision(found: list[Interval], limit: float, harmful: bool) -> str:
    if harmful:
        return "reject"
    return "promote" if all(one.high <= limit for one in found) else "hold"


def slices(rng: Generator, draws: int) -> Table:
    """Every slice loses nothing, one loses what the limit allows, or all do."""
    rows = []
    for limit in (0.015, 0.02):
        for what, at_limit in (("nothing", 0), ("the limit in one slice", 1),
                               ("the limit in all", SLICES)):  # fmt: skip
            losses = np.where(np.arange(SLICES) < at_limit, limit, 0.0)
            shares = np.stack([(CHURN - losses) / 2, (CHURN + losses) / 2], axis=1)
            drawn = np.stack(
                [rng.multinomial(SIZE, [*share, 1 - CHURN], draws)[:, :2] for share in shares],
                axis=1,
            )
            decided = [slice_decisions(counts, limit) for counts in drawn]
            cells = []
            for rule, found in enumerate(zip(*decided, strict=True)):
                for decision in DECISIONS:
                    most = 1.0
                    if rule == 1 and decision == "promote" and at_limit:
                        most = WRONG
                    elif rule == 1 and decision == "reject":
                        most = 2 * WRONG
                    rate = float(np.mean(np.array(found) == decision))
                    cells.append(Cell(rate, draws, 0, most))
            rows.append(([f"{limit:.1%}", what], cells))
    head = ("limit", "truly lost", *_both("both ends corrected", "as decided now"))
    return Table("slice_decisions", head, rows)


def losses(rng: Generator, draws: int) -> Table:
    """A retraining, or a candidate that truly loses 3 points: with and without the runs' noise."""
    rows = []
    for lost in (0.0, 0.03):
        for n, shift in ((1000, 0.02), (1000, 0.15), (10_000, 0.0), (10_000, 0.02),
                         (10_000, 0.05), (10_000, 0.15)):  # fmt: skip
            recipe = Recipe(0.2, shift)
            decided = [loss_decisions(draw(rng, n, recipe, lost)) for _ in range(draws)]
            cells = []
            for rule, found in enumerate(zip(*decided, strict=True)):
                for decision in DECISIONS:
                    is_wrong = rule > 0 and decision == "reject" and lost == 0
                    rate = float(np.mean(np.array(found) == decision))
                    cells.append(Cell(rate, draws, 0, 2 * WRONG if is_wrong else 1.0))
            texts = [f"{lost:.0%}", f"{n:,}", f"{shift:g}", f"{NEAR_ZERO * shift:.2%}"]
            rows.append((texts, cells))
    rules = ("max_accuracy_loss", "max_excess_loss, R = 3", "max_excess_loss, R = 10")
    head = ("lost", "n", "sd of the shift", "sd of accuracy", *_both(*rules))
    return Table("loss_decisions", head, rows)


def draw(rng: Generator, n: int, recipe: Recipe, lost: float) -> Array:
    """Which examples base, a candidate that loses so much, and ten retrainings are right about."""
    shifts = recipe.shifts(rng, 12)
    shifts[1] -= _shift_that_costs(recipe, lost)
    return recipe.right(rng, *recipe.examples(rng, n), shifts)


def loss_decisions(right: Array) -> tuple[str, ...]:
    """Decisions on one candidate: by base's accuracy alone, and by 3 and 10 retrainings'."""
    base, candidate = right[:2]
    gained, lost = int((candidate & ~base).sum()), int((base & ~candidate).sum())
    change = paired_difference(gained, lost, len(base))
    loss = Interval(-change.value, -change.high, -change.low)
    decided = [_decision([loss], LIMIT, loss.low > LIMIT)]
    for runs in (3, 10):
        found = accuracies_of(right[: runs + 2])
        loss = found.lost.interval()
        harmful = loss.low > LIMIT and not found.is_another_retraining
        decided.append(_decision([loss], LIMIT, harmful))
    return tuple(decided)


@lru_cache(None)
def _shift_that_costs(recipe: Recipe, lost: float) -> float:
    """By how much a run must be shifted to lose so much accuracy, on the mean."""
    shifts = np.linspace(0, 1, 1001)
    spread = Recipe(float(np.hypot(recipe.noise, recipe.shift)), 0.0)
    accuracy = spread.chance(-shifts) @ WEIGHTS
    return float(np.interp(lost, accuracy[0] - accuracy, shifts))


def _both(*rules: str) -> list[str]:
    return [f"{rule}: {decision}" for rule in rules for decision in DECISIONS]
