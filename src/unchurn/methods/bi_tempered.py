"""Bi-tempered logistic loss (Amid et al. 2019): bounded and heavy-tailed, made for noisy labels.

log_t(x) = (x^(1−t) − 1)/(1 − t) and its inverse exp_t replace log and exp: t1 < 1 bounds the loss,
t2 > 1 gives the probabilities heavy tails, and t1 = t2 = 1 is cross-entropy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar

from unchurn.core.arrays import as_fraction, as_whole
from unchurn.core.errors import InputError
from unchurn.methods.base import Batch, Method, cross_entropy
from unchurn.methods.control import Control

if TYPE_CHECKING:
    from torch import Tensor


def exp_t(x: Tensor, t: float) -> Tensor:
    """The tempered exponential, [1 + (1 − t)·x]₊^(1/(1 − t))."""
    if t == 1:
        return x.exp()
    return (((1 - t) * x).clamp(min=-1).log1p() / (1 - t)).exp()  # exact also near t = 1


def log_t(x: Tensor, t: float) -> Tensor:
    """The tempered logarithm, (x^(1 − t) − 1)/(1 − t)."""
    return x.log() if t == 1 else ((1 - t) * x.log()).expm1() / (1 - t)


def tempered_softmax(logits: Tensor, t: float, n_iters: int = 5) -> Tensor:
    """exp_t(z − λ(z)), with λ such that rows sum to 1 as far as `n_iters` iterations converge.

    The iterations are the published ones: a fixed point for t > 1, which converges slowly for large
    t, and bisection for t < 1.
    """
    if t == 1:
        return logits.softmax(dim=1)
    top = logits - logits.amax(dim=1, keepdim=True)
    shift = _shift_by_fixed_point(top, t, n_iters) if t > 1 else _shift_by_halving(top, t, n_iters)
    return exp_t(top - shift, t)


def _shift_by_fixed_point(top: Tensor, t: float, n_iters: int) -> Tensor:
    """λ for t > 1: z̃ ← z·Z(z̃)^(1 − t), where Z sums exp_t."""
    scaled = top
    for _ in range(n_iters):
        scaled = top * exp_t(scaled, t).sum(dim=1, keepdim=True) ** (1 - t)
    return -log_t(1 / exp_t(scaled, t).sum(dim=1, keepdim=True), t)


def _shift_by_halving(top: Tensor, t: float, n_iters: int) -> Tensor:
    """λ for t < 1 by bisection.

    It lies between 0 and the λ for which all classes within reach of the top one tie with it.
    """
    within = (top > -1 / (1 - t)).sum(dim=1, keepdim=True).to(top.dtype)
    low, high = within.new_zeros(within.shape), -log_t(1 / within, t)
    for _ in range(n_iters):
        middle = (low + high) / 2
        too_much = exp_t(top - middle, t).sum(dim=1, keepdim=True) > 1
        low, high = middle.where(too_much, low), high.where(too_much, middle)
    return (low + high) / 2


@cache
def _function() -> Any:
    """The loss as a torch autograd function, defined when torch is first needed."""
    import torch

    class _BiTempered(torch.autograd.Function):
        """The loss with its gradient in closed form; through the iterations it is unstable."""

        @staticmethod
        def forward(
            ctx: Any, logits: Tensor, targets: Tensor, t1: float, t2: float, n_iters: int
        ) -> Tensor:
            p = tempered_softmax(logits, t2, n_iters)
            ctx.save_for_backward(p, targets)
            ctx.temperatures = t1, t2
            on_targets = torch.where(targets > 0, targets * (log_t(targets, t1) - log_t(p, t1)), 0)
            return (on_targets - (targets ** (2 - t1) - p ** (2 - t1)) / (2 - t1)).sum(dim=1)

        @staticmethod
        def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
            p, targets = ctx.saved_tensors
            t1, t2 = ctx.temperatures
            # If p is 0, the class is out of reach (t2 < 1) or underflowed: the pull is 0, not 0·∞.
            pull = torch.where(
                p > 0, (p - targets) * p.clamp(min=torch.finfo(p.dtype).tiny) ** (t2 - t1), 0
            )
            escort = p**t2
            escort = escort / escort.sum(dim=1, keepdim=True)
            gradient = pull - escort * pull.sum(dim=1, keepdim=True)
            return gradient * upstream[0][:, None], None, None, None, None

    return _BiTempered


def _check_temperatures(t1: float, t2: float) -> None:
    """Refuse temperatures that are out of range or make the loss infinite."""
    as_fraction(t1, "t1")
    if not (isinstance(t2, int | float) and 0 < t2 <= 10):
        raise InputError(f"t2 must be above 0 and at most 10, not {t2!r}")
    if t1 == 1 and t2 < 1:
        raise InputError(f"t1 must be below 1 where t2 is ({t2}): the loss would be infinite")


def bi_tempered_loss(
    logits: Tensor, targets: Tensor, t1: float, t2: float, n_iters: int = 5
) -> Tensor:
    """The Bregman divergence between targets and tempered softmax, one value per example.

    At t1 = t2 = 1 it is cross-entropy minus the targets' own entropy, which is 0 for hard labels.
    """
    _check_temperatures(t1, t2)
    if t1 == 1 and t2 == 1:
        return cross_entropy(logits, targets) + targets.xlogy(targets).sum(dim=1)
    loss: Tensor = _function().apply(logits, targets, t1, t2, n_iters)
    return loss


@dataclass
class BiTempered(Method):
    """Train with the bi-tempered loss, which tolerates noisy labels, instead of cross-entropy.

    t1 (0 to 1) below 1 bounds the loss of a single example; t2 (above 0) above 1 gives the
    probabilities heavy tails. Both at 1 are cross-entropy. It costs one training. `n_iters` is the
    number of iterations that normalise the probabilities.
    """

    t1: float = 0.9
    t2: float = 1.0
    n_iters: int = 5

    grid: ClassVar = {"t1": (0.3, 0.5, 0.7, 0.9), "t2": (1.0, 2.0, 3.0, 4.0)}

    def check(self) -> None:
        _check_temperatures(self.t1, self.t2)
        as_whole(self.n_iters, 1, "n_iters")

    def simplest(self) -> Method:
        return Control() if self.t1 == self.t2 == 1 else self

    def loss(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor:
        temperatures = (self.t1, self.t2, self.n_iters)
        return reduce(add, [bi_tempered_loss(z, batch.targets, *temperatures) for z in logits])

    def probabilities(self, logits: Sequence[Tensor]) -> Tensor:
        p = tempered_softmax(logits[0], self.t2, self.n_iters)
        # A few iterations do not make the sum exactly 1; at t2 = 1 none are needed.
        return p if self.t2 == 1 else p / p.sum(dim=1, keepdim=True)
