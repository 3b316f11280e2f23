"""`GivenBase`: predictions of a base that the user gives as a model, a file, a frame or an array.

Rows are matched by id or by position in the table, classes by name. The identity of a base is its
content, wherever it came from.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn.comparison.inputs.sources import OTHER_KINDS
from unchurn.core.arrays import Array, Float32, FloatArray, IntArray
from unchurn.core.errors import InputError
from unchurn.core.tables import TABLES, TextForm, check_ending, ending
from unchurn.datasets.base import Dataset
from unchurn.methods import Control, Method
from unchurn.methods.cost import serving_cost
from unchurn.methods.reference import Weights
from unchurn.methods.registry import has_name, written
from unchurn.study.design.parts import Mask, Parts
from unchurn.study.scenarios.base_answers import as_classes, notes_on_classes, read_told
from unchurn.study.scenarios.base_inputs import ask
from unchurn.study.scenarios.base_rows import Named
from unchurn.training.estimator.network_part import network_part
from unchurn.training.estimator.references import in_places, is_ours, log, what_model_says
from unchurn.training.estimator.scaling import preparation_of

if TYPE_CHECKING:
    from unchurn.training.estimator.stable_classifier import StableClassifier

MODEL = ".safetensors"  # the ending of a saved StableClassifier's name
# How runs can start from the weights of a network of ours.
FIT_SO = "fit it to the table as a frame, and give that table, without gaps or other columns"


@dataclass(frozen=True, eq=False, kw_only=True)
class GivenBase:
    """A base's logits of the training examples, and its probabilities and classes by part."""

    logits: Float32
    probabilities: dict[str, Float32]
    predictions: dict[str, IntArray]
    known: Mask | None  # the classes that it knows; None if all
    weights: Weights | None = None  # of a network that takes the same inputs
    no_weights: str = ""  # why there are none
    network: Method = field(default_factory=Control)  # what its method changed of the network
    notes: tuple[str, ...] = ()  # how its rows and classes were found
    cautions: tuple[str, ...] = ()  # to be read beside its figures, which may be wrong

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
    if hasattr(base, "predict"):
        raise InputError(
            f"base must be a classifier with predict_proba: {type(base).__name__} has none"
        )
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


def with_cautions(given: GivenBase, parts: Parts) -> GivenBase:
    """Add a caution if the base is no more accurate than always answering the commonest class."""
    labels = parts.y["test"]
    accuracy = float(np.mean(given.predictions["test"] == labels))
    if accuracy > np.bincount(labels).max() / len(labels):
        return given
    no_better = (
        f"the base has {accuracy:.1%} of the test rows right, no more than always saying the "
        "commonest class has: are its rows, inputs and classes the data's?"
    )
    return replace(given, cautions=(*given.cautions, no_better))


def open_base(base: Any) -> Any:
    """Load a saved StableClassifier; return other paths as Path, all else unchanged."""
    if not isinstance(base, str | Path):
        return base
    path = Path(base)
    if not _holds_a_model(path) and check_ending(path, (*OTHER_KINDS, MODEL)) != MODEL:
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


def _holds_a_model(path: Path) -> bool:
    """Whether a file without a table's ending begins as a saved model, which may have any name."""
    if ending(path) in (*TABLES, *OTHER_KINDS) or path.is_dir():
        return False
    with path.open("rb") as file:
        header = file.read(9)  # of safetensors: how long the JSON is that follows
    length = int.from_bytes(header[:8], "little")
    return header[8:] == b"{" and length <= path.stat().st_size - 8


def _of_model(model: Any, data: Dataset, parts: Parts) -> GivenBase:
    """The predictions of a fitted model, asked with the inputs that it was fitted to."""
    if not hasattr(model, "classes_"):
        raise InputError(
            "base must be fitted and have classes_; of another model give what it says"
        )
    own = [str(name) for name in model.classes_]
    places = as_classes(own, data.classes)
    asked = ask(model, data, parts, places)
    given = _in_parts(
        lambda part: asked.said[part], places, parts, no_weights="the base is no network of ours"
    )
    given = replace(given, notes=notes_on_classes(own, data.classes), cautions=asked.notes)
    if not is_ours(model):
        return given
    if not np.array_equal(places, np.arange(len(model.classes_))):
        return replace(given, no_weights="it has other classes")
    if asked.raw is None:
        if getattr(model, "scaling_", None) is not None:
            return replace(given, no_weights=f"it scales its inputs itself: {FIT_SO}")
        return _with_own_logits(given, model, parts.x_train)
    if model.preparation_ is not None:
        return replace(given, no_weights="its table was prepared otherwise")
    if preparation_of(model) != data.preparation:
        return replace(given, no_weights=f"it scales its inputs otherwise: {FIT_SO}")
    inputs = asked.raw["train"].to_numpy().astype(np.float32)  # which it scales itself
    return _with_own_logits(given, model, inputs)


def _with_own_logits(given: GivenBase, model: StableClassifier, inputs: Array) -> GivenBase:
    """Take logits and weights from a StableClassifier with the same inputs and classes."""
    said = what_model_says(model, None, inputs, model.classes_, None)
    is_one = serving_cost(model.fitted_.method) == 1
    notes = given.notes
    part = network_part(model.method_)
    if said.weights is not None and type(part) is not Control and has_name(part):
        notes += (
            f"the base has {written(part)}: methods that start from its weights keep this only if "
            f"they name it, as {written(part)}+warm_start does",
        )
    return replace(
        given,
        notes=notes,
        network=part,
        logits=said.logits,
        weights=said.weights() if said.weights is not None else None,
        no_weights="" if is_one else "several networks serve",
    )


def _in_parts(ask: Any, places: IntArray, parts: Parts, *, no_weights: str) -> GivenBase:
    """Ask for each part's probabilities, and reorder their columns to the data's classes."""

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
