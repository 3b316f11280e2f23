"""`SklearnLearner`: train estimators with scikit-learn's interface, such as boosted trees."""

from __future__ import annotations

import inspect
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from unchurn.core.arrays import Array, Float32, IntArray
from unchurn.core.errors import InputError
from unchurn.methods import Method
from unchurn.methods.base import overrides
from unchurn.training.learners.class_weights import with_class_weights
from unchurn.training.learners.function import FittedFunction, FunctionLearner, Predict
from unchurn.training.learners.own_code import code_identity
from unchurn.training.learners.soft_targets import fit_to_targets, why_no_weights

# Values of parameters, each with its other names, that a library's estimators get in a run.
UNLESS_SET: dict[str, list[tuple[tuple[str, ...], Any]]] = {
    "lightgbm": [(("verbose", "verbosity"), -1)],
    "catboost": [
        (("verbose", "verbose_eval", "logging_level", "silent"), 0),
        (("allow_writing_files",), False),
        (("thread_count",), 1),
    ],
}
SEEDS = ("random_state", "random_seed")
LIKE = 0.8  # difflib's ratio for names that are alike: about one letter in five differs


@dataclass(frozen=True, eq=False)
class EstimatorTraining:
    """Trains a clone of an estimator on labels, or on soft targets as weighted rows."""

    estimator: Any

    def __call__(self, x: Array, targets: Float32, seed: int) -> Predict:
        """Fit on flattened inputs; the result predicts a column for every class."""
        model = unfitted(self.estimator)
        model.set_params(**_run_parameters(model, seed))
        n_classes = targets.shape[1]
        try:
            with _one_thread():
                fit_to_targets(model, x.reshape(len(x), -1), targets, np.arange(n_classes))
        except InputError as error:
            if "dataframe" not in str(error):  # scikit-learn's word where columns go by name
                raise
            hint = "It is given numbers, prepared from the table: leave that step out"
            raise InputError(f"{error} {hint}") from error
        return _Predict(model, n_classes)


def unfitted(estimator: Any) -> Any:
    """A clone; CatBoost copies `cat_features`, which scikit-learn's own `clone` refuses."""
    try:
        return clone(estimator)
    except RuntimeError:
        return type(estimator)(**deepcopy(estimator.get_params(deep=False)))


def _one_thread() -> threadpool_limits:
    """Limit OpenMP and BLAS to one thread, since several runs share the cores.

    With several threads on busy cores, all of them wait for the one that has no core, and a fit of
    a fraction of a second can take minutes. Sums by several threads may also differ in their last
    bits from a worker's. An estimator with a number in `n_jobs` still uses that many.
    """
    return threadpool_limits(1)


def _run_parameters(model: Any, seed: int) -> dict[str, Any]:
    """Parameters for one run: the seed wherever one is taken, and one core, as runs share cores.

    Libraries that print or write files in every run are made quiet unless the user set that.
    """
    own, found = model.get_params(), seed_parameters(model, seed)
    for name, value in own.items():
        part, _, parameter = name.rpartition("__")
        if parameter == "n_jobs" and _takes_all_cores(own[part] if part else model, value):
            found[name] = 1
    for name, part in {"": model, **own}.items():
        before = f"{name}__" if name else ""
        library = type(part).__module__.partition(".")[0]
        for words, value in UNLESS_SET.get(library, ()):
            if not any(f"{before}{word}" in own for word in words):
                found[f"{before}{words[0]}"] = value
    return found


def seed_parameters(model: Any, seed: int) -> dict[str, Any]:
    """The seed for every parameter of an estimator and its parts that takes one.

    CatBoost, whose `get_params` has only what was set, calls it `random_seed`, too.
    """
    own = model.get_params()
    names = [name for name in own if name.rpartition("__")[2] in SEEDS]
    for name, part in {"": model, **own}.items():
        before = f"{name}__" if name else ""
        if type(part).__module__.startswith("catboost.") and f"{before}random_seed" not in own:
            names.append(f"{before}random_state")
    return dict.fromkeys(names, seed)


def _takes_all_cores(estimator: Any, n_jobs: int | None) -> bool:
    """Whether an estimator uses all cores; without `n_jobs`, only those outside scikit-learn do."""
    if n_jobs is None:
        return not type(estimator).__module__.startswith("sklearn.")
    return n_jobs == -1


@dataclass(frozen=True, eq=False)
class _Predict:
    """Predicts probabilities with a column for every class, even if training did not see it."""

    model: Any
    n_classes: int

    def __call__(self, x: Array) -> Float32:
        with _one_thread():
            given = np.asarray(self.model.predict_proba(x.reshape(len(x), -1)), np.float32)
        found = np.zeros((len(x), self.n_classes), np.float32)
        found[:, np.asarray(self.model.classes_, int)] = given
        return found


class SklearnLearner(FunctionLearner):
    """Trains an estimator with `fit` and `predict_proba`: a clone with its own seed in each run."""

    train: EstimatorTraining

    def __init__(self, estimator: Any) -> None:
        if not (hasattr(estimator, "fit") and hasattr(estimator, "predict_proba")):
            raise InputError(
                f"{type(estimator).__name__} has no predict_proba: churn methods need probabilities"
            )
        super().__init__(EstimatorTraining(estimator))

    @property
    def label(self) -> str:
        """The name of the estimator's class."""
        return type(self.train.estimator).__name__

    @property
    def name(self) -> str:
        """The name of the estimator's class, for errors."""
        return self.label

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The estimator with its parts (own code by its content), and its library's version."""
        model = [code_identity(self.train.estimator), self.versions]
        return {"model": model, "training": None}

    @property
    def versions(self) -> dict[str, str]:
        """The version of the estimator's library."""
        library = type(self.train.estimator).__module__.partition(".")[0]
        version = _version(library)
        return {} if version is None else {library: version}

    @property
    def facts(self) -> dict[str, str]:
        """The estimator with its parameters."""
        return {"estimator": " ".join(repr(self.train.estimator).split())}

    @property
    def remark(self) -> str | None:
        """A remark if a parameter that the estimator passes on unchecked may be misspelt."""
        estimator = self.train.estimator
        known = parameter_names(type(estimator))
        own = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else ()
        for name in own:
            # A name unlike all of these is probably the library's own, as LightGBM's `verbosity`.
            near = () if name in known else get_close_matches(name, known, n=1, cutoff=LIKE)
            if near:
                return (
                    f"{self.label}: no parameter {name!r} (did you mean {near[0]!r}?): it is "
                    "handed on to the library, which may know it by this name"
                )
        return None

    def fit(
        self,
        method: Method,
        x: Float32,
        y: IntArray,
        *arguments: Any,
        weights: Float32 | None = None,
        **options: Any,
    ) -> FittedFunction:
        """Train one run; for soft targets, the estimator's class weights become weights of rows."""
        if softens(method) or weights is not None:
            weights = with_class_weights(self.train.estimator, y, weights)
        return super().fit(method, x, y, *arguments, weights=weights, **options)

    def why_not(self, method: Method, shape: tuple[int, ...], n_classes: int) -> str | None:
        """Why not: soft targets become weighted rows, and the estimator must accept weights."""
        return why_not(self.train.estimator, method)


def why_not(estimator: Any, method: Method) -> str | None:
    """Why an estimator cannot be trained by a method; None if it can."""
    if softens(method) and (reason := why_no_weights(estimator)):
        return f"softens targets: {reason}"
    return None if method.changes == "targets" else "changes more than the targets"


def softens(method: Method) -> bool:
    """Whether a method changes targets or weights, so that rows are copied for several classes."""
    return overrides(method, "targets") or overrides(method, "weights")


def parameter_names(kind: type) -> list[str]:
    """The parameters that an estimator's class, or one that it passes others on to, names.

    >>> from sklearn.dummy import DummyClassifier
    >>> parameter_names(DummyClassifier)
    ['strategy', 'random_state', 'constant']
    """
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names: dict[str, None] = {}
    for base in kind.__mro__:
        # A class may have no __init__ of its own, or be compiled and have no signature.
        with suppress(KeyError, TypeError, ValueError):
            _, *own = inspect.signature(vars(base)["__init__"]).parameters.values()  # but for self
            names |= dict.fromkeys(p.name for p in own if p.kind not in several)
            if inspect.Parameter.VAR_KEYWORD not in {p.kind for p in own}:
                break  # nothing is passed on to a base class
    return list(names)


@cache
def _version(library: str) -> str | None:
    """The version of an installed library; None for the user's own files."""
    from importlib.metadata import PackageNotFoundError, packages_distributions, version

    try:
        return version(packages_distributions()[library][0])
    except (KeyError, PackageNotFoundError):
        return None
