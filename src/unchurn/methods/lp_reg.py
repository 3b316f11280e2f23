"""ℓ1 and ℓ2 regularisation of the logits: predictions held small, whatever the label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, ClassVar

from unchurn.core.arrays import as_number
from unchurn.methods.base import Batch, Method
from unchurn.methods.control import Control

if TYPE_CHECKING:
    from torch import Tensor


def lp_penalty(logits: Tensor, p: int) -> Tensor:
    """‖z‖_p of each example's logits, not squared. Of probabilities the ℓ1 norm is always 1."""
    import torch

    norm: Tensor = torch.linalg.vector_norm(logits, ord=p, dim=1)
    return norm


@dataclass
class _LpReg(Method):
    """Cross-entropy + a·‖logits‖_p."""

    a: float = 0.1

    p: ClassVar[int]
    grid: ClassVar = {"a": (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)}

    def check(self) -> None:
        as_number(self.a, 0, "a")

    def simplest(self) -> Method:
        return self if self.a > 0 else Control()

    def penalty(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor:
        return self.a * reduce(add, [self.norm(z) for z in logits])

    def norm(self, logits: Tensor) -> Tensor:
        """How large each example's logits are."""
        return lp_penalty(logits, self.p)


@dataclass
class L1Reg(_LpReg):
    """Cross-entropy + a·‖logits‖₁."""

    p: ClassVar[int] = 1


@dataclass
class L2Reg(_LpReg):
    """Cross-entropy + a·‖logits‖₂, as the paper writes it; with `squared`, a·‖logits‖₂².

    Some of the paper's published numbers are nearer to those of the square: docs/reproduction.md.
    The norm pulls at small logits as hard as at large ones: with a large `a`, a convolutional
    network may never leave the start.
    """

    a: float = 0.5
    squared: bool = False

    p: ClassVar[int] = 2

    def norm(self, logits: Tensor) -> Tensor:
        return logits.square().sum(dim=1) if self.squared else super().norm(logits)
