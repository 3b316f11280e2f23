"""`Need` and `Reference`: which other models a method looks at, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, Float32
from unchurn.core.errors import InputError
from unchurn.neighbors import knn_labels

Weights = Mapping[str, Array]  # of a network by name, as its `state_dict` has them
Mask = npt.NDArray[np.bool_]
SHARED = (
    "{}'s runs share one reference, plainly trained for them, as no model in production is there "
    "(the scenario upgrade has one): not quite independent."
)


@dataclass(frozen=True)
class Need:
    """Which other models a method looks at: plain fits, their logits of the training examples.

    A fixed one is the model in production, where there is one.
    """

    is_fixed: bool = False  # the same for all runs, instead of others for each
    ks: tuple[int, ...] = ()  # of which k-NN labels among the first's logits will be asked for
    m: int = 1  # how many
    weights: bool = False  # whether the first's weights will be asked for
    serves: bool = False  # whether the first is asked at serving, too


class Reference:
    """The reference models' (n, L) logits of the training examples, and k-NN labels among them.

    All are made when first asked for, and once: `logits` trains a model if need be. `more` are
    those of further models, of which only the methods that average over several ask. `weights` are
    those of the first, where it is a network like the one that is trained. Classes that the first
    does not know (`known`) are not its mistakes: what it says of their examples is left aside.
    `seen` tells which examples the first was trained on, as far as that is known.
    """

    def __init__(
        self,
        logits: Callable[[], Float32],
        labels: npt.NDArray[np.integer],
        *,
        more: Sequence[Callable[[], Float32]] = (),
        knn: Mapping[int, Float32] | None = None,
        weights: Callable[[], Weights] | None = None,
        known: Mask | None = None,
        seen: Mask | None = None,
    ) -> None:
        self._make_logits = logits
        self._more = [cache(make) for make in more]
        self.labels = labels
        self._knn = dict(knn or {})
        self._make_weights = weights
        self.known = known
        self.seen = np.zeros(len(labels), np.bool_) if seen is None else seen

    @cached_property
    def logits(self) -> Float32:
        """(n, L) logits of the first model."""
        return self._make_logits()

    @cached_property
    def weights(self) -> Weights:
        """Of the first model, by name; InputError if it has none that are known."""
        if self._make_weights is None:
            raise InputError(
                "the reference's weights are not known: it must be a network of the same kind "
                "(a StableClassifier with the same module)"
            )
        return self._make_weights()

    @cached_property
    def may_know(self) -> Mask:
        """(n,) whether the first model knows an example's class at all."""
        everything = np.ones(len(self.labels), np.bool_)
        return everything if self.known is None else self.known[self.labels]

    @cached_property
    def is_right(self) -> Mask:
        """(n,) whether the first model has an example's class right."""
        return np.asarray(self.logits.argmax(axis=1) == self.labels) & self.may_know

    def every(self, m: int) -> list[Float32]:
        """(n, L) logits of m models; of as many as there are where the user gave fewer."""
        return [self.logits, *(make() for make in self._more[: m - 1])]

    def knn_labels(self, k: int, n_classes: int) -> Float32:
        """(n, L) mean labels of the k nearest neighbours among the first model's logits."""
        if k not in self._knn:
            self._knn[k] = knn_labels(self.logits, self.labels, k, n_classes=n_classes)
        return self._knn[k]
