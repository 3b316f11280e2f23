"""Ensemble: average m independent models. The most stable method, at m times the cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from unchurn.core.arrays import as_whole
from unchurn.core.errors import InputError
from unchurn.methods.base import Method
from unchurn.methods.control import Control

MOST = 1000  # models: each is a training, and a mistyped number would take for ever to list


def check_size(m: int) -> None:
    """Refuse a number of models below 1, or absurdly large."""
    if as_whole(m, 1, "m") > MOST:
        raise InputError(f"m must be at most {MOST}, not {m:,}")


@dataclass
class Ensemble(Method):
    """Average the probabilities of m fits, each with its own initialisation and batch order.

    It is the most stable method, at m times the cost of training and of serving. Alone it averages
    plain fits; `ensemble+ema` averages fits with averaged weights. Any learner can train it.
    """

    m: int = 5

    changes = "targets"
    grid: ClassVar = {"m": (3, 5)}

    def check(self) -> None:
        check_size(self.m)

    def simplest(self) -> Method:
        return self if self.m > 1 else Control()

    def members(self) -> Sequence[Method]:
        return (Control(),) * self.m
