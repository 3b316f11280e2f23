"""Decide whether the new model may follow the base: only if that costs no accuracy on newer rows.

If the rule that labels follow has changed since the base was trained, the base's answers are
outdated, and a model that follows them is less accurate. Only rows that the base has not seen show
this. So some of them are held out, recipes are trained without them, and measured on them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unchurn.core.arrays import Array, Float32, Float64, IntArray
from unchurn.methods import make_method
from unchurn.methods.reference import Mask
from unchurn.report.numbers import points
from unchurn.training.estimator.budget import Tried, earlier, hold_out, measured
from unchurn.training.learners.base import RemarkWarning, levels_up

FEWEST = 40  # rows to measure on: fewer are too few to compare accuracies


@dataclass(frozen=True, kw_only=True)
class Newer:
    """Newer rows, held out of a trial's training, with their labels and the base's answers."""

    kept: IntArray
    held: IntArray
    labels: Array
    weights: Float64  # 1 on average
    before: Callable[[IntArray], Array]  # the base's answers for some rows


def newer_rows(
    labels: Array,
    before: Callable[[IntArray], Array],
    *,
    seed: int,
    saw: Mask | None,
    weights: Float32 | None = None,
) -> Newer | None:
    """Hold out up to a fifth of the rows, all new to the base; None if too few are.

    If it is unknown which rows the base has seen, rows are assumed to be in order of time. If they
    are not, a changed rule goes unnoticed, and no other harm is done.
    """
    n = len(labels)
    numbers = np.unique(labels, return_inverse=True)[1]
    known = earlier(numbers) if saw is None else saw
    usable = ~known if weights is None else ~known & (weights > 0)
    if usable.sum() < 2 * FEWEST:
        return None
    kept, held = hold_out(numbers, seed, known, weights)
    held = held[np.isin(numbers[held], numbers[kept])]  # a class must be in the rows to train on
    if len(held) < FEWEST:
        return None
    kept = np.setdiff1d(np.arange(n), held)
    own = np.ones(n) if weights is None else weights.astype(np.float64)
    own = own[held] / own[held].mean()
    return Newer(kept=kept, held=held, labels=labels[held], weights=own, before=before)


def as_accurate(
    recipes: Sequence[str],
    newer: Newer,
    predict: Callable[[str, Newer], Array],
    *,
    must_not_break_more: bool = False,
) -> tuple[str, tuple[Tried, ...]]:
    """The first recipe that is as accurate as the last one, plain retraining; and all measures.

    `predict` trains a recipe on the kept rows and returns its answers for the held-out ones. With
    `must_not_break_more`, a recipe with more bad flips than plain retraining's is passed over, too.
    """
    plain = predict(recipes[-1], newer)
    first = predict(recipes[0], newer)
    before = newer.before(newer.held)  # asked only now: the fits have checked the rows

    def measure(recipe: str, said: Array) -> Tried:
        return measured(make_method(recipe), said, newer.labels, before, newer.weights)

    tried = [measure(recipes[-1], plain)]
    breaking = []  # as accurate as plain retraining, with more bad flips
    for recipe in recipes[:-1]:
        said = first if recipe == recipes[0] else predict(recipe, newer)
        tried.append(measure(recipe, said))
        if _is_less_accurate(said, plain, newer):
            continue
        if not must_not_break_more or tried[-1].bad_flips <= tried[0].bad_flips:
            return recipe, tuple(tried)
        breaking.append(tried[-1])
    _warn_of_plain(recipes[-1], tried, breaking, len(newer.held))
    return recipes[-1], tuple(tried)


def _warn_of_plain(recipe: str, tried: Sequence[Tried], breaking: Sequence[Tried], n: int) -> None:
    """Say why no model that follows the base's answers was taken."""
    plain, *others = tried
    if breaking:
        more = min(one.bad_flips for one in breaking) - plain.bad_flips
        why = (
            f"on {n:,} newer rows, a model that follows the base's answers breaks "
            f"{points(more).removeprefix('+')} more of them"
        )
    else:
        lost = plain.accuracy - max(one.accuracy for one in others)
        why = (
            f"on {n:,} newer rows, a model that follows the base's answers is "
            f"{points(lost).removeprefix('+')} less accurate: they may be outdated, memorised, or "
            "those of a weaker model"
        )
    warnings.warn(
        f"{why}; retrained by {recipe}, which does not follow them",
        RemarkWarning,
        stacklevel=levels_up(),
    )


def _is_less_accurate(answers: Array, plain: Array, newer: Newer) -> bool:
    """Whether answers are less accurate than plain retraining's, by more than a standard error."""
    right, plain_right = answers == newer.labels, plain == newer.labels
    lost = newer.weights * (plain_right.astype(np.float64) - right)
    return _is_beyond_error(lost.sum(), (lost**2).sum())


def _is_beyond_error(lost: float, variance: float) -> bool:
    """Whether a loss of rows exceeds its standard error, by McNemar's test as Edwards corrects it.

    A stricter test would not notice a loss of half a point on 5,000 rows.
    """
    return lost - 1 > math.sqrt(max(variance, 0))


def warn_if_unordered(labels: Array, newer: Newer, plain: Tried) -> None:
    """Warn if the base seems to have been trained on the last rows, too.

    In that case the trial could not have noticed a changed rule. The sign is that the base is as
    accurate on the last rows as on earlier ones, and also more accurate on them than plain
    retraining, which was measured without them. The first alone proves nothing: a base that has
    memorised nothing is equally accurate on all rows.
    """
    known = earlier(np.unique(labels, return_inverse=True)[1])
    right = newer.before(np.arange(len(labels))) == labels
    old, new = right[known], right[~known]
    deviation = math.sqrt(old.var() / len(old) + new.var() / len(new))
    n, before = len(newer.held), np.average(right[newer.held], weights=newer.weights)
    lost = before - plain.accuracy  # by plain retraining
    is_lost = _is_beyond_error(n * lost, n * (2 * plain.bad_flips - lost))
    if old.mean() - new.mean() <= deviation and is_lost:
        warnings.warn(
            "the last rows were used to check whether the base's answers are outdated, as if rows "
            "were in order of time, but the base seems to have been trained on these, too: give "
            "base_saw, true for rows that it was trained on",
            RemarkWarning,
            stacklevel=levels_up(),
        )
