"""Doubt the row order of files paired by position if their predictions agree only by chance.

Two classifiers of one task in the same row order agree beyond chance, with two exceptions, which
are not doubted: a model that nearly always predicts the same class, which leaves nothing to agree
on, and weak models that are both right beyond chance, as true labels show.
"""

from __future__ import annotations

import numpy as np

from unchurn.comparison.inputs.classes import UNLABELLED, count
from unchurn.comparison.inputs.pairs import Paired
from unchurn.comparison.read import Inputs
from unchurn.core.arrays import IntArray
from unchurn.report.numbers import percent

ENOUGH = 50  # fewest rows for which agreement can be told from chance
HARDLY = 0.2  # share of the way from chance to the largest agreement that the classes' shares allow
BY_CHANCE = 2.5  # standard errors within which nearly every shuffled file lies
SURELY_LESS = 0.4  # share of the same way; agreement plus two standard errors must be below
TINY = 1e-9  # for sums of floats
STRIKING = 3  # standard errors of agreement with labels that are no accident


def doubt_order(given: Inputs) -> str | None:
    """Warn that rows paired by position hardly agree; None if there is no reason for doubt."""
    paired = given.paired
    if given.base.has_ids or given.candidate.has_ids or paired.n < ENOUGH:
        return None
    n_classes = len(paired.classes)
    agree, chance, most = _agreement(paired.base, paired.candidate, n_classes)
    room = most - chance
    error = float(np.sqrt(agree * (1 - agree) / paired.n))
    beyond = agree - chance
    # Far less agreement than by chance is no shuffled file either: perhaps classes are swapped.
    is_chance = abs(beyond) < min(HARDLY * room, BY_CHANCE * error)
    if not is_chance or beyond + 2 * error >= SURELY_LESS * room:
        return None
    if _are_both_right_beyond_chance(paired):
        return None
    return (
        f"rows are paired by their place and hardly agree: {percent(agree)} of them, "
        f"{percent(chance)} by chance. Are both in one order? A column of ids in both would tell"
    )


def _agreement(one: IntArray, two: IntArray, n_classes: int) -> tuple[float, float, float]:
    """Shares of rows on which two agree: measured, by chance, and the most possible.

    Chance and the most possible follow from each side's shares of the classes.
    """
    ours, theirs = (count(side, n_classes) / len(side) for side in (one, two))
    return float((one == two).mean()), float(ours @ theirs), float(np.minimum(ours, theirs).sum())


def _are_both_right_beyond_chance(paired: Paired) -> bool:
    """Whether each model agrees with the true labels beyond chance, and so is in their order.

    Labels of a single class cannot tell, and count as agreement.
    """
    if paired.labels is None:
        return False
    known = paired.labels != UNLABELLED
    for model in (paired.base, paired.candidate):
        right, chance, most = _agreement(model[known], paired.labels[known], len(paired.classes))
        if most - chance < TINY:
            continue
        if right - chance <= STRIKING * np.sqrt(chance * (1 - chance) / known.sum()):
            return False
    return True
