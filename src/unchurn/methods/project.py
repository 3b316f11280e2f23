"""Project (after Schumann et al. 2024): serve weights between old and new that keep a budget."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unchurn.core.arrays import as_fraction
from unchurn.core.errors import InputError
from unchurn.methods.base import HeldOut, Method
from unchurn.methods.control import Control
from unchurn.methods.reference import Need, Reference
from unchurn.methods.warm_start import WarmStart, move_weights

if TYPE_CHECKING:
    from torch import nn

STEPS = 20  # of equal size, from the new weights to the old ones


@dataclass
class Project(WarmStart):
    """Warm start, train, then move the weights back to the reference until `max_bad_flips` is kept.

    Bad flips, examples that the reference gets right and the new model wrong, are counted on a
    held-out share `part` of the examples, which training misses. If it is known which examples the
    reference was trained on, only the others count, because it gets too many of its own right. The
    weights move in 20 equal steps and stop at the first that keeps the budget. The last step is
    the reference itself, so the budget is always kept on the held-out examples; with few of them,
    it may be missed on others. What changes the network (`smelu`) must be the reference's, too.
    With a budget of 1, this is a warm start alone.
    """

    a: float = 1.0
    max_bad_flips: float = 0.005
    part: float = 0.2

    grid: ClassVar = {"max_bad_flips": (0.002, 0.005, 0.01)}

    def check(self) -> None:
        super().check()
        as_fraction(self.max_bad_flips, "max_bad_flips")
        if not 0 < as_fraction(self.part, "part") < 1:
            raise InputError(f"part must be above 0 and below 1, not {self.part}")

    @property
    def _projects(self) -> bool:
        return self.max_bad_flips < 1

    def simplest(self) -> Method:
        if self._projects:
            return self
        return WarmStart(self.a) if self.a > 0 else Control()

    def reference(self) -> Need | None:
        return Need(is_fixed=True, weights=True) if self._projects or self.a > 0 else None

    def holds_out(self) -> float:
        return self.part if self._projects else 0.0

    def settle(self, nets: list[nn.Module], reference: Reference, held: HeldOut) -> list[nn.Module]:
        if not self._projects:
            return nets
        counted = held.weights * ~reference.seen[held.rows]
        if not counted.any():  # it was trained on all of them: better than counting nothing
            counted = held.weights * ~reference.taught[held.rows]
        if not counted.any():  # it has labelled all of them: every change is a flip
            counted = held.weights
        labels, was_right = reference.labels[held.rows], reference.is_right[held.rows]
        for step in range(STEPS + 1):
            stepped = [copy.deepcopy(net) for net in nets] if step else nets
            for net in stepped if step else ():
                move_weights(net, reference.weights, step / STEPS)
            (logits,) = held.logits(stepped)
            flips = was_right & (logits.argmax(axis=1) != labels)
            if np.average(flips, weights=counted) <= self.max_bad_flips:
                break
        return stepped
