"""ELODI (Zhao et al. 2022): pull logits towards the mean logits of several plain fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unchurn.core.arrays import as_fraction, as_number
from unchurn.methods.base import Batch, Extras, Method
from unchurn.methods.control import Control
from unchurn.methods.ensemble import check_size
from unchurn.methods.reference import Need, Reference

if TYPE_CHECKING:
    from torch import Tensor


KNOWN_WITHIN = 1e-6  # a mixture's rounding


def logit_difference(logits: Tensor, towards: Tensor, label: Tensor, margin: float = 0.0) -> Tensor:
    """Mean over classes of max(|z − z̄| − margin, 0)², with 0 for the label; one per example."""
    excess = ((logits - towards).abs() - margin).clamp(min=0).square()
    others = excess.scatter(1, label[:, None], 0.0)
    return others.mean(dim=1)


@dataclass
class Elodi(Method):
    """Pull logits towards the mean logits of m plain fits of the same run.

    The loss is (1 − a)·cross-entropy + a·(squared difference of the logits). Differences below
    `margin` and the label's own class do not count. It costs m + 1 trainings and serves one model.
    On tables the pull outweighs the labels, and accuracy drops. If a reference is given, the pull
    leaves out examples, and logits, of classes that it does not know.
    """

    m: int = 5
    a: float = 0.8
    margin: float = 0.0

    grid: ClassVar = {"m": (5,), "a": (0.5, 0.8)}

    def check(self) -> None:
        check_size(self.m)
        as_fraction(self.a, "a")
        as_number(self.margin, 0, "margin")

    def simplest(self) -> Method:
        return self if self.a > 0 else Control()

    def reference(self) -> Need | None:
        return Need(m=self.m) if self.a > 0 else None

    def extras(self, n: int, reference: Reference, rng: np.random.Generator) -> Extras:
        if self.a == 0:
            return {}
        found: Extras = {"elodi": np.mean(reference.every(self.m), axis=0, dtype=np.float32)}
        if reference.known is not None:
            known = reference.may_know[:, None] & reference.known
            found["elodi_known"] = known.astype(np.float32)
        return found

    def loss(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor:
        plain = super().loss(logits, batch, step)
        if self.a == 0:
            return plain
        label, towards = batch.targets.argmax(dim=1), batch.extras["elodi"]
        known = batch.extras.get("elodi_known")
        if known is None:
            pulled = [logit_difference(z, towards, label, self.margin) for z in logits]
            return (1 - self.a) * plain + self.a * sum(pulled[1:], pulled[0])
        # A logit that is pulled towards itself is not pulled; an example with none is plain. Below
        # 1 it is partly unknown: a mixture of two examples.
        is_known = known > 1 - KNOWN_WITHIN
        own = [towards.where(is_known, z.detach()) for z in logits]
        each = zip(logits, own, strict=True)
        pulled = [logit_difference(z, to, label, self.margin) for z, to in each]
        share = self.a * is_known.any(dim=1)
        return (1 - share) * plain + share * sum(pulled[1:], pulled[0])
