"""`Averages`: serve networks whose weights are averaged over the steps of training."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from unchurn.methods.base import Fit, Method

if TYPE_CHECKING:
    import torch
    from torch import nn


class Averaging(Protocol):
    """A method that decides how much each step's weights count in the average."""

    def share(self, step: int, n_steps: int) -> float:
        """The share of a step's weights in the new average: 0 keeps the average, 1 replaces it."""


class Averages(Fit):
    """Copies of the networks that hold the averages."""

    method: Averaging  # type: ignore[assignment]

    def __init__(self, method: Method, nets: Sequence[nn.Module], n_steps: int) -> None:
        super().__init__(method, nets, n_steps)
        self.averages = [copy.deepcopy(net).requires_grad_(False) for net in nets]
        pairs = [
            (average, current)
            for mean, net in zip(self.averages, nets, strict=True)
            for average, current in zip(_state(mean), _state(net), strict=True)
        ]
        # Statistics such as batch norm's are averaged like weights; counts are copied.
        self.floats = [pair for pair in pairs if pair[0].is_floating_point()]
        self.counts = [pair for pair in pairs if not pair[0].is_floating_point()]

    def after_step(self, step: int) -> None:
        import torch

        if (share := self.method.share(step, self.n_steps)) == 0:
            return
        with torch.no_grad():
            averages, currents = map(list, zip(*self.floats, strict=True))
            torch._foreach_lerp_(averages, currents, share)
            for average, current in self.counts:
                average.copy_(current)

    def served(self) -> list[nn.Module]:
        return self.averages


def _state(net: nn.Module) -> list[torch.Tensor]:
    """The weights and buffers of a network, without copying them."""
    return [*net.parameters(), *net.buffers()]
