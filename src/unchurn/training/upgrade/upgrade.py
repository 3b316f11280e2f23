"""`upgrade`: train a replacement for the model in production, and compare the two."""

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
from unchurn.core.frames import is_frame, taken
from unchurn.datasets.base import Dataset
from unchurn.datasets.preparation import Preparation
from unchurn.methods import Method, make_method
from unchurn.methods.cost import serving_cost
from unchurn.methods.registry import written
from unchurn.metrics.budget import Budget
from unchurn.training.estimator.budget import Tried
from unchurn.training.estimator.checks import as_seed
from unchurn.training.estimator.frames import learn_preparation, prepared
from unchurn.training.estimator.references import (
    Model,
    alike,
    check_in_common,
    has_same_order,
    in_terms_of,
    is_ours,
    needs_weights,
    open_model,
    predictions,
)
from unchurn.training.estimator.stable_classifier import StableClassifier
from unchurn.training.learners.base import RemarkWarning
from unchurn.training.upgrade.drift_check import Newer, as_accurate, newer_rows, warn_if_unordered
from unchurn.training.upgrade.networks import Networks
from unchurn.training.upgrade.own_kind import (
    OwnKind,
    check_columns,
    check_options,
    estimator_to_train,
    warn_of_no_weights,
)
from unchurn.training.upgrade.rows import UpgradeRows, of_dataset, of_rows, without_target

# The first starts from the weights of a base that is the same network for the same classes, the
# second is for networks after any other base, and the third for estimators, whatever they replace.
FROM_WEIGHTS = "weight_decay+warm_start+anchor(a=0.5)+safe_ema"
FROM_ANSWERS = "longer(times=2)+anchor(a=0.5)+safe_ema"
OWN_KIND = "anchor(a=0.5)"
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
MOST_NAMED = 5  # classes in a warning
KEPT = ("module", "epochs", "batch_size", "learning_rate")  # of a base of ours


@dataclass(frozen=True, kw_only=True)
class Upgraded:
    """What `upgrade` returns: the new model, its method, and a comparison with the base."""

    model: Any = field(repr=False)  # a StableClassifier, which fills a screen, or an estimator
    method: str | Method  # a given method as it was given, else as text
    comparison: Comparison  # on rows that the new model has not seen
    # What was measured of recipes or settings on held-out rows.
    tried: tuple[Tried, ...] = field(default=(), repr=False)


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
    model: Any | None = None,
    **options: Any,
) -> Upgraded:
    """Train a replacement for the model in production that breaks few of its right answers.

    Parameters
    ----------
    base
        The model in production: a StableClassifier, the path of a saved one, or any fitted
        classifier with `predict`, `predict_proba` and `classes_`.
    X, y
        All rows to train on, old and new, and their labels; in order of time if you know it. Or a
        `Dataset`. Or a frame that the base can read, with y or with `target`. An estimator is
        fitted to the frame as it is. A network's inputs are prepared as the base prepares them if
        it is a StableClassifier, otherwise as `load_table` prepares a table, including text and
        gaps; columns that cannot be features, such as dates, are left out with a warning.
    target
        The column of the frame X that holds the labels.
    X_test, y_test
        Rows to compare the two models on, best rows that neither model was trained on. If not
        given: the test part of a `Dataset`; otherwise a quarter of the rows that the base has not
        seen, which the new model is then not trained on.
    X_unlabelled
        More rows to train on. The base's probabilities are their targets.
    base_saw
        True for each row of X that the base was trained on. Bad flips are then counted on the other
        rows, because the base gets too many of its own training rows right. If not given, the last
        two fifths of the rows of each class are taken to be new to the base.
    sample_weight
        The weight of each row of X; all equal if not given.
    method
        How to train. By default, labels are anchored to the base's answers; an estimator gets them
        as weighted rows. Of networks, weights are averaged, too. If the base is the same network
        for the same classes, training also starts from its weights; if not, it takes twice as many
        epochs, because anchored training progresses more slowly (docs/upgrade.md).

        With 200 or more rows, at least 80 of them new to the base, a trial first checks that this
        is as accurate as plain retraining: it holds out up to a fifth of the rows, all new to the
        base, and measures on them. If it is less accurate, the next recipe starts only half of the
        way from the base's weights, trains for the usual number of epochs, or anchors less. If that
        does not help either, the rule that labels follow has probably changed since the base was
        trained. The model is then retrained plainly, without `X_unlabelled`, and a warning says so.
        With fewer rows, networks are trained as above, and estimators plainly.
    model
        What to train: an estimator with scikit-learn's interface, or a network as
        `StableClassifier(module=…)` takes it. If not given, a model of the base's own kind: a clone
        of an estimator (of GridSearchCV and its like, of the estimator that it found), otherwise a
        network.
    options
        Parameters of `StableClassifier`, for networks. If the base is one, `epochs`, `batch_size`
        and `learning_rate` default to the base's. For estimators, only `random_state`, in place of
        the estimator's own, and a budget. With a budget, `max_bad_flips` or `max_churn`, the
        settings of the method are tried on a part of the training rows (for the default method, the
        strengths of the anchor), and the most accurate that keeps the budget is used.

    Returns
    -------
    Upgraded
        The new `model`, a StableClassifier or a fitted estimator; its `method`; what was `tried`
        before; and a `comparison` with the base: `upgraded.comparison.gate(policy)` decides whether
        to release the model.
    """
    model = options.pop("module", None) if model is None else model
    base = open_model(base, model)
    _check_base(base)
    estimator = estimator_to_train(base, model)
    if estimator is None and model is not None:
        options["module"] = model
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
        # Learned from all rows, so that trials on some of them know every column with gaps. A
        # StableClassifier as base prepares frames itself, and the new model must do the same.
        is_started = method is not None and needs_weights(make_method(method))
        if estimator is None:
            preparation = learn_preparation(X, base, needs_weights=is_started)
        else:
            check_columns(X, X_test, X_unlabelled)
        train, (x_test, labels) = of_rows(X, y, X_test, y_test, saw=base_saw, weights=sample_weight)
        classes = np.unique(train.labels)
        for rows in (x_test, X_unlabelled):
            prepared(rows, preparation)  # raises here rather than after hours of training
    own_classes, true_classes = np.asarray(base.classes_), np.unique(labels)
    check_in_common("the base knows", own_classes, classes)
    check_in_common("y_test has", true_classes, classes)
    _warn_of_unknown(true_classes, classes, own_classes)

    def answers(x: Any) -> Array:
        return predictions(base, x, classes, "the base")

    budget = Budget(**{name: options.get(name) for name in ("max_bad_flips", "max_churn")})
    kind, usual = _way_to_train(base, estimator, X, classes, budget, preparation, options)
    if estimator is not None:
        answers(x_test)  # a base that cannot read these rows says so before any training
    given_method = method

    def fitted(how: str | Method, rows: UpgradeRows) -> tuple[Any, Method, tuple[Tried, ...]]:
        looks = make_method(how).reference() is not None
        # A recipe that was chosen because the base is outdated must not take labels from it either.
        return kind.fit(how, rows, X_unlabelled if looks or how is given_method else None)

    tried: tuple[Tried, ...] = ()
    if method is None and not kind.can_lean:
        method = INSTEAD[usual][-1]
        warn_of_no_weights(estimator)
    elif method is None and budget.given:
        method = WITHIN_BUDGET[usual]
    elif method is None:
        seed = as_seed(options.get("random_state"))
        method, tried = _leaning(
            INSTEAD[usual],
            train,
            answers,
            fitted,
            seed,
            is_warned=X_test is None,
            is_estimator=estimator is not None,
        )
    new, trained_by, tried_within = fitted(method, train)
    before, after = answers(x_test), predictions(new, x_test, classes, type(new).__name__)
    truth = in_terms_of(classes, labels, true_classes)
    return Upgraded(
        model=new,
        method=written(trained_by) if budget.given else method,
        comparison=compare(before, after, labels=truth),
        tried=tried_within or tried,
    )


def _way_to_train(
    base: Model,
    estimator: Any | None,
    x: Any,
    classes: Array,
    budget: Budget,
    preparation: Preparation | None,
    options: dict[str, Any],
) -> tuple[OwnKind | Networks, str]:
    """How the successor is trained: an estimator or a network, and its usual recipe."""
    if estimator is not None:
        check_options(estimator, options)
        seed = options.get("random_state")
        kind = OwnKind(
            estimator=estimator, base=base, classes=classes, budget=budget, random_state=seed
        )
        return kind, OWN_KIND
    own = {name: getattr(base, name) for name in KEPT} if is_ours(base) else {}
    options = {**own, **options}
    can_start = (
        is_ours(base)
        and _is_same_network(base, classes, options)
        and (isinstance(x, Dataset) or _are_same_inputs(base, x, preparation))
    )
    networks = Networks(base=base, budget=budget, options=options, preparation=preparation)
    return networks, FROM_WEIGHTS if can_start else FROM_ANSWERS


def _leaning(
    recipes: tuple[str, ...],
    train: UpgradeRows,
    answers: Callable[[Any], Array],
    fitted: Callable[[str, UpgradeRows], tuple[Any, Method, tuple[Tried, ...]]],
    seed: int,
    *,
    is_warned: bool,
    is_estimator: bool,
) -> tuple[str, tuple[Tried, ...]]:
    """The recipe that follows the base most closely without losing accuracy on newer rows.

    `is_warned`: the user has been warned already that it is unknown which rows the base has seen.
    """

    def before(rows: IntArray) -> Array:
        return _named(answers(taken(train.x, rows)))

    newer = newer_rows(_named(train.labels), before, seed=seed, saw=train.saw)
    if newer is None:  # unchecked, leaning costs trees of few rows more than it is worth
        return recipes[-1 if is_estimator else 0], ()

    def predict(recipe: str, newer: Newer) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RemarkWarning)  # shown by the final training
            model, _, _ = fitted(recipe, train.take(newer.kept))
        held = taken(train.x, newer.held)
        return _named(predictions(model, held, np.unique(train.labels), type(model).__name__))

    # Soft labels can harm boosted trees on rows that they had right: there, both are asked for.
    recipe, tried = as_accurate(recipes, newer, predict, must_not_break_more=is_estimator)
    if train.saw is None and recipe != recipes[-1] and not is_warned:
        warn_if_unordered(_named(train.labels), newer, tried[0])
    return recipe, tried


def _named(labels: Array) -> Array:
    """Labels as text: answers are text, too, if the base knows a class that no longer exists."""
    return labels.astype(str)


def _check_base(base: Model) -> None:
    """Refuse a base that cannot predict, before anything is trained."""
    if not all(hasattr(base, name) for name in ("predict", "predict_proba", "classes_")):
        raise InputError(
            "base must be fitted and have predict, predict_proba and classes_, not "
            f"{type(base).__name__}"
        )


def _warn_of_unknown(true: Array, *known: Array) -> None:
    """Warn of test rows whose class neither model knows."""
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
    """Whether the new model has the same inputs as the base."""
    if not is_frame(x):
        return True  # arrays of another shape are refused elsewhere
    if preparation is not None:
        return bool(preparation == getattr(base, "preparation_", None))
    return bool(base.shape_ == (len(x.columns),)) and has_same_order(base, x)


def _is_same_network(base: StableClassifier, classes: Array, options: dict[str, Any]) -> bool:
    """Whether training can start from the base's weights."""
    is_one = serving_cost(base.fitted_.method) == 1
    own, new = alike(base.classes_, classes)
    return is_one and own == new and options.get("module") == base.module
