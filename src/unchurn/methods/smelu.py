"""SmeLU: replace ReLU by a smooth activation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unchurn.core.arrays import as_number
from unchurn.methods.base import Method
from unchurn.methods.control import Control

if TYPE_CHECKING:
    from torch import nn


@dataclass
class Smelu(Method):
    """Replace every `torch.nn.ReLU` of the network by SmeLU, a ReLU with a smooth corner.

    `beta` is half the width of the corner; 0 is ReLU. A step takes a little longer, and it learns
    more slowly: with an equal number of steps it can lose accuracy. To use SmeLU in a network that
    you train yourself, see `unchurn.replace_relu`.
    """

    beta: float = 1.0

    grid: ClassVar = {"beta": (0.5, 1.0)}

    def check(self) -> None:
        as_number(self.beta, 0, "beta")

    def simplest(self) -> Method:
        return self if self.beta > 0 else Control()

    def adapt(self, net: nn.Module) -> nn.Module:
        from unchurn.methods.activations import replace_relu

        return replace_relu(net, self.beta) if self.beta > 0 else net
