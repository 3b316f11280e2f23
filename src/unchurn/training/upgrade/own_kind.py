"""`OwnKind`: train a successor of the base's own kind, an estimator with scikit-learn's interface.

The successor is an ordinary fitted estimator: labels lean towards the base's answers by weighted
rows, so that nothing of unchurn is left in the model that is saved and served.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from unchurn.core.arrays import Array, Float32, IntArray
from unchurn.core.errors import InputError, naming, unknown
from unchurn.core.frames import is_frame, is_sparse, n_rows, stacked, taken
from unchurn.methods import Method, make_method
from unchurn.methods.cost import serving_cost
from unchurn.metrics.budget import Budget
from unchurn.training.estimator.budget import Tried, choose_setting
from unchurn.training.estimator.checks import as_seed
from unchurn.training.estimator.examples import Rows
from unchurn.training.estimator.frames import prepared
from unchurn.training.estimator.references import (
    Model,
    answers_by_name,
    is_ours,
    warn_of_unknown,
)
from unchurn.training.learners.base import RemarkWarning, levels_up
from unchurn.training.learners.class_weights import with_class_weights
from unchurn.training.learners.function import FittedFunction, FunctionLearner, Predict
from unchurn.training.learners.own_code import called
from unchurn.training.learners.sklearn import seed_parameters, softens, unfitted, why_not
from unchurn.training.learners.soft_targets import fit_to_targets, why_no_weights
from unchurn.training.upgrade.options import check_options
from unchurn.training.upgrade.recipes import OWN_KIND
from unchurn.training.upgrade.rows import UpgradeRows

# The least share of a class in a row's targets, beside the largest share, that becomes a weighted
# row. Smaller ones multiply rows tenfold for ten classes, and trees that ask for 20 rows in a leaf,
# whatever their weights, would be content with 2: LightGBM broke more and was less accurate.
LEAST_SHARE = 0.01
OPTIONS = ("max_bad_flips", "max_churn", "random_state")  # of `upgrade`, for estimators


def estimator_to_train(base: Model, model: Any | None) -> Any | None:
    """The estimator that is given, or the base's kind, not fitted; None if it is to be a network.

    >>> from sklearn.linear_model import LogisticRegression
    >>> base = LogisticRegression(C=0.5).fit([[0], [1]], [0, 1])
    >>> estimator_to_train(base, None), estimator_to_train(base, "mlp")
    (LogisticRegression(C=0.5), None)
    """
    if model is None and not is_ours(base):
        model = base.estimator if isinstance(base, FrozenEstimator) else base
        # Of a search, such as GridSearchCV, the model that it found: a search over weighted copies
        # of rows would compare settings by how well they know the copies.
        model = getattr(model, "best_estimator_", model)
    if not all(hasattr(model, name) for name in ("fit", "get_params")):
        return None
    if not hasattr(model, "predict_proba"):
        name = getattr(model, "__name__", type(model).__name__)
        raise InputError(f"{name} has no predict_proba: churn methods need probabilities")
    if not isinstance(model, type):
        return unfitted(model)
    try:
        return model()
    except TypeError as error:
        raise InputError(f"{model.__name__} needs arguments: give an object of it") from error


def check_columns(x: Any, test: Any, unlabelled: Any) -> None:
    """Refuse rows that an estimator would only refuse when it has been trained."""
    if unlabelled is not None and _kind(unlabelled) != _kind(x):
        raise InputError(
            f"X_unlabelled is a {_kind(unlabelled)}, and X a {_kind(x)}: give both as one kind"
        )
    prepared(x, None)  # a LazyFrame, or two columns of one name
    for what, rows in (("X_test", test), ("X_unlabelled", unlabelled)):
        with naming(what):
            prepared(rows, None)
            for name in x.columns if is_frame(x) and is_frame(rows) else ():
                if name not in rows.columns:
                    raise InputError(unknown("column", str(name), map(str, rows.columns)))


def _kind(x: Any) -> str:
    """What rows are given as, of the kinds that cannot be stacked on each other."""
    if is_sparse(x):
        return "sparse matrix"
    return f"{type(x).__module__.partition('.')[0]} frame" if is_frame(x) else "plain array"


def warn_of_no_weights(estimator: Any) -> None:
    """Say why the successor does not lean on the base, and what can be done."""
    warnings.warn(
        f"labels cannot lean towards the base's answers, by weighted rows: "
        f"{why_no_weights(estimator)}. It is retrained plainly. unchurn.Stay(base, new) keeps the "
        "base's answers where it is surer; model='mlp' trains a network",
        RemarkWarning,
        stacklevel=levels_up(),
    )


@dataclass(frozen=True, kw_only=True)
class OwnKind:
    """Trains clones of an estimator as successors of a base."""

    estimator: Any
    base: Model
    classes: Array
    budget: Budget
    random_state: Any  # None leaves the estimator's own

    @classmethod
    def after(
        cls, base: Model, budget: Budget, options: dict[str, Any], estimator: Any, classes: Array
    ) -> OwnKind:
        """Clones of an estimator; options that only networks have are refused."""
        if odd := [name for name in options if name not in OPTIONS]:
            check_options(odd)
            raise InputError(
                f"{odd[0]} is for networks, and the successor is a {type(estimator).__name__}, as "
                "the base is or as model= says: give model='mlp' for a network"
            )
        seed = options.get("random_state")
        return cls(
            estimator=estimator, base=base, classes=classes, budget=budget, random_state=seed
        )

    @property
    def can_lean(self) -> bool:
        """Whether labels can lean towards the base's answers: by the weights of rows."""
        return why_no_weights(self.estimator) is None

    def usual(self, x: Any, classes: Array) -> str:
        """The recipe for estimators, whatever their inputs."""
        return OWN_KIND

    def fit(
        self, how: str | Method, rows: UpgradeRows, unlabelled: Any | None
    ) -> tuple[Any, Method, tuple[Tried, ...]]:
        """Give a fitted estimator, its method, and what a budget tried.

        The base's probabilities are the targets of unlabelled rows.
        """
        method = self._checked(make_method(how))
        x, numbers = rows.x, self._numbers(rows.labels)
        asks = method.reference() is not None or bool(self.budget.given)
        examples = Rows(
            inputs=_row_numbers(0, len(numbers)),
            numbers=numbers,
            n_classes=len(self.classes),
            weights=rows.weights,
            said=answers_by_name(self.base, x, self.classes) if asks else None,
            saw=rows.saw,
        )
        if unlabelled is not None:
            told = answers_by_name(self.base, unlabelled, self.classes)
            warn_of_unknown(told, self.classes)
            x = stacked(x, unlabelled)
            examples = examples.with_unlabelled(_row_numbers(len(numbers), n_rows(x)), told)
        fitting = _Fitting(self, x, as_seed(self.random_state))
        tried: tuple[Tried, ...] = ()
        if self.budget.given:
            method, tried = choose_setting(
                how, self.budget, rows=examples, n_labelled=len(numbers), fitting=fitting
            )
        (fitted,) = fitting.fit([method], examples)
        return fitted.predictors[0].model, method, tried  # type: ignore[attr-defined]

    def _checked(self, method: Method) -> Method:
        """A method that an estimator can be trained by, and that serves one model."""
        if reason := why_not(self.estimator, method):
            raise InputError(f"{method} {reason}: give model='mlp' to train a network by it")
        if serving_cost(method) > 1 or len(method.candidates()) > 1:
            raise InputError(
                f"{method} takes several models, and the successor is one "
                f"{type(self.estimator).__name__}: unchurn.Stay(base, new) serves two"
            )
        return method

    def _numbers(self, labels: Array) -> IntArray:
        places = {label: place for place, label in enumerate(self.classes.tolist())}
        values, which = np.unique(labels, return_inverse=True)
        return np.array([places[value] for value in values.tolist()])[which]


def _row_numbers(first: int, end: int) -> IntArray:
    """Rows by their numbers, (n, 1): learners take arrays, and X may be a frame."""
    return np.arange(first, end)[:, None]


@dataclass(frozen=True)
class _Fitting:
    """Fits methods to rows of X, of which only the numbers are known outside."""

    kind: OwnKind
    x: Any
    seed: int

    def n_steps(self, n: int) -> int | None:
        """Estimators have none."""
        return None

    def fit(self, methods: Sequence[Method], rows: Rows) -> list[FittedFunction]:
        """Train each method by itself."""
        learner, labels = FunctionLearner(self.train), self.kind.classes[rows.numbers]
        by_class = with_class_weights(self.kind.estimator, labels, rows.weights)
        return [
            learner.fit(
                method,
                rows.inputs,
                rows.numbers,
                rows.n_classes,
                seed=self.seed,
                run=0,
                weights=by_class if softens(method) or rows.weights is not None else None,
                reference=rows.reference,
                targets=rows.targets,
            )
            for method in methods
        ]

    def train(self, numbers: Array, targets: Float32, seed: int) -> Predict:
        """Fit a clone to these rows; the caller's seed is its own, as only one is fitted."""
        model = unfitted(self.kind.estimator)
        with called(type(model).__name__):
            if self.kind.random_state is not None:
                model.set_params(**seed_parameters(model, self.seed))
            is_enough = targets >= LEAST_SHARE * targets.max(axis=1, keepdims=True)
            shares = np.where(is_enough, targets, np.float32(0))
            fit_to_targets(model, taken(self.x, numbers[:, 0]), shares, self.kind.classes)
        return _Predict(model, self.x, self.kind.classes)


@dataclass(frozen=True)
class _Predict:
    """A fitted estimator's probabilities of rows of X, by their numbers."""

    model: Any
    x: Any
    classes: Array

    def __call__(self, numbers: Array) -> Float32:
        own = self.model.classes_.tolist()
        places = [self.classes.tolist().index(label) for label in own]
        found = np.zeros((len(numbers), len(self.classes)), np.float32)
        found[:, places] = self.model.predict_proba(taken(self.x, numbers[:, 0]))
        return found
