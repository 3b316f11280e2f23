"""Safe EMA: serve the average of the weights, unless it lags behind training.

While training still makes much progress, an average lags behind it: on small tables, after some
dozens of steps, `ema` can cost accuracy. Once steps mostly jump about, the average fits about as
well as the last weights, or better. The training loss tells the two cases apart, without held-out
rows.
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
    """Averages that serve only if their loss is not much higher than the last weights'."""

    lags: bool = False

    def finish(self, training_loss: LossOf) -> None:
        method: SafeEma = self.method  # type: ignore[assignment]
        self.lags = training_loss(self.averages) > (1 + method.slack) * training_loss(self.nets)

    def served(self) -> list[nn.Module]:
        return self.nets if self.lags else self.averages


@dataclass
class SafeEma(Ema):
    """Serve the moving average of the weights (`ema`), unless its training loss is too high.

    If the average's loss on the training data is more than (1 + `slack`) times that of the last
    weights, the last weights serve instead. The average reaches back over at most a tenth of
    training (`ema_decay`), so the default means: if a tenth of training still lowers the loss by
    more than a tenth, training is too short to average. This costs two passes over the training
    data at the end. In short trainings it does nothing.
    """

    slack: float = 0.1

    fit_class = _Guarded

    def check(self) -> None:
        super().check()
        as_number(self.slack, 0, "slack")
