"""Mixup (Zhang et al. 2017): train on convex combinations of examples and of their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from unchurn.core.arrays import as_number
from unchurn.methods.base import Method
from unchurn.methods.control import Control


def mix(
    x: Tensor, t: Tensor, w: Tensor, share: float, partners: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """`share` of each example plus 1 − share of its partner: inputs, targets and weights.

    Targets are mixed by weight, so that the weighted loss is the mixture of the two losses.
    """
    own, other = share * w, (1 - share) * w[partners]
    weight = own + other
    mixed = own[:, None] * t + other[:, None] * t[partners]
    total = torch.where(weight > 0, weight, 1)
    return share * x + (1 - share) * x[partners], mixed / total[:, None], weight


@dataclass
class Mixup(Method):
    """Mix each batch with a permutation of itself; one share λ ~ Beta(a, a) per batch."""

    a: float = 0.2

    grid: ClassVar = {"a": (0.2, 0.3, 0.4, 0.5)}

    def check(self) -> None:
        as_number(self.a, 0, "a")

    def simplest(self) -> Method:
        return self if self.a > 0 else Control()

    def batch(
        self, x: Tensor, t: Tensor, w: Tensor, rng: np.random.Generator
    ) -> tuple[Tensor, Tensor, Tensor]:
        if self.a == 0:  # the limit: every share is 0 or 1
            return x, t, w
        share = float(rng.beta(self.a, self.a))
        partners = torch.from_numpy(rng.permutation(len(x))).to(x.device)
        return mix(x, t, w, share, partners)
