"""`Method`: what a way of training changes about plain training. As it stands it changes nothing.

The trainer (`unchurn.training.loop`) knows no method by name; it calls these hooks. A new method is
a dataclass in a file of its own that overrides the few it needs, plus one line in `METHODS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from unchurn.neighbors import knn_labels

Float32 = npt.NDArray[np.float32]


class Reference:
    """The reference model's (n, L) logits of the training examples, and the k-NN labels among them.

    Both are made when first asked for, and once: `logits` trains a model if need be.
    """

    def __init__(
        self,
        logits: Callable[[], Float32],
        labels: npt.NDArray[np.integer],
        *,
        knn: Mapping[int, Float32] | None = None,
    ) -> None:
        self._make_logits = logits
        self._labels = labels
        self._knn = dict(knn or {})

    @cached_property
    def logits(self) -> Float32:
        """(n, L) logits."""
        return self._make_logits()

    def knn_labels(self, k: int, n_classes: int) -> Float32:
        """(n, L) mean labels of the k nearest neighbours among the logits."""
        if k not in self._knn:
            self._knn[k] = knn_labels(self.logits, self._labels, k, n_classes=n_classes)
        return self._knn[k]


@dataclass
class Method(BaseEstimator):  # type: ignore[misc]  # scikit-learn gives get_params and set_params
    """Plain training by cross-entropy; subclasses override what they change.

    Parameters are dataclass fields, whose defaults are typical of what the paper chose on its six
    tasks. `check` says what is wrong with them, on creation and again
    before training, since scikit-learn's `set_params` may have changed them.
    """

    only_targets: ClassVar[bool] = False  # whether it changes nothing but the targets
    n_nets: ClassVar[int] = 1  # networks trained in tandem on the same batches
    grid: ClassVar[dict[str, tuple[float, ...]]] = {}  # the values that the paper tried

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise InputError if a parameter is out of range."""

    @property
    def n_members(self) -> int:
        """Independent fits whose probabilities are averaged; several are plain fits."""
        return 1

    @property
    def uses_reference(self) -> bool:
        """Whether `targets` will ask for the reference model's logits."""
        return False

    @property
    def reference_k(self) -> int | None:
        """How many neighbours `targets` will ask of the reference, if any."""
        return None

    @property
    def reference_is_fixed(self) -> bool:
        """Whether all runs share the reference of run 0, instead of training one each."""
        return False

    def simplest(self) -> Method:
        """The simplest method that does the same at this setting: what has no effect is control."""
        return self

    def plan(self, n_steps: int) -> None:
        """Told how many steps training will take, before it starts."""

    def targets(self, y: Float32, reference: Reference) -> Float32:
        """One-hot labels (n, L) -> soft targets (n, L)."""
        return y

    def batch(
        self, x: Tensor, t: Tensor, w: Tensor, rng: np.random.Generator
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Inputs, targets and example weights of a batch -> those to train on."""
        return x, t, w

    def loss(self, logits: Sequence[Tensor], t: Tensor, step: int) -> Tensor:
        """One (n, L) tensor per network -> one value per example."""
        return cross_entropy(logits[0], t)

    def probabilities(self, logits: Sequence[Tensor]) -> Tensor:
        """One (n, L) tensor per network -> (n, L), rows that sum to 1."""
        return torch.softmax(logits[0], dim=1)


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """−Σ t·log softmax(z), one value per example."""
    return -(targets * torch.log_softmax(logits, dim=1)).sum(dim=1)
