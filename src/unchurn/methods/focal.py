"""Focal distillation (Yan et al. 2021): stay near an older model, above all where it is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from unchurn.core.arrays import as_number
from unchurn.core.errors import InputError
from unchurn.methods.base import Batch, Extras, Method
from unchurn.methods.control import Control
from unchurn.methods.reference import SHARED, Need, Reference

if TYPE_CHECKING:
    from torch import Tensor

Kind = Literal["logits", "kl"]


def focal_distance(logits: Tensor, before: Tensor, kind: Kind, tau: float) -> Tensor:
    """The distance of logits from the older model's, one value per example.

    It is ½·‖z − z°‖² ("logits"), or τ²·KL(softmax(z°/τ) ‖ softmax(z/τ)) ("kl").
    """
    if kind == "logits":
        return (logits - before).square().sum(dim=1) / 2
    log_p, log_q = (before / tau).log_softmax(dim=1), (logits / tau).log_softmax(dim=1)
    return tau**2 * (log_p.exp() * (log_p - log_q)).sum(dim=1)


@dataclass
class Focal(Method):
    """Stay near the reference's predictions, above all where it is right.

    The loss is cross-entropy + a·(alpha + beta·[the reference is right])·(distance to its logits).
    The distance is the KL divergence at temperature `tau`, or with `kind="logits"` half the squared
    difference of the logits. The reference is the model in production: the base of an upgrade, or
    the given one. The term leaves out examples, and logits, of classes that the reference does not
    know. Only networks can be trained with it. Without a warm start, short trainings lose accuracy.
    """

    a: float = 0.2
    alpha: float = 1.0
    beta: float = 5.0
    kind: str = "kl"
    tau: float = 2.0

    grid: ClassVar = {"a": (0.1, 0.2, 0.5)}

    def check(self) -> None:
        for name in ("a", "alpha", "beta"):
            as_number(getattr(self, name), 0, name)
        if self.kind not in ("logits", "kl"):
            raise InputError(f"kind must be 'logits' or 'kl', not {self.kind!r}")
        if as_number(self.tau, 0, "tau") == 0:
            raise InputError("tau must be above 0")

    def simplest(self) -> Method:
        return self if self.a > 0 else Control()

    def note(self) -> str | None:
        return None if self.a == 0 else SHARED.format(type(self).__name__)

    def reference(self) -> Need | None:
        return Need(is_fixed=True) if self.a > 0 else None

    def extras(self, n: int, reference: Reference, rng: np.random.Generator) -> Extras:
        if self.a == 0:
            return {}
        weights = (self.alpha + self.beta * reference.is_right) * reference.may_know
        found = {
            "focal": reference.logits,
            "focal_weights": np.asarray(self.a * weights, np.float32),
        }
        if reference.known is not None:
            shape = (n, len(reference.known))
            known = np.broadcast_to(reference.known.astype(np.float32), shape)
            found["focal_known"] = np.ascontiguousarray(known)
        return found

    def penalty(self, logits: Sequence[Tensor], batch: Batch, step: int) -> Tensor | None:
        if self.a == 0:
            return None
        before, known = batch.extras["focal"], batch.extras.get("focal_known")
        own: Sequence[Tensor] = logits
        if known is not None:  # the same in every row
            columns = known[0] > 0
            before, own = before[:, columns], [z[:, columns] for z in logits]
        kind: Kind = self.kind  # type: ignore[assignment]
        distances = [focal_distance(z, before, kind, self.tau) for z in own]
        return batch.extras["focal_weights"] * sum(distances[1:], distances[0])
