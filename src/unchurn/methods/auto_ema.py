"""Auto EMA: serve the weight average only if an average without lag beats the last weights.

While training still makes progress, an average of the weights lags behind it and costs accuracy.
The average 2·EMA − EMA(EMA) has no lag (Brown 1963, for time series): it is about where the weights
would be without the noise of single steps. If its training loss is lower than the last weights',
noise dominates the last weights, and the EMA serves; if not, the last weights serve.
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
    """Averages that serve only if an average without lag has lower loss than the last weights."""

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

        # Buffers, such as batch norm's statistics, stay the average's: extrapolation might take
        # them out of their range.
        without_lag = [copy.deepcopy(average) for average in self.averages]
        with torch.no_grad():
            for weight, lagging in zip(_weights(without_lag), self.lagging, strict=True):
                weight.mul_(2).sub_(lagging)
        self.jumps = training_loss(without_lag) < training_loss(self.nets)

    def served(self) -> list[nn.Module]:
        return self.averages if self.jumps else self.nets


def _weights(nets: Sequence[nn.Module]) -> list[torch.Tensor]:
    """The weights of all networks, without copying them."""
    return [weight for net in nets for weight in net.parameters()]


@dataclass
class AutoEma(Ema):
    """Serve the moving average of the weights (`ema`) if training has settled.

    If it has not, the last weights serve. Training has settled if an average without lag,
    2·EMA − EMA(EMA), has a lower loss on the training data than the last weights. This needs one
    more copy of the weights, and two passes over the training data at the end. It serves the last
    weights more often than `safe_ema` does: that lowers churn less often, but in short trainings
    costs less accuracy on average.
    """

    fit_class = _Judged
