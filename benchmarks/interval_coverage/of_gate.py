"""How often the gate rejects what it should not, and how often a plan keeps its promise."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from frequencies import Cell, Table
from over_retrainings import WEIGHTS, Generator, Recipe, churn_between

from unchurn.comparison.noise.floor import floor_of
from unchurn.core.arrays import Array
from unchurn.gate.sample_size import Noise, excess_power, plan_excess, plan_loss
from unchurn.metrics.intervals import LEVEL, paired_difference, proportion
from unchurn.metrics.over_runs import prediction_interval

SLICES = 20
LIMITS = ("max_excess_churn", "max_churn", "max_bad_flips", "max_accuracy_loss", "max_slice_churn",
          "max_slice_bad_flips", "max_slice_accuracy_loss")  # fmt: skip


def gate(rng: Generator, draws: int) -> Table:
    """The candidate is another retraining; limits are what is true of it and base."""
    rows = []
    for n, shift in ((1000, 0.02), (4000, 0.0), (4000, 0.05), (20_000, 0.02)):
        recipe = Recipe(0.2, shift)
        drawn = (Drawn.of(rng, n, recipe) for _ in range(draws))
        rejected = np.stack([one.rejections() for one in drawn]).mean(axis=0)
        cells = [Cell(float(rate), draws, 0, 0.05) for rate in rejected]
        rows.append(([f"{n:,}", f"{shift:g}", f"{n // SLICES}"], cells))
    return Table("gate", ("n", "sd of the shift", "a slice's n", *LIMITS), rows)


@dataclass(frozen=True)
class Drawn:
    """Which examples base, candidate and three retrainings are right about; slices are by lot."""

    right: Array
    truths: tuple[float, ...]  # in the order of LIMITS: one limit is true of all slices

    @classmethod
    def of(cls, rng: Generator, n: int, recipe: Recipe) -> Drawn:
        """Draw them, and compute what is true of this base and this candidate."""
        shifts = recipe.shifts(rng, 5)
        base, candidate = recipe.chance(shifts[0]), recipe.chance(shifts[1])
        churn = churn_between(base, candidate)
        bad = float((base * (1 - candidate) @ WEIGHTS).mean())
        loss = float(((base - candidate) @ WEIGHTS).mean())
        right = recipe.right(rng, *recipe.examples(rng, n), shifts)
        return cls(right, (0.0, churn, bad, loss, churn, bad, loss))

    def rejections(self) -> Array:
        """Which limits reject: as the gate has it, each interval computed but once for all draws.

        tests/docs/test_coverage.py holds it against the gate itself, which takes far longer.
        """
        base, candidate = self.right[0], self.right[1]
        moved = self.right[1:] != base
        floor = floor_of(moved[1:], moved[0])
        bad, good = base & ~candidate, candidate & ~base
        _, churn, bads, loss, *_ = self.truths
        level = 1 - (1 - LEVEL) / SLICES
        found = [floor.excess.low > 0 and not floor.is_another_retraining]
        for parts, at in ((1, LEVEL), (SLICES, level)):
            size = len(base) // parts
            # examples are in no order, so every SLICES-th is a slice by lot
            flips, lost, won = (m.reshape(size, parts).sum(axis=0) for m in (moved[0], bad, good))
            found += [
                any(_rate(int(k), size, at).low > churn for k in flips),
                any(_rate(int(k), size, at).low > bads for k in lost),
                any(
                    -_change(int(g), int(b), size, at).high > loss
                    for g, b in zip(won, lost, strict=True)
                ),
            ]
        return np.array(found)


_rate, _change = lru_cache(None)(proportion), lru_cache(None)(paired_difference)


def losses(rng: Generator, draws: int) -> Table:
    """Power at the size that `plan_loss` names."""
    rows = []
    for loss, churn, power in ((0.005, 0.03, 0.8), (0.01, 0.03, 0.8), (0.01, 0.03, 0.9),
                               (0.02, 0.1, 0.8), (0.02, 0.03, 0.8)):  # fmt: skip
        plan = plan_loss(loss, churn, power)
        seen = ruled_out = 0
        shares = [(churn - loss) / 2, (churn + loss) / 2, 1 - churn]
        for good, lost, _ in rng.multinomial(plan.to_see, shares, draws):
            seen += paired_difference(good, lost, plan.to_see).high < 0
        shares = [churn / 2, churn / 2, 1 - churn]
        for good, lost, _ in rng.multinomial(plan.to_rule_out, shares, draws):
            ruled_out += -paired_difference(good, lost, plan.to_rule_out).low <= loss
        texts = [f"{loss:.1%}", f"{churn:.0%}", f"{power:.0%}"]
        cells = [Cell(seen / draws, draws), Cell(ruled_out / draws, draws)]
        texts += [f"{plan.to_see:,} / {plan.to_rule_out:,}"]
        rows.append((texts, cells))
    head = ("loss", "churn", "power asked for", "rows to see / rule out", "seen, %", "ruled out, %")
    return Table("losses", head, rows)


def pilots(rng: Generator, draws: int) -> Table:
    """Plans whose sd was measured by a pilot: how many keep their promise, with it or its limit."""
    churn, relative = 0.03, 0.05
    truth = Noise(churn, relative * churn)
    rows = []
    for n, runs in itertools.product((2000, 20_000), (2, 4, 9)):
        found = []
        for _ in range(draws):
            own = churn * np.exp(rng.normal(0, relative, (runs, 1)))
            found.append(Noise.of(rng.random((runs, n), np.float32) < own))
        cells = [Cell(float(np.mean([noise.sd == 0 for noise in found])), draws)]
        for is_limit in (False, True):
            powers = [_power(noise, truth, is_limit=is_limit) for noise in found]
            none = float(np.mean([power is None for power in powers]))
            short = float(np.mean([power is not None and power < 0.75 for power in powers]))
            cells += [Cell(rate, draws) for rate in (1 - none - short, short, none)]
        rows.append(([f"{n:,}", str(runs + 1)], cells))
    ways = [f"{by}: {what}" for by in ("by the sd", "by its limit")
            for what in ("enough, %", "too few, %", "none enough, %")]  # fmt: skip
    head = ("pilot's rows", "its runs", "sd of 0, %", *ways)
    return Table("pilots", head, rows)


def _power(noise: Noise, truth: Noise, *, is_limit: bool) -> float | None:
    """The power that a pilot's plan truly has, by its sd or the limit; None if none is enough."""
    excess, retrains = 0.015, 5
    by = Noise(noise.churn, noise.planned_sd if is_limit else noise.sd, noise.doubt)
    (size,) = plan_excess(excess, by, 0.8, [retrains]).sizes
    return None if size.rows is None else excess_power(excess, truth, size.rows, retrains)


def excesses(rng: Generator, draws: int) -> Table:
    """Power at the size that `plan_excess` names; churn varies between runs as a log-normal."""
    rows: list[tuple[list[str], list[Cell]]] = []
    for churn, excess, relative, power in ((0.03, 0.01, 0.03, 0.8), (0.03, 0.015, 0.05, 0.8),
                                           (0.1, 0.02, 0.02, 0.9)):  # fmt: skip
        noise = Noise(churn, relative * churn)
        for size in plan_excess(excess, noise, power).sizes:
            texts = [f"{churn:.0%}", f"{excess:.1%}", f"{relative:.0%}", f"{power:.0%}",
                     str(size.retrains)]  # fmt: skip
            if size.rows is None:
                rows.append(([*texts, f"none enough, at best {size.at_best:.0%}", "–"], []))
                continue
            own = np.exp(rng.normal(0, relative, (draws, size.retrains + 1)))
            own[:, 0] *= (churn + excess) / churn
            found = rng.binomial(size.rows, churn * own) / size.rows
            seen = np.mean([one[0] > prediction_interval(one[1:], size.rows)[1] for one in found])
            rows.append(([*texts, f"{size.rows:,}"], [Cell(float(seen), draws)]))
    head = ("churn", "excess", "sd, of churn", "power asked for", "retrainings", "rows",
            "seen, %")  # fmt: skip
    return Table("excesses", head, rows)
