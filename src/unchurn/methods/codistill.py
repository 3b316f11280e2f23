"""Co-distillation (Anil et al. 2018): two networks in tandem, drawn towards each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from unchurn.core.arrays import as_number, as_whole
from unchurn.core.errors import InputError
from unchurn.methods.base import Batch, Method, cross_entropy
from unchurn.methods.control import Control

if TYPE_CHECKING:
    from torch import Tensor

# Of the training that `n_warm` is meant for: in a shorter one it keeps its share.
USUAL_STEPS = 20 * 469

Kind = Literal["ce", "kl", "symmetric"]


def codistillation_divergence(first: Tensor, second: Tensor, kind: Kind) -> Tensor:
    """Ψ of two networks' logits, one value per example.

    −Σ p₁ log p₂ ("ce"), KL(p₁‖p₂) ("kl"), or ½·KL(p₁‖p₂) + ½·KL(p₂‖p₁) ("symmetric").
    """
    if kind not in ("ce", "kl", "symmetric"):
        raise InputError(f"kind must be 'ce', 'kl' or 'symmetric', not {kind!r}")
    if kind == "symmetric":
        log_p, log_q = first.log_softmax(dim=1), second.log_softmax(dim=1)
        return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(dim=1) / 2
    p = first.softmax(dim=1)
    divergence = cross_entropy(second, p)
    if kind == "kl":
        divergence = divergence - cross_entropy(first, p)
    return divergence


@dataclass
class _Codistill(Method):
    """L(f₁) + L(f₂) + a·Ψ(f₁, f₂) from step `n_warm` on; the first network serves.

    As the paper writes it, gradients flow through both arguments of Ψ. With `stop_gradient` (ours,
    after Anil et al.) each network is instead drawn towards the other's predictions held fixed:
    Ψ(f₂ fixed, f₁) + Ψ(f₁ fixed, f₂).
    """

    a: float = 0.5
    n_warm: int = 1000
    stop_gradient: bool = False

    n_nets: ClassVar[int] = 2
    kind: ClassVar[Kind]
    grid: ClassVar = {"a": (0.001, 0.01, 0.05, 0.1, 0.2, 0.5), "n_warm": (1000, 2000)}

    def check(self) -> None:
        as_number(self.a, 0, "a")
        as_whole(self.n_warm, 0, "n_warm")

    def simplest(self) -> Method:
        return self if self.a > 0 else Control()

    def for_steps(self, n_steps: int) -> Method:
        if n_steps >= USUAL_STEPS:
            return self
        return replace(self, n_warm=round(self.n_warm * n_steps / USUAL_STEPS))

    def remark(self, n_steps: int) -> str | None:
        if self.n_warm < n_steps:
            return None
        return (
            f"n_warm={self.n_warm} is never reached: training takes {n_steps} steps, so the two "
            "networks never meet; lower n_warm or train for more epochs"
        )

    def penalty(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor | None:
        first, second = logits
        if step < self.n_warm or self.a == 0:
            return None
        if self.stop_gradient:
            pulled = codistillation_divergence(second.detach(), first, self.kind)
            pushed = codistillation_divergence(first.detach(), second, self.kind)
            return self.a * (pulled + pushed)
        return self.a * codistillation_divergence(first, second, self.kind)


@dataclass
class CodistillCE(_Codistill):
    """Co-distillation with cross-entropy as the divergence."""

    kind: ClassVar[Kind] = "ce"


@dataclass
class CodistillKL(_Codistill):
    """Co-distillation with the Kullback–Leibler divergence."""

    kind: ClassVar[Kind] = "kl"


@dataclass
class CodistillSymmetric(_Codistill):
    """Co-distillation with the mean of both Kullback–Leibler divergences (Bhojanapalli 2021)."""

    a: float = 1.0

    kind: ClassVar[Kind] = "symmetric"
    grid: ClassVar = {"a": (0.5, 1.0, 5.0)}
