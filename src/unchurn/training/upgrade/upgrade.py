"""`upgrade`: train the model that is to replace the one in production, and compare the two."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.comparison.compare import compare
from unchurn.comparison.result import Comparison
from unchurn.core.arrays import Array, IntArray
from unchurn.core.errors import InputError
from unchurn.core.frames import is_frame
from unchurn.datasets.base import Dataset
from unchurn.datasets.preparation import Preparation
from unchurn.methods import Method, make_method
from unchurn.methods.cost import serving_cost
from unchurn.methods.registry import written
from unchurn.training.estimator.budget import Tried
from unchurn.training.estimator.checks import as_seed
from unchurn.training.estimator.frames import learn_preparation, prepared
from unchurn.training.estimator.references import (
    Model,
    alike,
    check_in_common,
    for_model,
    has_same_order,
    in_terms_of,
    is_ours,
    needs_weights,
    open_model,
)
from unchurn.training.estimator.stable_classifier import StableClassifier
from unchurn.training.learners.base import RemarkWarning
from unchurn.training.upgrade.drift_check import Newer, as_accurate, newer_rows, warn_if_unordered
from unchurn.training.upgrade.rows import UpgradeRows, of_dataset, of_rows, taken, without_target

# From the weights of a base that is the same network for the same classes; else without them.
FROM_WEIGHTS = "weight_decay+warm_start+anchor(a=0.5)+safe_ema"
FROM_ANSWERS = "longer(times=2)+anchor(a=0.5)+safe_ema"
# What is taken instead where that is less accurate than plain retraining, the last (lean.py): what
# starts where the base ended, or trains for longer, can end behind what does not.
INSTEAD = {
    FROM_WEIGHTS: (FROM_WEIGHTS, "warm_start(a=0.5)+anchor(a=0.5)+safe_ema", "safe_ema"),
    FROM_ANSWERS: (FROM_ANSWERS, "anchor(a=0.5)+safe_ema", "safe_ema"),
}
# With a budget, how much to anchor is what is searched for.
WITHIN_BUDGET = {
    FROM_WEIGHTS: "weight_decay(strength=0.1)+warm_start(a=1.0)+anchor+safe_ema",
    FROM_ANSWERS: "longer(times=2)+anchor+safe_ema",
}
MOST_NAMED = 5  # classes in a warning
KEPT = ("module", "epochs", "batch_size", "learning_rate")  # of a base of ours


@dataclass(frozen=True, kw_only=True)
class Upgraded:
    """The new model, how it was trained, and what it changes on rows it has not seen."""

    model: StableClassifier = field(repr=False)  # with its base, it fills a screen
    method: str | Method  # as one writes it; of one that was given, as it was
    comparison: Comparison


def upgrade(
    base: Model,
    X: Any,  # noqa: N803 (scikit-learn's)
    y: npt.ArrayLike | None = None,
    *,
    target: str | None = None,
    X_test: npt.ArrayLike | None = None,  # noqa: N803
    y_test: npt.ArrayLike | None = None,
    X_unlabelled: npt.ArrayLike | None = None,  # noqa: N803
    base_saw: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    method: str | Method | None = None,
    **options: Any,
) -> Upgraded:
    """Train a successor of the model in production that breaks little of what it has right.

    Parameters
    ----------
    base
        The model in production: a StableClassifier, the path of a saved one, or anything fitted
        with `predict`, `predict_proba` and `classes_`.
    X, y
        All rows to train on, old and new, and their labels, in their order of time if it is known.
        Or a `Dataset`. Or a frame as the base takes it, with y or with the column `target` that has
        the labels: the new model's inputs are prepared as those of a base of ours are, else as
        `load_table` does, text and gaps too. The base is given all of the frame; what cannot be a
        feature, as a date, the new model does without, and a warning names it.
    target
        The column of the labels, where X is a frame.
    X_test, y_test
        Rows to compare the two models on, best such that neither has seen; of a dataset its test
        part, and if not given a quarter of the rows, of those that the base has not seen.
    X_unlabelled
        More rows to train on, with what the base says of them.
    base_saw
        True for each row of X that the base was trained on. Bad flips are then counted on others:
        of what it knows by heart the base has too much right.
    sample_weight
        Of each row of X; all equal if not given.
    method
        How to train; if not given, averaged weights anchored to the base, which training also
        starts from where the base is the same network for the same classes; where it is not,
        training takes twice as long, as anchored it gets on more slowly (docs/upgrade.md). Of 200
        rows to train on and more it is tried first whether that is as accurate as plain retraining,
        without up to a fifth of the rows that the base has not seen, and measured on these. Where
        it is not, training starts half of the way from the base, or takes no longer; where the rule
        has moved since, so that this does not help either, the model is retrained plainly, without
        `X_unlabelled`, and a warning says so. `model.tried_` has what was measured. If `base_saw`
        is not given, the last rows are taken for those that the base has not seen.
    options
        Of `StableClassifier`; if not given, those of a base that is one. With a budget,
        `max_bad_flips` or `max_churn`, the method's settings are tried on a part of the rows to
        train on, of the default how much it is anchored, and the most accurate that keeps it is
        taken: `model.method_`, and `model.tried_` has what was measured.

    Returns
    -------
    Upgraded
        `model`, and `comparison`: `upgraded.comparison.gate(policy)` decides on it.
    """
    base = open_model(base, options.get("module"))
    _check_base(base)
    if target is not None:
        if not is_frame(X):
            raise InputError(
                f"target= is a column of a frame, and X is {type(X).__name__}: a file is read "
                "before, as by pandas.read_csv"
            )
        X, y = without_target(X, target, y)  # noqa: N806
    preparation = None
    if isinstance(X, Dataset):
        if any(given is not None for given in (y, X_test, y_test, base_saw)):
            raise InputError("a dataset has labels and a test part of its own: give X and y")
        train, (x_test, labels) = of_dataset(X, sample_weight)
        classes = X.labels[np.unique(X.y_train)]  # in the data's order: 2 before 10
    else:
        # Of all rows, so that trials on some of them know every gap; a base of ours prepares
        # frames itself, and so must its successor.
        is_started = method is not None and needs_weights(make_method(method))
        preparation = learn_preparation(X, base, needs_weights=is_started)
        train, (x_test, labels) = of_rows(X, y, X_test, y_test, saw=base_saw, weights=sample_weight)
        classes = np.unique(train.labels)
        for rows in (x_test, X_unlabelled):
            prepared(rows, preparation)  # refused here, not when hours have been spent
    own_classes, true_classes = np.asarray(base.classes_), np.unique(labels)
    check_in_common("the base knows", own_classes, classes)
    check_in_common("y_test has", true_classes, classes)
    _warn_of_unknown(true_classes, classes, own_classes)

    def answers(x: Any) -> Array:
        return in_terms_of(classes, base.predict(for_model(base, x)), own_classes)

    own = {name: getattr(base, name) for name in KEPT} if is_ours(base) else {}
    options = {**own, **options}
    can_start = (
        is_ours(base)
        and _is_same_network(base, classes, options)
        and (isinstance(X, Dataset) or _are_same_inputs(base, X, preparation))
    )
    has_budget = any(options.get(name) is not None for name in ("max_bad_flips", "max_churn"))
    tried: tuple[Tried, ...] = ()
    given_method = method

    def fitted(how: str | Method, rows: UpgradeRows) -> StableClassifier:
        looks = make_method(how).reference() is not None
        # What was chosen so as not to lean on the base does not take labels from it, either.
        more = X_unlabelled if looks or how is given_method else None
        is_used = looks or more is not None or has_budget
        model = StableClassifier(method=how, reference=base if is_used else None, **options)
        return model.fit(
            *rows.examples,
            rows.weights,
            X_unlabelled=more,
            reference_saw=rows.saw,
            preparation=preparation,
        )

    if method is None:
        usual = FROM_WEIGHTS if can_start else FROM_ANSWERS
        method = WITHIN_BUDGET[usual] if has_budget else usual
        if not has_budget:
            seed = as_seed(options.get("random_state"))
            method, tried = _leaning(
                INSTEAD[usual], train, answers, fitted, seed, is_warned=X_test is None
            )
    model = fitted(method, train)
    model.tried_ = model.tried_ or tried
    before, truth = answers(x_test), in_terms_of(classes, labels, true_classes)
    return Upgraded(
        model=model,
        method=written(model.method_) if has_budget else method,
        comparison=compare(before, model.predict(x_test), labels=truth),
    )


def _leaning(
    recipes: tuple[str, ...],
    train: UpgradeRows,
    answers: Callable[[Any], Array],
    fitted: Callable[[str, UpgradeRows], StableClassifier],
    seed: int,
    *,
    is_warned: bool,
) -> tuple[str, tuple[Tried, ...]]:
    """The recipe that leans on the base as far as costs no accuracy on newer rows.

    `is_warned`: that it is not known which rows the base has seen was said already.
    """

    def before(rows: IntArray) -> Array:
        return _named(answers(taken(train.x, rows)))

    newer = newer_rows(_named(train.labels), before, seed=seed, saw=train.saw)
    if newer is None:
        return recipes[0], ()

    def predict(recipe: str, newer: Newer) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RemarkWarning)  # said when it is trained for good
            model = fitted(recipe, train.take(newer.kept))
        return _named(model.predict(taken(train.x, newer.held)))

    recipe, tried = as_accurate(recipes, newer, predict)
    if train.saw is None and recipe != recipes[-1] and not is_warned:
        warn_if_unordered(_named(train.labels), newer, tried[0])
    return recipe, tried


def _named(labels: Array) -> Array:
    """Labels as text, which answers are where the base knows a class that there is no more."""
    return labels.astype(str)


def _check_base(base: Model) -> None:
    """Refuse what cannot answer, before anything is trained."""
    if not all(hasattr(base, name) for name in ("predict", "predict_proba", "classes_")):
        raise InputError(
            "base must be fitted and have predict, predict_proba and classes_, not "
            f"{type(base).__name__}"
        )


def _warn_of_unknown(true: Array, *known: Array) -> None:
    """Say that neither model can have some rows to test on right."""
    names = [alike(true, classes) for classes in known]
    unknown = [
        label
        for place, label in enumerate(true.tolist())
        if not any(own[place] in theirs for own, theirs in names)
    ]
    if unknown:
        warnings.warn(
            f"y_test has {', '.join(map(repr, unknown[:MOST_NAMED]))}, which neither y nor the "
            "base has: both models have these rows wrong",
            RemarkWarning,
            stacklevel=3,
        )


def _are_same_inputs(base: StableClassifier, x: Any, preparation: Preparation | None) -> bool:
    """Whether the new model learns from what the base did."""
    if not is_frame(x):
        return True  # of arrays, another shape is refused
    if preparation is not None:
        return bool(preparation == getattr(base, "preparation_", None))
    return bool(base.shape_ == (len(x.columns),)) and has_same_order(base, x)


def _is_same_network(base: StableClassifier, classes: Array, options: dict[str, Any]) -> bool:
    """Whether training can start from the base's weights."""
    is_one = serving_cost(base.fitted_.method) == 1
    own, new = alike(base.classes_, classes)
    return is_one and own == new and options.get("module") == base.module
