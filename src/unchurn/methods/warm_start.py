"""Warm start: training begins at an older model's weights instead of random ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unchurn.core.arrays import as_fraction
from unchurn.core.errors import InputError
from unchurn.methods.base import Method
from unchurn.methods.control import Control
from unchurn.methods.reference import SHARED, Need, Weights

if TYPE_CHECKING:
    from torch import nn


@dataclass
class WarmStart(Method):
    """Start training at (1 − a)·(random weights) + a·(the reference's weights).

    The reference is the model in production: the base of an upgrade, or the given one. It must be
    the same network for the same classes. It costs nothing, but alone it leaves most bad flips:
    combine it with `anchor`.
    """

    a: float = 1.0

    grid: ClassVar = {"a": (0.5, 1.0)}

    def check(self) -> None:
        as_fraction(self.a, "a")

    def simplest(self) -> Method:
        return self if self.a > 0 else Control()

    def note(self) -> str | None:
        return None if self.reference() is None else SHARED.format(type(self).__name__)

    def reference(self) -> Need | None:
        return Need(is_fixed=True, weights=True) if self.a > 0 else None

    def start(self, net: nn.Module, weights: Weights) -> None:
        if self.a > 0:
            move_weights(net, weights, self.a)


def move_weights(net: nn.Module, towards: Weights, share: float) -> None:
    """Move a network's weights, and statistics such as batch norm's, a share of the way."""
    import torch

    own = net.state_dict()
    shapes = {name: tuple(value.shape) for name, value in own.items()}
    if {name: tuple(value.shape) for name, value in towards.items()} != shapes:
        raise InputError(
            "the reference is another network, or one for other classes: its weights do not fit"
        )
    with torch.no_grad():
        for name, value in own.items():
            target = torch.tensor(towards[name]).to(value)  # a copy: shared weights are read-only
            is_between = share < 1 and value.is_floating_point()  # counts cannot be interpolated
            value.copy_(torch.lerp(value, target, share) if is_between else target)
