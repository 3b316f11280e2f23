"""Get a reference model's predictions for the training examples, matching classes by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, Float32, FloatArray, IntArray, as_array
from unchurn.core.class_names import AS_BITS, plain_names
from unchurn.core.errors import InputError
from unchurn.core.frames import is_frame, n_rows
from unchurn.methods.base import Method, overrides
from unchurn.methods.cost import serving_cost
from unchurn.methods.reference import Mask, Weights
from unchurn.training.estimator.scaling import scaled
from unchurn.training.learners.base import RemarkWarning, levels_up, score_distinct
from unchurn.training.learners.own_code import called

if TYPE_CHECKING:
    from unchurn.datasets.preparation import Preparation
    from unchurn.training.estimator.stable_classifier import StableClassifier
    from unchurn.training.networks.factories import Factory

NO_START = "use a method without warm_start or project"
Model = Any  # a StableClassifier, the path of one, or any model with predict_proba and classes_


@dataclass(frozen=True, kw_only=True)
class Answers:
    """A reference's predictions: logits whose softmax is its probabilities."""

    logits: Float32  # (n, L), columns in the order of the new classes
    known: Mask | None = None  # the classes that it knows; None if all
    weights: Callable[[], Weights] | None = None  # only of a single network for the same classes
    no_weights: str = ""  # why a network of ours has none that fit


def what_model_says(
    model: Model, x: Any, inputs: Array, classes: Array, preparation: Preparation | None
) -> Answers:
    """A model's predictions for examples, given as x by the user and as `inputs` after checks.

    A StableClassifier that prepares x as the new model does gets `inputs`; all others get x.
    """
    if is_ours(model):
        if is_frame(x) and _is_prepared_otherwise(model, x, inputs, preparation):
            said = answers_by_name(model, x, classes)
            return replace(said, no_weights=f"it reads X otherwise: {NO_START}")
        return _of_ours(model, inputs, classes, preparation)
    if not (hasattr(model, "predict_proba") and hasattr(model, "classes_")):
        raise InputError(
            "reference must be a fitted classifier with predict_proba and classes_, or the path of "
            f"a saved StableClassifier, not {type(model).__name__}: of other models give "
            "reference_probabilities to fit"
        )
    return answers_by_name(model, x, classes)


def answers_by_name(model: Model, x: Any, classes: Array) -> Answers:
    """The probabilities of any fitted classifier, for rows as the user gave them."""
    with called("the reference"):
        said = asked_probabilities(model, for_model(model, x), "the reference").astype(np.float32)
    return _matched(said, np.asarray(model.classes_), classes)


def needs_weights(method: Method) -> bool:
    """Whether a method's training starts from the reference's weights."""
    need = method.reference()
    return need is not None and need.weights


def for_model(model: Model, x: Any) -> Any:
    """Rows as a fitted model takes them: of a frame, the columns that it knows, in its order."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or not is_frame(x) or list(names) == list(x.columns):
        return x
    # If columns are missing, the model's own error names them.
    return x[list(names)] if set(names) <= set(x.columns) else x


def _is_prepared_otherwise(
    model: StableClassifier, x: Any, inputs: Array, preparation: Preparation | None
) -> bool:
    """Whether a reference network turns a frame into other inputs than the new model does."""
    # Models pickled before `preparation_` existed have none.
    before = getattr(model, "preparation_", None)
    if preparation is None and not has_same_order(model, x):
        return True
    return preparation != before or inputs.shape[1:] != model.shape_


def has_same_order(model: StableClassifier, x: Any) -> bool:
    """Whether a frame of plain numbers has exactly the columns of a model, in its order."""
    names = getattr(model, "feature_names_in_", None)
    return names is None or list(names) == list(x.columns)


def open_model(model: Model | None, module: str | Factory | None = None) -> Model | None:
    """Load a saved StableClassifier if a path was given; anything else as it is.

    A saved model with the user's own network is assumed to have the new model's `module`.
    """
    from unchurn.training.estimator.stable_classifier import StableClassifier

    if not isinstance(model, str | Path):
        return model
    return StableClassifier.load(model, module=module if callable(module) else None)


def is_ours(model: Model | None) -> bool:
    """Whether a model is a StableClassifier; does not import torch."""
    kinds = type(model).__mro__
    return any(kind.__module__ == "unchurn.training.estimator.stable_classifier" for kind in kinds)


def asked_probabilities(model: Model, x: Any, name: str) -> Array:
    """A fitted classifier's probabilities (n, its own classes) for rows, checked."""
    said = as_array(model.predict_proba(x), f"{name}'s probabilities")
    shape = (n_rows(x), len(model.classes_))
    if said.shape != shape or not np.isfinite(said).all():
        raise InputError(
            f"{name}'s probabilities must be finite numbers of shape {shape}, not {said.shape}"
        )
    return said


def _of_ours(
    model: StableClassifier, inputs: Array, classes: Array, preparation: Preparation | None
) -> Answers:
    """A StableClassifier's predictions; its exact logits if it has the same classes."""
    from sklearn.utils.validation import check_is_fitted  # a second to import

    check_is_fitted(model)
    if model.shape_ != inputs.shape[1:]:
        raise InputError(
            f"the reference takes inputs of {model.shape_}, not {inputs.shape[1:]}: give frames, "
            "of which it takes its own columns by name, or what it says as reference_probabilities"
        )
    # Models pickled before `preparation_` existed have none.
    if preparation is not None and getattr(model, "preparation_", None) not in (None, preparation):
        raise InputError(
            "the reference's table was prepared otherwise: load yours by "
            "preparation=reference.preparation_, or give its reference_probabilities to fit"
        )
    fitted, inputs = model.fitted_, scaled(model, inputs)
    own, new = alike(model.classes_, classes)
    if own != new:
        said = _matched(fitted.probabilities(inputs), model.classes_, classes)
        return replace(said, no_weights=f"{_differ(own, new)}: {NO_START}")
    is_asked = overrides(fitted.method, "probabilities")
    logits = log(fitted.probabilities(inputs)) if is_asked else score_distinct(fitted, inputs)
    if serving_cost(fitted.method) > 1:
        return Answers(logits=logits, no_weights=f"it is several networks: {NO_START}")
    return Answers(logits=logits, weights=fitted.weights)


def _differ(own: list[Any], new: list[Any]) -> str:
    """How a network's classes differ from the new ones, in a few words."""
    for words, ours, theirs in (("it does not know", own, new), ("y has no", new, own)):
        if lacks := [one for one in theirs if one not in ours]:
            more = " …" if len(lacks) > 1 else ""
            return f"{words} class {lacks[0]!r}{more}"
    return "its classes are in another order"


def _matched(probabilities: Float32, own: Array, classes: Array) -> Answers:
    """A model's probabilities as logits of the new classes, matched by name."""
    check_in_common("the reference knows", own, classes)
    before, now = alike(own, classes)
    places = {name: place for place, name in enumerate(before)}
    found = np.array([places.get(name, -1) for name in now])
    known = found >= 0
    said = in_places(probabilities, found)
    return Answers(logits=log(said), known=None if known.all() else known)


def warn_of_unknown(told: Answers, classes: Array) -> None:
    """Warn that a reference labels rows as other classes if it does not know theirs."""
    if told.known is not None:
        names = ", ".join(map(repr, classes[~told.known].tolist()))
        warnings.warn(
            f"the reference labels X_unlabelled and does not know {names}: rows of that class are "
            "taught as other classes, so that the new model finds it less often; leave them out if "
            "there are many",
            RemarkWarning,
            stacklevel=levels_up(),
        )


def alike(own: Array, classes: Array) -> tuple[list[Any], list[Any]]:
    """A model's classes and the new ones, converted so that the same class compares equal.

    If one has text, "1" equals 1: models of tables that were saved before labels had a type have
    text. True equals 1 if the others are 1 and 0; for -1 and 1, or 1 and 2, the meaning of True is
    unknown.
    """
    if _kind(own) == _kind(classes):
        return own.tolist(), classes.tolist()
    before, now = (list(plain_names(map(str, one.tolist()))) for one in (own, classes))
    for booleans, others in ((before, now), (now, before)):
        if set(booleans) <= {*AS_BITS} and {*AS_BITS.values()} <= set(others):
            booleans[:] = [AS_BITS[name] for name in booleans]
    return before, now


def _kind(classes: Array) -> str:
    """Whether classes are booleans, other numbers or text."""
    kind = classes.dtype.kind
    return "boolean" if kind == "b" else "text" if kind in "OUS" else "number"


def check_in_common(whose: str, own: Array, classes: Array) -> None:
    """Refuse classes that have none in common with the new ones."""
    before, now = alike(own, classes)
    if not {*before} & {*now}:
        raise InputError(f"{whose} the classes {own.tolist()}, none of {classes.tolist()}")


def predictions(model: Model, x: Any, classes: Array, name: str) -> Array:
    """A fitted model's answers (n,) for rows, converted from its own classes to the new ones."""
    with called(name):
        said = np.asarray(model.predict(for_model(model, x))).ravel()  # CatBoost's are a column
    return in_terms_of(classes, said, np.asarray(model.classes_))


def in_terms_of(classes: Array, answers: Any, own: Array) -> Array:
    """A model's answers, converted from its own classes to the new ones.

    If some answers are a class that no longer exists, all answers are text.
    """
    before, now = alike(own, classes)
    names = dict(zip(own.tolist(), before, strict=True))
    places = {name: place for place, name in enumerate(now)}
    values, which = np.unique(np.asarray(answers), return_inverse=True)
    found = [places.get(names.get(value, value), -1) for value in values.tolist()]
    if -1 not in found:
        return np.asarray(classes[found][which])
    texts = [str(value if at < 0 else classes[at]) for value, at in zip(values, found, strict=True)]
    return np.array(texts)[which]


def in_places(probabilities: FloatArray, places: IntArray) -> FloatArray:
    """Probabilities rearranged for other classes; `places` are their columns, −1 if there is none.

    The probability of classes that no longer exist is shared out among the others.
    """
    known = places >= 0
    said = np.zeros((len(probabilities), len(places)), probabilities.dtype)
    said[:, known] = probabilities[:, places[known]]
    total = said.sum(axis=1, keepdims=True)
    share = known / known.sum()
    shared = np.where(total > 0, said / np.where(total > 0, total, 1), share)
    return shared.astype(probabilities.dtype)


def log(probabilities: FloatArray) -> Float32:
    """Logits whose softmax is the probabilities; finite even for a probability of 0."""
    return np.asarray(np.log(probabilities.clip(min=np.finfo(np.float32).tiny)), np.float32)


def said_by_one(
    reference: Model | None,
    x: Any,
    inputs: Array,
    classes: Array,
    preparation: Preparation | None,
    logits: npt.ArrayLike | None,
    probabilities: npt.ArrayLike | None,
) -> Answers | None:
    """The predictions of the reference, given as a model or as an array; None if there is none."""
    if sum(g is not None for g in (reference, logits, probabilities)) > 1:
        raise InputError("give only one of reference, reference_logits and reference_probabilities")
    if reference is not None:
        return what_model_says(reference, x, inputs, classes, preparation)
    return _said_by_arrays(logits, probabilities, len(inputs), len(classes))


def _said_by_arrays(
    logits: npt.ArrayLike | None, probabilities: npt.ArrayLike | None, n: int, n_classes: int
) -> Answers | None:
    """Predictions given as (n, L) logits or probabilities, checked; None if neither is given."""
    given = logits if logits is not None else probabilities
    if given is None:
        return None
    name = "reference_logits" if logits is not None else "reference_probabilities"
    array = as_array(given, name).astype(np.float32)
    if name == "reference_logits" and array.ndim == 1 and n_classes == 2:
        array = np.stack([np.zeros_like(array), array], axis=1)  # as of our decision_function
    if array.shape != (n, n_classes) or not np.isfinite(array).all():
        shape = (n, n_classes)
        found = "some that are not finite" if array.shape == shape else f"{array.shape}"
        raise InputError(f"{name} must be finite numbers of shape {shape}, not {found}")
    if logits is not None:
        return Answers(logits=array)
    if (array < 0).any() or not np.allclose(array.sum(axis=1), 1, atol=1e-3):
        raise InputError(
            f"{name} must be 0 or more and sum to 1 in every row (within 0.001: do not round)"
        )
    return Answers(logits=log(array))
