"""Whether a successor leans on the base: where that costs no accuracy on newer rows.

Where the rule itself has moved since the base was trained, its answers are outdated, and a model
that leans on them lags behind. That shows on rows that the base has not seen, and on no others: so
recipes are tried without some of these, and measured on them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unchurn.core.arrays import Array, IntArray
from unchurn.methods import make_method
from unchurn.methods.reference import Mask
from unchurn.report.numbers import points
from unchurn.training.estimator.budget import Tried, earlier, hold_out, measured
from unchurn.training.learners.base import RemarkWarning

FEWEST = 40  # rows to measure on: fewer say nothing of accuracy


@dataclass(frozen=True, kw_only=True)
class Newer:
    """Rows that are held out of what is trained on, their labels, and what asks the base."""

    kept: IntArray
    held: IntArray
    labels: Array
    before: Callable[[IntArray], Array]


def newer_rows(
    labels: Array, before: Callable[[IntArray], Array], *, seed: int, saw: Mask | None
) -> Newer | None:
    """Up to a fifth of the rows, of those that the base has not seen; None if there are too few.

    If nothing is known of it, rows are taken to stand in their order of time. Where they do not,
    nothing is seen of a rule that has moved, and no harm is done.
    """
    n = len(labels)
    numbers = np.unique(labels, return_inverse=True)[1]
    known = earlier(numbers) if saw is None else saw
    if (~known).sum() < 2 * FEWEST:
        return None
    kept, held = hold_out(numbers, seed, known)
    held = held[np.isin(numbers[held], numbers[kept])]  # a class that is gone cannot be learnt
    if len(held) < FEWEST:
        return None
    kept = np.setdiff1d(np.arange(n), held)
    return Newer(kept=kept, held=held, labels=labels[held], before=before)


def as_accurate(
    recipes: Sequence[str], newer: Newer, predict: Callable[[str, Newer], Array]
) -> tuple[str, tuple[Tried, ...]]:
    """The first recipe that is as accurate as the last, which is plain retraining.

    `predict` trains a recipe on the rows that are kept and gives its answers on the others.
    """
    answers = {recipes[-1]: predict(recipes[-1], newer)}
    for recipe in recipes[:-1]:
        answers[recipe] = predict(recipe, newer)
        if not _is_less_accurate(answers[recipe], answers[recipes[-1]], newer.labels):
            break
    else:
        recipe = recipes[-1]
    before = newer.before(newer.held)  # asked last: the fits have checked the rows
    tried = tuple(
        measured(make_method(one), said, newer.labels, before) for one, said in answers.items()
    )
    if recipe == recipes[-1]:
        lost = tried[0].accuracy - max(one.accuracy for one in tried[1:])
        warnings.warn(
            f"the base's answers look outdated, or learned by heart: on {len(newer.held):,} newer "
            f"rows, leaning on them has {points(lost).removeprefix('+')} less right; retrained by "
            f"{recipe}, which does not",
            RemarkWarning,
            stacklevel=4,
        )
    return recipe, tried


def _is_less_accurate(answers: Array, plain: Array, labels: Array) -> bool:
    """By more than one standard error, as McNemar with Edwards' correction has it.

    A stricter test would let through what costs half a point of 5,000 rows.
    """
    right, plain_right = answers == labels, plain == labels
    return _is_more(int((plain_right & ~right).sum()), int((right & ~plain_right).sum()))


def _is_more(lost: int, gained: int) -> bool:
    return lost - gained - 1 > math.sqrt(lost + gained)


def warn_if_unordered(labels: Array, newer: Newer, plain: Tried) -> None:
    """Say that the base may have been trained on the last rows, too.

    Then nothing was seen of a rule that has moved. It shows where the base knows them as well as
    those before, and better than plain retraining does, which was measured without them. A base
    that has learned nothing by heart knows all rows equally well: neither alone tells anything.
    """
    known = earlier(np.unique(labels, return_inverse=True)[1])
    right = newer.before(np.arange(len(labels))) == labels
    old, new = right[known], right[~known]
    deviation = math.sqrt(old.var() / len(old) + new.var() / len(new))
    n = len(newer.held)
    lost = round(plain.bad_flips * n)
    gained = round(plain.accuracy * n) + lost - int(right[newer.held].sum())
    if old.mean() - new.mean() <= deviation and _is_more(lost, gained):
        warnings.warn(
            "whether the base's answers are outdated was tried on the last rows, as if rows stood "
            "in their order of time, but it seems to have been trained on these, too: give "
            "base_saw, true for rows that it was trained on",
            RemarkWarning,
            stacklevel=4,
        )
