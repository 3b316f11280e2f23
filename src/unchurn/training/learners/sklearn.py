"""`SklearnLearner`: train estimators with scikit-learn's interface, such as boosted trees."""

from __future__ import annotations

import inspect
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from unchurn.core.arrays import Array, Float32
from unchurn.core.errors import InputError
from unchurn.methods import Method
from unchurn.methods.base import overrides
from unchurn.training.learners.function import FunctionLearner, Predict, weighted_rows
from unchurn.training.learners.own_code import code_identity

LIKE = 0.8  # of difflib's ratio: one letter of five is another


@dataclass(frozen=True, eq=False)
class EstimatorTraining:
    """Train a clone of an estimator: on labels, or on soft targets as weighted rows."""

    estimator: Any

    def __call__(self, x: Array, targets: Float32, seed: int) -> Predict:
        """Fit on inputs laid flat; what comes back has a column for every class."""
        model = clone(self.estimator)
        model.set_params(**_run_parameters(model, seed))
        flat = x.reshape(len(x), -1)
        try:
            with _one_thread():
                if (targets.max(axis=1) == 1).all():  # no soft target: as it would be without us
                    model.fit(flat, targets.argmax(axis=1))
                else:
                    rows, labels, weights = weighted_rows(flat, targets)
                    model.fit(rows, labels, sample_weight=weights)
        except (ValueError, TypeError) as error:  # of its parameters, or of these data
            text = f"{type(model).__name__}: {error}"
            if "dataframe" in str(error):  # scikit-learn's word where columns are picked by name
                text += " It is given numbers, prepared from the table: leave that step out"
            raise InputError(text) from error
        return _Predict(model, targets.shape[1])


def _one_thread() -> threadpool_limits:
    """Hold OpenMP and BLAS to one thread: runs share the cores.

    Threads wait for the one among them that has no core, so that a fit of a fraction of a second
    takes minutes where cores are busy; and sums made by several may differ in their last bits from
    a worker's. An estimator that is told how many to take, by n_jobs, still takes them.
    """
    return threadpool_limits(1)


def _run_parameters(model: Any, seed: int) -> dict[str, Any]:
    """The seed for whatever in an estimator takes one, and one core: runs share the cores.

    LightGBM is quiet, unless it is told not to be: it has several lines to say of every run.
    """
    own, found = model.get_params(), {}
    for name, value in own.items():
        part, _, parameter = name.rpartition("__")
        if parameter == "random_state":
            found[name] = seed
        elif parameter == "n_jobs" and _takes_all_cores(own[part] if part else model, value):
            found[name] = 1
    for name, part in {"": model, **own}.items():
        before = f"{name}__" if name else ""
        if type(part).__module__.startswith("lightgbm.") and not any(
            f"{before}{word}" in own for word in ("verbose", "verbosity")
        ):
            found[f"{before}verbose"] = -1
    return found


def _takes_all_cores(estimator: Any, n_jobs: int | None) -> bool:
    """Whether an estimator would: if none are named, scikit-learn's own take one, others all."""
    if n_jobs is None:
        return not type(estimator).__module__.startswith("sklearn.")
    return n_jobs == -1


@dataclass(frozen=True, eq=False)
class _Predict:
    """Probabilities with a column for every class, also for one that training did not see."""

    model: Any
    n_classes: int

    def __call__(self, x: Array) -> Float32:
        with _one_thread():
            given = np.asarray(self.model.predict_proba(x.reshape(len(x), -1)), np.float32)
        found = np.zeros((len(x), self.n_classes), np.float32)
        found[:, np.asarray(self.model.classes_, int)] = given
        return found


class SklearnLearner(FunctionLearner):
    """An estimator with `fit` and `predict_proba`; every run trains a clone with its own seed."""

    train: EstimatorTraining

    def __init__(self, estimator: Any) -> None:
        if not (hasattr(estimator, "fit") and hasattr(estimator, "predict_proba")):
            raise InputError(
                f"{type(estimator).__name__} has no predict_proba: churn methods need probabilities"
            )
        super().__init__(EstimatorTraining(estimator))

    @property
    def label(self) -> str:
        """The estimator's class."""
        return type(self.train.estimator).__name__

    @property
    def name(self) -> str:
        """The same."""
        return self.label

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The estimator with all that it holds, own code by its content; its library's version."""
        model = [code_identity(self.train.estimator), self.versions]
        return {"model": model, "training": None}

    @property
    def versions(self) -> dict[str, str]:
        """The estimator's library."""
        library = type(self.train.estimator).__module__.partition(".")[0]
        version = _version(library)
        return {} if version is None else {library: version}

    @property
    def facts(self) -> dict[str, str]:
        """The estimator with its parameters."""
        return {"estimator": " ".join(repr(self.train.estimator).split())}

    @property
    def remark(self) -> str | None:
        """That a parameter may be misspelt, where an estimator hands on what it does not know."""
        estimator = self.train.estimator
        known = parameter_names(type(estimator))
        own = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else ()
        for name in own:
            # What is like none of them is a name of the library's own, as LightGBM's `verbosity`.
            near = () if name in known else get_close_matches(name, known, n=1, cutoff=LIKE)
            if near:
                return (
                    f"{self.label}: no parameter {name!r} (did you mean {near[0]!r}?): it is "
                    "handed on to the library, which may know it by this name"
                )
        return None

    def why_not(self, method: Method) -> str | None:
        """Soft targets are rows with weights, which the estimator must take."""
        softens = overrides(method, "targets") or overrides(method, "weights")
        if softens and not has_fit_parameter(self.train.estimator, "sample_weight"):
            return f"softens targets: {self.label}.fit takes no sample_weight"
        return super().why_not(method)


def parameter_names(kind: type) -> list[str]:
    """The parameters that an estimator's class names, or one that it is derived from does.

    >>> from sklearn.dummy import DummyClassifier
    >>> parameter_names(DummyClassifier)
    ['strategy', 'random_state', 'constant']
    """
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names: dict[str, None] = {}
    for base in kind.__mro__:
        # It may have none of its own, or be compiled and not say what it takes.
        with suppress(KeyError, TypeError, ValueError):
            _, *own = inspect.signature(vars(base)["__init__"]).parameters.values()  # but for self
            names |= dict.fromkeys(p.name for p in own if p.kind not in several)
            if inspect.Parameter.VAR_KEYWORD not in {p.kind for p in own}:
                break  # nothing is handed on
    return list(names)


@cache
def _version(library: str) -> str | None:
    """The version of an installed library; None for the user's own files."""
    from importlib.metadata import PackageNotFoundError, packages_distributions, version

    try:
        return version(packages_distributions()[library][0])
    except (KeyError, PackageNotFoundError):
        return None
