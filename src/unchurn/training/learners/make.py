"""`make_learner`: a learner from what a user gives, by name or as an object."""

from __future__ import annotations

import importlib
import inspect
import sys
from functools import partial
from typing import Any

from unchurn.core.errors import InputError, unknown
from unchurn.training.learners.base import Learner
from unchurn.training.learners.function import FunctionLearner
from unchurn.training.learners.torch import NETWORKS, TorchLearner
from unchurn.training.loop.config import Training

# Libraries whose name says enough.
SHORT = {"lightgbm": "lightgbm:LGBMClassifier", "xgboost": "xgboost:XGBClassifier"}


def make_learner(
    model: Any = "mlp", training: Training | None = None, arguments: dict[str, Any] | None = None
) -> Learner:
    """A learner from a model: a network, an estimator or a training function.

    Parameters
    ----------
    model
        The name of a built-in network; `module:name`; or an object. A class or an object with `fit`
        is an estimator of scikit-learn's kind; a function of three arguments, (X, targets, seed),
        trains; a function of two, (shape, n_classes), makes a torch network.
    training
        Of networks.
    arguments
        What the class or function is given by name: parameters of an estimator or a network.
    """
    training = training or Training()
    arguments = arguments or {}
    found = SHORT.get(model, model) if isinstance(model, str) else model
    if isinstance(found, str):
        if found in NETWORKS:
            return TorchLearner(found, training, arguments)
        if ":" not in found:
            there = unknown("model", found, [*NETWORKS, *SHORT])
            raise InputError(f"{there}, or module:name of your own")
        found = _imported(found)
    if hasattr(found, "fit"):
        from unchurn.training.learners.sklearn import SklearnLearner

        return SklearnLearner(_estimator(found, arguments))
    if not callable(found) or _is_module(found):
        raise InputError(
            "model must be a name, an estimator, or a function (shape, n_classes) -> "
            f"torch.nn.Module, not {type(found).__name__}"
        )
    if _n_required(found, arguments) == 3:
        return FunctionLearner(partial(found, **arguments) if arguments else found)
    return TorchLearner(found, training, arguments)


def _imported(text: str) -> Any:
    """What `module:name` names."""
    module, _, name = text.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")  # the user's own files, as with python -m
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # whatever the user's own file raises
        raise InputError(f"model {text!r}: {error}") from error
    return found


def _estimator(found: Any, arguments: dict[str, Any]) -> Any:
    """An estimator with its parameters set; one that was given stays as it was."""
    from sklearn.base import clone

    from unchurn.training.learners.sklearn import parameter_names

    try:
        if inspect.isclass(found):
            return found(**arguments)
        return clone(found).set_params(**arguments) if arguments else found
    except (TypeError, ValueError) as error:
        kind = found if inspect.isclass(found) else type(found)
        known = parameter_names(kind)
        wrong = [name for name in arguments if name not in known and "__" not in name]
        why = unknown("parameter", wrong[0], known) if wrong else error
        raise InputError(f"{kind.__name__}: {why}") from error


def _is_module(found: Any) -> bool:
    """Whether it is a network itself, not what makes one; told without importing torch."""
    return hasattr(found, "state_dict") and not inspect.isclass(found)


def _n_required(function: Any, given: dict[str, Any]) -> int:
    """How many more arguments a function cannot do without."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in kinds and p.default is p.empty]
    return sum(p.name not in given for p in needed)
