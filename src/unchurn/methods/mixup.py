"""Mixup (Zhang et al. 2017): train on mixtures of two examples and of their labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unchurn.core.arrays import as_number
from unchurn.methods.base import Batch, Method
from unchurn.methods.control import Control

if TYPE_CHECKING:
    from torch import Tensor


def mix(
    x: Tensor, t: Tensor, w: Tensor, share: float, partners: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """share·(each example) + (1 − share)·(its partner): inputs, targets and weights.

    Targets are mixed by weight, so that the weighted loss is the mixture of the two losses.
    """
    import torch

    own, other = share * w, (1 - share) * w[partners]
    weight = own + other
    mixed = own[:, None] * t + other[:, None] * t[partners]
    total = torch.where(weight > 0, weight, 1)
    return share * x + (1 - share) * x[partners], mixed / total[:, None], weight


@dataclass
class Mixup(Method):
    """Train on mixtures: λ·(an example) + (1 − λ)·(another), and the same for their labels.

    Each batch is mixed with a permutation of itself, with one share λ ~ Beta(a, a) per batch. It
    costs nothing. Mixtures of category columns mean little, so tables with many may lose accuracy.
    """

    a: float = 0.2

    grid: ClassVar = {"a": (0.2, 0.3, 0.4, 0.5)}

    def check(self) -> None:
        as_number(self.a, 0, "a")

    def simplest(self) -> Method:
        return self if self.a > 0 else Control()

    def batch(self, batch: Batch, rng: np.random.Generator) -> Batch:
        import torch

        if self.a == 0:  # the limit: every share is 0 or 1
            return batch
        share = float(rng.beta(self.a, self.a))
        partners = torch.from_numpy(rng.permutation(len(batch.x))).to(batch.x.device)
        x, targets, weights = mix(batch.x, batch.targets, batch.weights, share, partners)
        extras = {n: share * e + (1 - share) * e[partners] for n, e in batch.extras.items()}
        return replace(batch, x=x, targets=targets, weights=weights, extras=extras)
