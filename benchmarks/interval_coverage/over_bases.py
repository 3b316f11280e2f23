"""Two ways to train a successor, held against older models: differences of bad flips."""

from __future__ import annotations

import itertools

import numpy as np
from frequencies import Table, coverage
from over_retrainings import NO_RUN_EFFECT, Generator, Recipe

from unchurn.core.arrays import Array
from unchurn.metrics.over_runs import rate_difference

BASES, PER_BASE = (2, 3, 5), 3


def bases(rng: Generator, draws: int) -> dict[str, Table]:
    """`rate_difference` of bad flips, runs of one base being left out together.

    Every run shares half of its shift's variance with the other runs of its base, in both settings.
    The difference of all draws' mean is taken for the truth: it has none of their chance.
    """
    head = ("n", "sd of the shift", *(f"{number} bases" for number in BASES))
    table = Table("rate_difference", head, [])
    for n, shift in itertools.product((1000, 4000), (0.0, 0.05, 0.15)):
        found = np.stack([_one_study(rng, n, shift) for _ in range(draws)])  # (draws, bases, 3)
        truth = found[:, -1, 0].mean()
        rates = ((found[:, :, 1] <= truth) & (truth <= found[:, :, 2])).mean(axis=0)
        why = NO_RUN_EFFECT if shift == 0 else ""
        cells = [
            coverage(float(rate), draws, number > 2, why)
            for number, rate in zip(BASES, rates, strict=True)
        ]
        table.rows.append(([f"{n:,}", f"{shift:g}"], cells))
    return {"rate_difference": table}


def _one_study(rng: Generator, n: int, shift: float) -> Array:
    """Value and interval for each number of bases, (bases, 3)."""
    first, second = Recipe(0.2, shift), Recipe(0.12, shift)
    margins, of = first.examples(rng, n)
    most = max(BASES)
    was_right = first.right(rng, margins, of, first.shifts(rng, most))
    common = np.repeat(first.shifts(rng, most), PER_BASE, axis=0)
    before = np.repeat(was_right, PER_BASE, axis=0)
    flips = []
    for recipe in (first, second):
        own = recipe.shifts(rng, most * PER_BASE)
        flips.append(before & ~recipe.right(rng, margins, of, (common + own) / np.sqrt(2)))
    found = []
    for number in BASES:
        runs = number * PER_BASE
        groups = np.repeat(np.arange(number), PER_BASE)
        interval = rate_difference(flips[0][:runs], flips[1][:runs], groups)
        found.append([interval.value, interval.low, interval.high])
    return np.array(found)
