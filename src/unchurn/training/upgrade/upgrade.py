"""`upgrade`: train a replacement for the model in production, and compare the two."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.comparison.compare import compare
from unchurn.comparison.result import Comparison
from unchurn.core.arrays import Array
from unchurn.core.errors import InputError, naming
from unchurn.datasets.base import Dataset
from unchurn.methods import Method, make_method
from unchurn.methods.registry import FROM_WEIGHTS, written
from unchurn.metrics.budget import Budget
from unchurn.training.estimator.budget import Tried
from unchurn.training.estimator.checks import as_seed
from unchurn.training.estimator.frames import learn_preparation
from unchurn.training.estimator.inputs import check_more_rows
from unchurn.training.estimator.references import (
    Model,
    alike,
    check_in_common,
    in_terms_of,
    is_ours,
    needs_weights,
    open_model,
    predictions,
)
from unchurn.training.learners.base import RemarkWarning, levels_up
from unchurn.training.upgrade.networks import Networks
from unchurn.training.upgrade.own_kind import (
    OwnKind,
    check_columns,
    estimator_to_train,
    warn_of_no_weights,
)
from unchurn.training.upgrade.recipes import (
    INSTEAD,
    WITHIN_BUDGET,
    Fitted,
    on_network,
    without_loss,
)
from unchurn.training.upgrade.rows import UpgradeRows, given_rows, without_target

MOST_NAMED = 5  # classes in a warning
# What a base must have, and what to do if it has not.
NEEDED = {
    "predict": "",
    "predict_proba": ": fit it within CalibratedClassifierCV",
    "classes_": ": is it fitted?",
}


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
        The weight of each row of X, in training and in what is measured on held-out rows; all equal
        if not given.
    method
        How to train. By default, labels are anchored to the base's answers; an estimator gets them
        as weighted rows. Of networks, weights are averaged, too. If the base is the same network
        for the same classes, training also starts from its weights, and keeps what the base's
        method changed of the network, such as `smelu`; if not, it takes twice as many epochs,
        because anchored training progresses more slowly (docs/upgrade.md).

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
        X, y = without_target(X, target, y)  # noqa: N806
    preparation = None
    if estimator is not None:
        check_columns(X, X_test, X_unlabelled)
    elif not isinstance(X, Dataset):
        # Learned from all rows, so that trials on some of them know every column with gaps. A
        # StableClassifier as base prepares frames itself, and the new model must do the same.
        is_started = method is not None and needs_weights(make_method(method))
        preparation = learn_preparation(X, base, needs_weights=is_started)
        # Raises here rather than after hours of training.
        check_more_rows({"X_test": X_test, "X_unlabelled": X_unlabelled}, X, preparation)
    train, (x_test, labels) = given_rows(X, y, X_test, y_test, saw=base_saw, weights=sample_weight)
    classes = train.classes
    _check_classes(classes, np.asarray(base.classes_), np.unique(labels))

    def answers(x: Any) -> Array:
        return predictions(base, x, classes, "the base")

    budget = Budget(**{name: options.get(name) for name in ("max_bad_flips", "max_churn")})
    kind: OwnKind | Networks
    if estimator is None:
        kind = Networks.after(base, budget, options, preparation)
    else:
        kind = OwnKind.after(base, budget, options, estimator, classes)
    # Before any training: can the base read these rows? One of ours reads what a network does.
    if estimator is not None or (X_test is not None and not is_ours(base)):
        with naming("X" if X_test is None else "X_test"):
            answers(x_test)
    given_method = method

    def fit(how: str | Method, rows: UpgradeRows) -> Fitted:
        looks = make_method(how).reference() is not None
        # A recipe that was chosen because the base is outdated must not take labels from it either.
        return kind.fit(how, rows, X_unlabelled if looks or how is given_method else None)

    tried: tuple[Tried, ...] = ()
    if method is None:
        usual = kind.usual(X, classes)
        network = ""
        if usual == FROM_WEIGHTS and isinstance(kind, Networks):
            network = kind.network  # what the base's weights need
        if not kind.can_lean:
            method = INSTEAD[usual][-1]
            warn_of_no_weights(estimator)
        elif budget.given:
            method = on_network(WITHIN_BUDGET[usual], network)
        else:
            seed = as_seed(options.get("random_state"))
            method, tried = without_loss(usual, network, train, answers, fit, seed)
    new, trained_by, tried_within = fit(method, train)
    before, after = answers(x_test), predictions(new, x_test, classes, type(new).__name__)
    return Upgraded(
        model=new,
        method=written(trained_by) if budget.given else method,
        comparison=compare(before, after, labels=in_terms_of(classes, labels, np.unique(labels))),
        tried=tried_within or tried,
    )


def _check_base(base: Model) -> None:
    """Refuse a base that cannot predict, before anything is trained."""
    from sklearn.base import is_regressor

    for name, how in NEEDED.items():
        if not hasattr(base, name):
            if hasattr(base, "__sklearn_tags__") and is_regressor(base):
                raise InputError(f"base must be a classifier: {type(base).__name__} is a regressor")
            raise InputError(
                "base must be a fitted classifier with predict, predict_proba and classes_: "
                f"{type(base).__name__} has no {name}{how}"
            )


def _check_classes(classes: Array, of_base: Array, of_test: Array) -> None:
    """Refuse classes that have nothing in common; warn of those that a model cannot answer."""
    check_in_common("the base knows", of_base, classes)
    check_in_common("y_test has", of_test, classes)
    own, new = alike(of_base, classes)
    if lost := [
        label for label, name in zip(of_base.tolist(), own, strict=True) if name not in new
    ]:
        warnings.warn(
            f"the base knows {_some(lost)}, of which there are no rows to train on: the new model "
            "cannot answer that",
            RemarkWarning,
            stacklevel=levels_up(),
        )
    names = [alike(of_test, known) for known in (classes, of_base)]
    unknown = [
        label
        for place, label in enumerate(of_test.tolist())
        if not any(own[place] in theirs for own, theirs in names)
    ]
    if unknown:
        warnings.warn(
            f"y_test has {_some(unknown)}, which neither y nor the "
            "base has: both models have these rows wrong",
            RemarkWarning,
            stacklevel=levels_up(),
        )


def _some(labels: list[Any]) -> str:
    """The first labels, as a user writes them."""
    more = f" and {len(labels) - MOST_NAMED} more" if len(labels) > MOST_NAMED else ""
    return f"{', '.join(map(repr, labels[:MOST_NAMED]))}{more}"
