"""`Costs`: estimated seconds of fitting and scoring, from a short probe of the learner."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from unchurn.core.arrays import Float32
from unchurn.core.errors import InputError
from unchurn.study.design.parts import Parts
from unchurn.training.learners.base import DivergedError, Learner, score_distinct

PROBE_ROWS = 2000  # rows scored by the probe


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Estimated seconds of each step of a training."""

    fit: float  # of one network, or other model, on all training examples
    scoring: float  # of all parts that are predicted
    keeping_logits: float  # of the training data, for a reference

    @classmethod
    def measure(cls, learner: Learner, parts: Parts) -> Self | None:
        """Train a few steps and score a few examples; None if the probe fails."""
        try:
            probe = learner.probe(parts.x_train, parts.y_train, parts.n_classes)
            if probe is None:
                return None
            scored = [_seconds(probe.fitted.probabilities, x) for x in parts.x.values()]
            kept = _seconds(lambda x: score_distinct(probe.fitted, x), parts.x_train)
        except (InputError, DivergedError):  # the first run will explain it better
            return None
        return cls(fit=probe.seconds, scoring=sum(scored), keeping_logits=kept)


def _seconds(score: Callable[[Float32], object], x: Float32) -> float:
    """Seconds to score all inputs, extrapolated from PROBE_ROWS of them."""
    some = np.asarray(x[:PROBE_ROWS])
    start = time.perf_counter()
    score(some)
    return (time.perf_counter() - start) * len(x) / len(some)
