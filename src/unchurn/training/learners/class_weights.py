"""Class weights of an estimator as weights of rows, by the labels that the user gave.

For soft targets, a row is copied for each class, and an estimator would weigh every copy by its own
class. Answers of an older model, which contain its class weights, would be weighed twice, and
weights by how frequent a class is would be by how frequent its copies are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from unchurn.core.arrays import Array, Float32

# Parameters of scikit-learn, LightGBM, XGBoost and CatBoost, and their values without weights.
NEUTRAL = {
    "class_weight": None,
    "is_unbalance": False,
    "scale_pos_weight": 1,
    "class_weights": None,
    "auto_class_weights": None,
}


def class_weights(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator and its parts that weigh classes, if they do.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> class_weights(make_pipeline(LogisticRegression(class_weight="balanced")))
    {'logisticregression__class_weight': 'balanced'}
    """
    own = estimator.get_params() if hasattr(estimator, "get_params") else {}
    asked = {name: value for name, value in own.items() if _kind(name) in NEUTRAL}
    return {
        name: value  # which may be an array
        for name, value in asked.items()
        if value is not None and (np.ndim(value) or value != NEUTRAL[_kind(name)])
    }


def _kind(name: str) -> str:
    """A parameter's own name, without that of the part that has it."""
    return name.rpartition("__")[2]


def are_alike(asked: dict[str, Any]) -> bool:
    """Whether all parts of an estimator that weigh classes do so in one way."""
    return len({(_kind(name), repr(value)) for name, value in asked.items()}) < 2


def with_class_weights(estimator: Any, labels: Array, weights: Float32 | None) -> Float32 | None:
    """The weights of rows, times those that the estimator gives to the classes of these labels."""
    asked = class_weights(estimator)
    if not asked:
        return weights
    name, value = next(iter(asked.items()))
    own = np.asarray(_of_rows(_kind(name), value, labels), np.float32)
    return own if weights is None else own * weights


def _of_rows(kind: str, value: Any, labels: Array) -> Array:
    """The weight of each row's class."""
    if isinstance(value, dict):
        return np.array([value.get(label, 1) for label in labels.tolist()])
    balanced = compute_sample_weight("balanced", labels)
    classes, which, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if kind == "class_weights":  # a list
        return np.asarray(value)[which]
    if kind in ("class_weight", "auto_class_weights"):  # "balanced_subsample" and "Balanced", too
        return np.asarray(np.sqrt(balanced) if value == "SqrtBalanced" else balanced)
    if len(classes) > 2:  # the others are for two classes, and ignored for more
        return np.ones(len(labels))
    if kind == "scale_pos_weight":
        return np.where(which == 1, value, 1)
    return np.asarray(counts.max() / counts)[which]  # is_unbalance


@contextmanager
def without_class_weights(model: Any) -> Iterator[None]:
    """An estimator without its class weights while it is fitted; then it has them again."""
    asked = class_weights(model)
    if not asked:
        yield
        return
    model.set_params(**{name: NEUTRAL[_kind(name)] for name in asked})
    try:
        yield
    finally:
        model.set_params(**asked)
