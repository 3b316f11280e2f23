"""Learners of any framework: one function that trains on soft targets and gives one that predicts.

train(X, targets, seed) -> predict, where predict(X) gives (n, L) probabilities. It takes part in
experiments with the methods that only change the targets, and ensembles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, IntArray
from unchurn.core.errors import InputError
from unchurn.methods import Method, Reference
from unchurn.training.loop import DivergedError, Stream, reference_stream, score_distinct

Float32 = npt.NDArray[np.float32]
Predict = Callable[[Array], Any]
Learner = Callable[[Array, Float32, int], Predict]
CLIP = 1e-12  # of probabilities whose logarithms stand in for logits


def weighted_rows(x: Array, targets: Float32) -> tuple[Array, IntArray, Float32]:
    """Soft targets for learners that take none: a row for every class with weight, and its weight.

    >>> x, targets = np.array([[5], [6]]), np.array([[0.75, 0.25], [0, 1]])
    >>> rows, labels, weights = weighted_rows(x, targets)
    >>> rows.ravel().tolist(), labels.tolist(), weights.tolist()
    ([5, 5, 6], [0, 1, 1], [0.75, 0.25, 1.0])
    """
    row, label = np.nonzero(targets)
    return x[row], label, targets[row, label]


@dataclass(frozen=True)
class FittedLearner:
    """A trained run of a learner; ensembles have several predictors."""

    predictors: list[Predict]
    n_classes: int

    def probabilities(self, x: Array) -> Float32:
        """(n, L) probabilities, averaged over the members."""
        every = [np.asarray(predict(x), np.float32) for predict in self.predictors]
        shape = (len(x), self.n_classes)
        for given in every:
            if given.shape != shape:
                raise InputError(
                    f"the learner must predict probabilities of shape {shape}, not {given.shape}: "
                    "a column for every class, also for one that training did not see"
                )
            if not np.isfinite(given).all():
                raise DivergedError("the learner predicts probabilities that are not finite")
        return np.asarray(np.mean(every, axis=0), np.float32)

    def logits(self, x: Array) -> Float32:
        """Clipped log-probabilities, which are logits up to a constant per row."""
        return np.asarray(np.log(self.probabilities(x).clip(min=CLIP)), np.float32)


def fit_learner(
    learner: Learner,
    method: Method,
    x: Float32,
    y: IntArray,
    n_classes: int,
    *,
    seed: int,
    run: int,
    fit: int = 0,
    reference: Reference | None = None,
) -> FittedLearner:
    """Train a learner on a method's targets; its seed is drawn from the stream of the fit."""
    one_hot = np.eye(n_classes, dtype=np.float32)[y]

    def train(targets: Float32, stream: Stream) -> Predict:
        return learner(x, targets, int(stream.generator("weights").integers(2**31)))

    def reference_logits() -> Float32:
        plain = train(one_hot, reference_stream(method, seed, run))
        return score_distinct(FittedLearner([plain], n_classes), x)

    targets = method.targets(one_hot, reference or Reference(reference_logits, y))
    streams = (Stream(seed, run, fit + member) for member in range(method.n_members))
    return FittedLearner([train(targets, stream) for stream in streams], n_classes)
