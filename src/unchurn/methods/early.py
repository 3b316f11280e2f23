"""Early stopping: serve the weights of the epoch with the lowest loss on held-out examples."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unchurn.core.arrays import as_fraction
from unchurn.core.errors import InputError
from unchurn.methods.base import Fit, LossOf, Method
from unchurn.methods.control import Control

if TYPE_CHECKING:
    from torch import nn


class _Best(Fit):
    """The weights after the best epoch so far."""

    def __init__(self, method: Method, nets: Sequence[nn.Module], n_steps: int) -> None:
        super().__init__(method, nets, n_steps)
        self.lowest = math.inf
        self.best = [copy.deepcopy(net.state_dict()) for net in nets]

    def after_epoch(self, held_loss: LossOf | None) -> None:
        if held_loss is not None and (loss := held_loss(self.nets)) < self.lowest:
            self.lowest = loss
            self.best = [copy.deepcopy(net.state_dict()) for net in self.nets]

    def served(self) -> list[nn.Module]:
        if self.lowest < math.inf:
            for net, state in zip(self.nets, self.best, strict=True):
                net.load_state_dict(state)
        return self.nets


@dataclass
class Early(Method):
    """Hold out the share `part` of the examples; serve the epoch with the lowest loss on them.

    Training still runs to its end, so it takes as long as plain training. The held-out examples are
    not trained on, and if they are few, choosing an epoch by them adds churn.
    """

    part: float = 0.1

    grid: ClassVar = {"part": (0.1,)}
    fit_class = _Best

    def check(self) -> None:
        if as_fraction(self.part, "part") == 1:
            raise InputError("part must be below 1: at 1 there is nothing to train on")

    def simplest(self) -> Method:
        return self if self.part > 0 else Control()

    def holds_out(self) -> float:
        return self.part
