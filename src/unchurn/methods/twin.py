"""Twin (Prastalo & Jablonka 2026): two networks on two bootstraps, made to agree; both serve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unchurn.core.arrays import as_number
from unchurn.methods.base import Batch, Extras, Method, cross_entropy
from unchurn.methods.codistill import codistillation_divergence
from unchurn.methods.reference import Reference

if TYPE_CHECKING:
    from torch import Tensor

COUNTS = "twin"  # how often each network's bootstrap has an example, (n, 2)


@dataclass
class Twin(Method):
    """Train two networks on two bootstraps and pull them together; serve the mean of both.

    The loss is c₁·L(f₁) + c₂·L(f₂) + a·½(c₁ + c₂)·(symmetric KL of f₁ and f₂), where c is the
    number of times that an example is in the network's own bootstrap. The paper draws batches from
    each bootstrap; here each batch is drawn from all examples and weighted by both counts, which
    gives the same loss on average. It trains and serves two networks. A strong pull (`a`) keeps
    networks from learning small tables.
    """

    a: float = 10.0

    n_nets: ClassVar[int] = 2
    n_served: ClassVar[int] = 2
    grid: ClassVar = {"a": (1.0, 10.0, 100.0)}

    def check(self) -> None:
        as_number(self.a, 0, "a")

    def extras(self, n: int, reference: Reference, rng: np.random.Generator) -> Extras:
        drawn = [np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(2)]
        return {COUNTS: np.stack(drawn, axis=1).astype(np.float32)}

    def loss(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor:
        first, second = (
            cross_entropy(z, batch.targets) * c
            for z, c in zip(logits, batch.extras[COUNTS].unbind(dim=1), strict=True)
        )
        return first + second

    def penalty(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor | None:
        if self.a == 0:
            return None
        seen = batch.extras[COUNTS].mean(dim=1)
        return self.a * seen * codistillation_divergence(logits[0], logits[1], "symmetric")

    def probabilities(self, logits: Sequence[Tensor]) -> Tensor:
        return (logits[0].softmax(dim=1) + logits[1].softmax(dim=1)) / 2
