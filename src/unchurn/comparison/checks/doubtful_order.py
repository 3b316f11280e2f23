"""Do rows that are paired by their place belong together? Models of one task agree beyond chance.

Of two files in different orders, predictions agree as often as chance has it. So do hardly any two
classifiers of one task in the same order, but for two reasons, which are told apart here: one that
predicts nearly always the same class, which leaves nothing to agree on, and weak ones of which
each is right beyond chance, as true labels show.
"""

from __future__ import annotations

import numpy as np

from unchurn.comparison.inputs.classes import UNLABELLED, count
from unchurn.comparison.inputs.pairs import Paired
from unchurn.comparison.read import Inputs
from unchurn.core.arrays import IntArray
from unchurn.report.numbers import percent

ENOUGH = 50  # rows from which agreement is told from chance
HARDLY = 0.2  # of the way from chance to the most that the classes' shares allow
BY_CHANCE = 2.5  # standard errors within which nearly every shuffled file is
SURELY_LESS = 0.4  # of that way, by two standard errors
TINY = 1e-9  # for sums of floats
STRIKING = 3  # standard errors of agreement with labels that are no accident


def doubt_order(given: Inputs) -> str | None:
    """That rows are paired by their place and hardly agree; None if nothing speaks against it."""
    paired = given.paired
    if given.base.has_ids or given.candidate.has_ids or paired.n < ENOUGH:
        return None
    n_classes = len(paired.classes)
    agree, chance, most = _agreement(paired.base, paired.candidate, n_classes)
    room = most - chance
    error = float(np.sqrt(agree * (1 - agree) / paired.n))
    beyond = agree - chance
    # Far fewer than by chance is no shuffled file either: classes may be swapped, say.
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
    """The share of rows in which two agree; by chance; the most that the classes' shares allow."""
    ours, theirs = (count(side, n_classes) / len(side) for side in (one, two))
    return float((one == two).mean()), float(ours @ theirs), float(np.minimum(ours, theirs).sum())


def _are_both_right_beyond_chance(paired: Paired) -> bool:
    """Whether each model goes with the true labels, and so with the rows of the other.

    Labels of a single class do not tell; there each errs on few rows, and rarely on the other's.
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
