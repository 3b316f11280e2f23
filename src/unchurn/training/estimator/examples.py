"""`Rows`: what a StableClassifier trains on, labelled by the user or by the reference."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from unchurn.core.arrays import Array, Float32, IntArray
from unchurn.core.errors import naming
from unchurn.methods import Reference
from unchurn.methods.reference import Mask
from unchurn.training.estimator.inputs import checked_inputs, remember_columns
from unchurn.training.estimator.references import Answers

if TYPE_CHECKING:
    from unchurn.datasets.preparation import Preparation
    from unchurn.training.estimator.stable_classifier import StableClassifier


def checked_unlabelled(
    model: StableClassifier,
    x: Any,
    labelled: Any,
    preparation: Preparation | None,
    shape: tuple[int, ...],
) -> Float32:
    """Rows without labels to fit, checked as new rows of a model of the labelled ones."""
    fitted = copy(model)  # if the fit fails, the model keeps the columns it has
    remember_columns(fitted, labelled, preparation)
    with naming("X_unlabelled"):
        return checked_inputs(fitted, x, preparation, shape)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Inputs, class numbers, and the reference's predictions for them if there is a reference."""

    inputs: Array
    numbers: IntArray
    n_classes: int
    weights: Float32 | None = None  # all equal if not given
    said: Answers | None = None  # the reference's predictions
    targets: Float32 | None = None  # the one-hot labels if not given
    saw: Mask | None = None  # the rows that the reference was trained on; None if unknown
    is_taught: Mask | None = None  # the rows that the reference labelled; None if the user did all

    def take(self, rows: IntArray) -> Rows:
        """Some of the rows."""
        said = None
        if self.said is not None:
            said = replace(self.said, logits=self.said.logits[rows])
        return replace(
            self,
            inputs=self.inputs[rows],
            numbers=self.numbers[rows],
            weights=None if self.weights is None else self.weights[rows],
            said=said,
            targets=None if self.targets is None else self.targets[rows],
            saw=None if self.saw is None else self.saw[rows],
            is_taught=None if self.is_taught is None else self.is_taught[rows],
        )

    def with_unlabelled(self, inputs: Array, said: Answers) -> Rows:
        """Add rows whose targets are the reference's probabilities."""
        own = np.ones(len(self.inputs), np.float32) if self.weights is None else self.weights
        one_hot = np.eye(self.n_classes, dtype=np.float32)[self.numbers]
        taught = np.asarray(softmax(said.logits.astype(np.float64), axis=1), np.float32)
        before = None
        if self.said is not None:
            before = replace(self.said, logits=np.concatenate([self.said.logits, said.logits]))
        return replace(
            self,
            inputs=np.concatenate([self.inputs, inputs]),
            numbers=np.concatenate([self.numbers, said.logits.argmax(axis=1)]),
            weights=np.concatenate([own, np.ones(len(inputs), np.float32)]),
            said=before,
            targets=np.concatenate([one_hot, taught]),
            saw=None if self.saw is None else np.append(self.saw, np.full(len(inputs), True)),
            is_taught=np.repeat([False, True], [len(self.inputs), len(inputs)]),
        )

    @cached_property
    def reference(self) -> Reference | None:
        """The reference as methods use it; None if it was not given."""
        if (said := self.said) is None:
            return None
        return Reference(
            lambda: said.logits,
            self.numbers,
            weights=said.weights,
            no_weights=said.no_weights,
            known=said.known,
            # Its own answers say as little of bad flips as rows that it was trained on.
            seen=self.is_taught if self.saw is None else self.saw,
            taught=self.is_taught,
        )
