"""`Need` and `Reference`: which other models a method looks at, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Float32
from unchurn.neighbors import knn_labels


@dataclass(frozen=True)
class Need:
    """Which other models a method looks at: plain fits, their logits of the training examples."""

    is_fixed: bool = False  # the same for all runs, instead of others for each
    ks: tuple[int, ...] = ()  # of which k-NN labels among the first's logits will be asked for
    m: int = 1  # how many


class Reference:
    """The reference models' (n, L) logits of the training examples, and k-NN labels among them.

    All are made when first asked for, and once: `logits` trains a model if need be. `more` are
    those of further models, of which only the methods that average over several ask.
    """

    def __init__(
        self,
        logits: Callable[[], Float32],
        labels: npt.NDArray[np.integer],
        *,
        more: Sequence[Callable[[], Float32]] = (),
        knn: Mapping[int, Float32] | None = None,
    ) -> None:
        self._make_logits = logits
        self._more = [cache(make) for make in more]
        self._labels = labels
        self._knn = dict(knn or {})

    @cached_property
    def logits(self) -> Float32:
        """(n, L) logits of the first model."""
        return self._make_logits()

    def every(self, m: int) -> list[Float32]:
        """(n, L) logits of m models; of as many as there are where the user gave fewer."""
        return [self.logits, *(make() for make in self._more[: m - 1])]

    def knn_labels(self, k: int, n_classes: int) -> Float32:
        """(n, L) mean labels of the k nearest neighbours among the first model's logits."""
        if k not in self._knn:
            self._knn[k] = knn_labels(self.logits, self._labels, k, n_classes=n_classes)
        return self._knn[k]
