"""Co-distillation (Anil et al. 2018): train two networks that pull each other together."""

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

# Steps of the training that `n_warm` is meant for; shorter trainings scale it down.
USUAL_STEPS = 20 * 469

Kind = Literal["ce", "kl", "symmetric"]


def codistillation_divergence(first: Tensor, second: Tensor, kind: Kind) -> Tensor:
    """The divergence Ψ of two networks' logits, one value per example.

    It is −Σ p₁ log p₂ ("ce"), KL(p₁‖p₂) ("kl"), or ½·KL(p₁‖p₂) + ½·KL(p₂‖p₁) ("symmetric").
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
    """Train two networks with the loss L(f₁) + L(f₂) + a·Ψ(f₁, f₂); serve the first.

    The term with Ψ starts at step `n_warm`. Gradients flow through both arguments of Ψ, as the
    paper writes it. With `stop_gradient` (not the paper's; after Anil et al.), each network is
    drawn towards the other's fixed predictions: Ψ(f₂ fixed, f₁) + Ψ(f₁ fixed, f₂).
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
    """Train two networks that pull each other together by cross-entropy; serve the first.

    The loss is L(f₁) + L(f₂) + a·Ψ(f₁, f₂) with Ψ = −Σ p₁ log p₂, which starts at step `n_warm`
    (scaled down in short trainings if it is not given). It costs two trainings. With
    `stop_gradient`, each network is drawn towards the other's fixed predictions.
    """

    kind: ClassVar[Kind] = "ce"


@dataclass
class CodistillKL(_Codistill):
    """Train two networks that pull each other together by KL(p₁‖p₂); serve the first.

    It is `CodistillCE` with the Kullback–Leibler divergence instead of cross-entropy.
    """

    kind: ClassVar[Kind] = "kl"


@dataclass
class CodistillSymmetric(_Codistill):
    """Train two networks that pull each other together symmetrically; serve the first.

    It is `CodistillCE` with the mean of KL(p₁‖p₂) and KL(p₂‖p₁) (Bhojanapalli et al. 2021). It
    costs two trainings and serves one model. Alone it does little on tables, where averaged weights
    do more; a strong pull (`a=5`) costs accuracy on some of them.
    """

    a: float = 1.0

    kind: ClassVar[Kind] = "symmetric"
    grid: ClassVar = {"a": (0.5, 1.0, 5.0)}
