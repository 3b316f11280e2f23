"""`Need` and `Reference`: which other models a method looks at, and their predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array, Float32
from unchurn.core.errors import InputError
from unchurn.neighbors import knn_labels

Weights = Mapping[str, Array]  # a network's weights by name, as in its `state_dict`
Mask = npt.NDArray[np.bool_]
SHARED = (
    "{}'s runs share one reference, which makes them agree: retrainings of yours agree as much "
    "only if each is given the same model as reference=."
)
NO_WEIGHTS = (
    "it must be a network of the same kind, a StableClassifier with the same module, for the same "
    "classes"
)


@dataclass(frozen=True)
class Need:
    """What a method needs of its references, which are plain fits or the model in production.

    A fixed reference is the model in production, if there is one.
    """

    is_fixed: bool = False  # the same references for all runs, instead of new ones in each run
    ks: tuple[int, ...] = ()  # the numbers of neighbours for k-NN labels by the first's logits
    m: int = 1  # number of references
    weights: bool = False  # whether the method needs the first's weights
    serves: bool = False  # whether the first also takes part in serving


class Reference:
    """The references' (n, L) logits for the training examples, and k-NN labels by these logits.

    Everything is computed once, when first asked for; `logits` may train a model. `more` gives the
    logits of further references, for methods that average over several. `weights` are the first
    reference's, if it is a network like the one being trained; else `no_weights` may say why there
    are none. `known` is the mask of classes that
    the first reference knows: for examples of other classes its predictions are ignored, not
    counted as mistakes. `seen` is the mask of examples that it was trained on; none if unknown.
    `taught` is the mask of those that it labelled itself, on which it cannot be wrong.
    """

    def __init__(
        self,
        logits: Callable[[], Float32],
        labels: npt.NDArray[np.integer],
        *,
        more: Sequence[Callable[[], Float32]] = (),
        knn: Mapping[int, Float32] | None = None,
        weights: Callable[[], Weights] | None = None,
        no_weights: str = "",
        known: Mask | None = None,
        seen: Mask | None = None,
        taught: Mask | None = None,
    ) -> None:
        self._make_logits = logits
        self._more = [cache(make) for make in more]
        self.labels = labels
        self._knn = dict(knn or {})
        self._make_weights = weights
        self._no_weights = no_weights or NO_WEIGHTS
        self.known = known
        nothing = np.zeros(len(labels), np.bool_)
        self.seen = nothing if seen is None else seen
        self.taught = nothing if taught is None else taught

    @cached_property
    def logits(self) -> Float32:
        """(n, L) logits of the first model."""
        return self._make_logits()

    @cached_property
    def weights(self) -> Weights:
        """The weights of the first model, by name; InputError if they are unknown."""
        if self._make_weights is None:
            why = self._no_weights
            raise InputError(f"training cannot start from the reference's weights: {why}")
        return self._make_weights()

    @cached_property
    def may_know(self) -> Mask:
        """(n,) whether the first model knows an example's class at all."""
        everything = np.ones(len(self.labels), np.bool_)
        return everything if self.known is None else self.known[self.labels]

    @cached_property
    def is_right(self) -> Mask:
        """(n,) whether the first model is right on an example."""
        return np.asarray(self.logits.argmax(axis=1) == self.labels) & self.may_know

    def every(self, m: int) -> list[Float32]:
        """(n, L) logits of m models, or of all if the user gave fewer."""
        return [self.logits, *(make() for make in self._more[: m - 1])]

    def knn_labels(self, k: int, n_classes: int) -> Float32:
        """(n, L) mean labels of the k nearest neighbours by the first model's logits."""
        if k not in self._knn:
            self._knn[k] = knn_labels(self.logits, self.labels, k, n_classes=n_classes)
        return self._knn[k]
