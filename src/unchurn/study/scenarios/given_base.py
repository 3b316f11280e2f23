"""`GivenBase`: predictions of a base that the user gives as a model, a file, a frame or an array.

Rows are matched by id or by position in the table, classes by name. The identity of a base is its
content, wherever it came from.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn.core.arrays import Array, Float32, FloatArray, IntArray
from unchurn.core.errors import InputError
from unchurn.core.tables import TextForm, check_ending
from unchurn.datasets.base import Dataset
from unchurn.methods.cost import serving_cost
from unchurn.methods.reference import Weights
from unchurn.study.design.parts import Mask, Parts
from unchurn.study.scenarios.base_answers import KINDS, as_classes, notes_on_classes, read_told
from unchurn.study.scenarios.base_rows import Named
from unchurn.training.estimator.references import (
    asked_probabilities,
    in_places,
    is_ours,
    log,
    what_model_says,
)

if TYPE_CHECKING:
    from unchurn.training.estimator.stable_classifier import StableClassifier

MODEL = ".safetensors"  # suffix of a saved StableClassifier


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenBase:
    """A base's logits of the training examples, and its probabilities and classes by part."""

    logits: Float32
    probabilities: dict[str, Float32]
    predictions: dict[str, IntArray]
    known: Mask | None  # the classes that it knows; None if all
    weights: Weights | None = None  # of a network that takes the same inputs
    no_weights: str = ""  # why there are none
    notes: tuple[str, ...] = ()  # how rows and classes were matched

    @cached_property
    def digest(self) -> str:
        """SHA-256 of logits, probabilities, weights and known classes."""
        digest = hashlib.sha256()
        named: dict[str, Array] = {"logits": self.logits}
        named |= {f"part {part}": said for part, said in self.probabilities.items()}
        named |= {f"weights {name}": value for name, value in (self.weights or {}).items()}
        if self.known is not None:
            named["known"] = self.known
        for name, array in sorted(named.items()):
            digest.update(f"{name}{array.dtype.name}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
        return digest.hexdigest()


def read_base(
    base: Any, data: Dataset, parts: Parts, by: Named, form: TextForm | None
) -> GivenBase:
    """Read a base's predictions for all parts, from a path, fitted model, frame or array."""
    base = open_base(base)
    if hasattr(base, "predict_proba"):
        return _of_model(base, data, parts)  # nothing is joined
    told = read_told(base, data, by, form)
    given = _in_parts(
        lambda part: told.said[parts.rows[part]],
        told.places,
        parts,
        no_weights="only what the base says is known",
    )
    return replace(given, notes=told.notes)


def places_among(data: Dataset, parted: Dataset, parts: Parts) -> Parts:
    """The parts of the reordered data `parted`, with `rows` as positions in the original `data`.

    A base's predictions are in the original order.
    """
    if data.order is None or parted.order is None:
        return parts
    order = np.argsort(data.order)
    places = order[np.searchsorted(data.order, parted.order, sorter=order)]
    return replace(parts, rows={part: places[own] for part, own in parts.rows.items()})


def cautions_on(given: GivenBase, parts: Parts) -> tuple[str, ...]:
    """A base's notes, and a warning if it is no better than always answering one class."""
    labels = parts.y["test"]
    accuracy = float(np.mean(given.predictions["test"] == labels))
    if accuracy > np.bincount(labels).max() / len(labels):
        return given.notes
    return (
        *given.notes,
        f"the base has {accuracy:.1%} of the test rows right, no more than always saying the "
        "commonest class has: are its rows, inputs and classes the data's?",
    )


def open_base(base: Any) -> Any:
    """Load a saved StableClassifier; return other paths as Path, all else unchanged."""
    if not isinstance(base, str | Path):
        return base
    path = Path(base)
    if check_ending(path, (*KINDS, MODEL)) != MODEL:
        return path
    from unchurn.training.estimator.saving import OwnNetworkError
    from unchurn.training.estimator.stable_classifier import StableClassifier

    try:
        return StableClassifier.load(path)
    except OwnNetworkError as error:
        raise InputError(
            f"{path}: holds a network of your own: give a file of what it says of every row, or, "
            "in Python, the loaded model as base"
        ) from error


def _of_model(model: Any, data: Dataset, parts: Parts) -> GivenBase:
    """Ask a fitted model; a StableClassifier whose table was prepared otherwise gets raw rows."""
    if not hasattr(model, "classes_"):
        raise InputError(
            "base must be fitted and have classes_; of another model give what it says"
        )
    inputs = {"train": parts.x_train, **parts.x}
    is_prepared_alike = True
    if is_ours(model):
        own = model.preparation_
        is_prepared_alike = own is None or data.preparation is None or own == data.preparation
        if not is_prepared_alike:
            inputs = _rows(data, parts)
        elif model.shape_ != data.x_train.shape[1:]:
            raise InputError(
                f"base takes inputs of {model.shape_}, {data.name} has {data.x_train.shape[1:]}"
            )
    own = [str(name) for name in model.classes_]
    places = as_classes(own, data.classes)
    given = _in_parts(
        lambda part: asked_probabilities(model, inputs[part], "base"),
        places,
        parts,
        no_weights="the base is no network of ours",
    )
    given = replace(given, notes=notes_on_classes(own, data.classes))
    if not is_ours(model):
        return given
    if not is_prepared_alike:
        return _without_weights(given, "its table was prepared otherwise")
    if not np.array_equal(places, np.arange(len(model.classes_))):
        return _without_weights(given, "it has other classes")
    if getattr(model, "scaling_", None) is not None:
        return _without_weights(given, "it scales its inputs itself")
    return _with_own_logits(given, model, parts)


def _with_own_logits(given: GivenBase, model: StableClassifier, parts: Parts) -> GivenBase:
    """The base with its network's own logits and weights, as inputs and classes are the same."""
    said = what_model_says(model, None, parts.x_train, model.classes_, None)
    is_one = serving_cost(model.fitted_.method) == 1
    return GivenBase(
        logits=said.logits,
        probabilities=given.probabilities,
        predictions=given.predictions,
        known=given.known,
        notes=given.notes,
        weights=said.weights() if said.weights is not None else None,
        no_weights="" if is_one else "several networks serve",
    )


def _without_weights(given: GivenBase, reason: str) -> GivenBase:
    return GivenBase(**{**vars(given), "no_weights": reason})


def _rows(data: Dataset, parts: Parts) -> dict[str, Any]:
    """The rows of every part as they are in the user's table, before preparation."""
    import polars as pl

    if data.train_rows is None or data.test_rows is None:
        raise InputError(f"base takes rows of a table, and {data.name} has none")
    table = pl.concat([data.train_rows, data.test_rows])
    return {part: table[rows] for part, rows in parts.rows.items()}


def _in_parts(ask: Any, places: IntArray, parts: Parts, *, no_weights: str) -> GivenBase:
    """Ask for each part's probabilities, and bring their columns to the data's classes."""

    def said(part: str) -> FloatArray:
        return in_places(np.asarray(ask(part)), places)

    smallest = np.min_scalar_type(parts.n_classes - 1)
    each = {part: said(part) for part in parts.x}
    known = places >= 0
    return GivenBase(
        logits=log(said("train").astype(np.float32)),
        probabilities={part: own.astype(np.float32) for part, own in each.items()},
        predictions={part: own.argmax(axis=1).astype(smallest) for part, own in each.items()},
        known=None if known.all() else known,
        no_weights=no_weights,
    )
