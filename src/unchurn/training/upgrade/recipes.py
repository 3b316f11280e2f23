"""The recipes of `upgrade`, and which of them is used where the user names none."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from unchurn.core.arrays import Array, IntArray
from unchurn.core.frames import taken
from unchurn.methods import Method
from unchurn.methods.registry import FROM_ANSWERS, FROM_WEIGHTS
from unchurn.training.estimator.budget import Tried
from unchurn.training.estimator.references import predictions
from unchurn.training.learners.base import RemarkWarning, levels_up
from unchurn.training.upgrade.drift_check import Newer, as_accurate, newer_rows, warn_if_unordered
from unchurn.training.upgrade.rows import UpgradeRows

OWN_KIND = "anchor(a=0.5)"  # for estimators, whatever they replace
# Recipes in the order they are tried. The first that is as accurate as plain retraining, the last,
# is used (drift_check.py): a warm start or a longer training can end up less accurate.
INSTEAD = {
    FROM_WEIGHTS: (FROM_WEIGHTS, "warm_start(a=0.5)+anchor(a=0.5)+safe_ema", "safe_ema"),
    FROM_ANSWERS: (FROM_ANSWERS, "anchor(a=0.5)+safe_ema", "safe_ema"),
    OWN_KIND: (OWN_KIND, "anchor(a=0.2)", "control"),
}
# With a budget, the search is over the anchor's strength.
WITHIN_BUDGET = {
    FROM_WEIGHTS: "weight_decay(strength=0.1)+warm_start(a=1.0)+anchor+safe_ema",
    FROM_ANSWERS: "longer(times=2)+anchor+safe_ema",
    OWN_KIND: "anchor",
}
Fitted = tuple[Any, Method, tuple[Tried, ...]]  # a model, its method, and what a budget tried


def on_network(recipe: str, network: str) -> str:
    """A recipe for a network that a part of the base's method has changed.

    >>> on_network("safe_ema", "smelu(beta=1)"), on_network("safe_ema", "")
    ('smelu(beta=1)+safe_ema', 'safe_ema')
    """
    return f"{network}+{recipe}" if network else recipe


def without_loss(
    usual: str,
    network: str,
    train: UpgradeRows,
    answers: Callable[[Any], Array],
    fit: Callable[[str, UpgradeRows], Fitted],
    seed: int,
) -> tuple[str, tuple[Tried, ...]]:
    """The recipe that follows the base most closely without losing accuracy on newer rows.

    `answers` are the base's.
    """
    recipes = tuple(on_network(recipe, network) for recipe in INSTEAD[usual])
    is_estimator = usual == OWN_KIND

    def before(rows: IntArray) -> Array:
        return _named(answers(taken(train.x, rows)))

    newer = newer_rows(
        _named(train.labels), before, seed=seed, saw=train.saw, weights=train.weights
    )
    if newer is None and not is_estimator:
        return recipes[0], ()
    if newer is None:  # unchecked, leaning costs trees of few rows more than it is worth
        warnings.warn(
            "there are too few rows that are new to the base to check whether following its "
            "answers costs accuracy: it is retrained plainly. Name a method= to follow them anyway",
            RemarkWarning,
            stacklevel=levels_up(),
        )
        return recipes[-1], ()

    def predict(recipe: str, newer: Newer) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RemarkWarning)  # shown by the final training
            model, _, _ = fit(recipe, train.take(newer.kept))
        held = taken(train.x, newer.held)
        return _named(predictions(model, held, np.unique(train.labels), type(model).__name__))

    # Soft labels can harm boosted trees on rows that they had right: there, both are asked for.
    recipe, tried = as_accurate(recipes, newer, predict, must_not_break_more=is_estimator)
    if train.saw is None and recipe != recipes[-1] and not train.is_warned:
        warn_if_unordered(_named(train.labels), newer, tried[0])
    return recipe, tried


def _named(labels: Array) -> Array:
    """Labels as text: answers are text, too, if the base knows a class that no longer exists."""
    return labels.astype(str)
