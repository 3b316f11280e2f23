"""Safe EMA: the average of the weights serves unless it lags behind what was trained.

While training still makes much way, an average lags behind it: on small tables, after some dozens
of steps, `ema` can cost accuracy. Once steps mostly jump about, the average fits about as well as
the last of them, or better. Which of the two it is, the training loss tells, without held-out rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unchurn.core.arrays import as_number
from unchurn.methods.averaging import Averages
from unchurn.methods.base import LossOf
from unchurn.methods.ema import Ema

if TYPE_CHECKING:
    from torch import nn


class _Guarded(Averages):
    """Averages that serve only if their loss is not much above that of the last weights."""

    lags: bool = False

    def finish(self, training_loss: LossOf) -> None:
        method: SafeEma = self.method  # type: ignore[assignment]
        self.lags = training_loss(self.averages) > (1 + method.slack) * training_loss(self.nets)

    def served(self) -> list[nn.Module]:
        return self.nets if self.lags else self.averages


@dataclass
class SafeEma(Ema):
    """Serve the moving average of the weights, unless its training loss is too high.

    The last weights serve instead where the average's loss on what was trained on is more than
    `slack` above theirs, as a share of it. That takes two passes over the training data at the end.
    The average reaches back about a tenth of training at most (`ema_decay`): where a tenth of
    training lowers the loss by more than a tenth, it is too short to average. The decay is `ema`'s.
    """

    slack: float = 0.1

    fit_class = _Guarded

    def check(self) -> None:
        super().check()
        as_number(self.slack, 0, "slack")
