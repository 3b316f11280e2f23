"""`make_learner`: make a learner from a user's model, given by name or as an object."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from unchurn.core.errors import InputError, unknown
from unchurn.training.learners.base import Learner
from unchurn.training.learners.function import FunctionLearner
from unchurn.training.learners.torch import NETWORKS, TorchLearner
from unchurn.training.loop.config import Training

# Libraries that can be given by name alone.
SHORT = {"lightgbm": "lightgbm:LGBMClassifier", "xgboost": "xgboost:XGBClassifier"}


OF_NETWORKS = ("epochs", "batch_size", "learning_rate", "device")  # options that only they have


def make_learner(
    model: Any = "mlp", training: Training | None = None, arguments: dict[str, Any] | None = None
) -> Learner:
    """Make the learner for a model: a network, an estimator or a training function.

    Parameters
    ----------
    model
        The name of a built-in network, "lightgbm" or "xgboost"; `module:name` of your own code; or
        an object. A class or an object with `fit` is an estimator with scikit-learn's interface. A
        function of three arguments, (X, targets, seed), is a training function. A function of two,
        (shape, n_classes), makes a torch network.
    training
        How networks are trained; other models ignore it.
    arguments
        Keyword arguments for the class or function: parameters of an estimator or a network.
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
    """The object that `module:name` names."""
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
    """An estimator with its parameters set; an estimator object is cloned, not changed."""
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
    """Whether it is a network rather than a function that makes one; does not import torch."""
    return hasattr(found, "state_dict") and not inspect.isclass(found)


def _n_required(function: Any, given: dict[str, Any]) -> int:
    """Number of required arguments of a function that are not given yet."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 0
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in kinds and p.default is p.empty]
    return sum(p.name not in given for p in needed)


def check_for_networks(given: Sequence[str], learner: Learner) -> None:
    """Refuse options of networks if the model is not a network: they would be ignored."""
    if given and not isinstance(learner, TorchLearner):
        raise InputError(
            f"{given[0]} is for networks, and {learner.label} is none: leave it out, or give "
            "model_args= what it takes by name"
        )
