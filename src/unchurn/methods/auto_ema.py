"""Auto EMA: the average of the weights serves once steps jump about more than they make way.

An average of weights lags behind training that still makes way, and costs accuracy there. Whether
it does so is seen by an average without lag: twice the average, less the average of the average
(Brown 1963, of time series), which is about where the weights would be if steps only made way. If
that fits the training data better than the last weights, these are off by their jumps, and the
average serves; if not, the last weights do.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unchurn.methods.averaging import Averages
from unchurn.methods.base import LossOf, Method
from unchurn.methods.ema import Ema

if TYPE_CHECKING:
    import torch
    from torch import nn


class _Judged(Averages):
    """Averages that serve only where an average without lag fits better than the last weights."""

    jumps: bool = False

    def __init__(self, method: Method, nets: Sequence[nn.Module], n_steps: int) -> None:
        super().__init__(method, nets, n_steps)
        self.firsts = _weights(self.averages)
        self.lagging = [average.clone() for average in self.firsts]  # the averages' own averages

    def after_step(self, step: int) -> None:
        import torch

        super().after_step(step)
        if share := self.method.share(step, self.n_steps):
            with torch.no_grad():
                torch._foreach_lerp_(self.lagging, self.firsts, share)

    def finish(self, training_loss: LossOf) -> None:
        import torch

        # What is no weight, as batch norm's statistics, is the average's: it must not leave its
        # range.
        without_lag = [copy.deepcopy(average) for average in self.averages]
        with torch.no_grad():
            for weight, lagging in zip(_weights(without_lag), self.lagging, strict=True):
                weight.mul_(2).sub_(lagging)
        self.jumps = training_loss(without_lag) < training_loss(self.nets)

    def served(self) -> list[nn.Module]:
        return self.averages if self.jumps else self.nets


def _weights(nets: Sequence[nn.Module]) -> list[torch.Tensor]:
    """Those of all networks, themselves."""
    return [weight for net in nets for weight in net.parameters()]


@dataclass
class AutoEma(Ema):
    """Serve the moving average of the weights where steps jump about more than they make way.

    That is where twice the average less the average of the average, which does not lag behind, has
    a lower loss on what was trained on than the last weights; else these serve. The decay is
    `ema`'s. It takes a second copy of the weights, and two passes over the training data at the
    end.
    """

    fit_class = _Judged
