"""`Costs`: about how long the parts of a training take, from a probe of what trains."""

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

PROBE_ROWS = 2000  # that are scored


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Seconds of what a training is made of."""

    fit: float  # of one network, or whatever is trained, on all examples
    scoring: float  # of the parts that are predicted
    keeping_logits: float  # of the training data, by a reference

    @classmethod
    def measure(cls, learner: Learner, parts: Parts) -> Self | None:
        """Try a few steps and score a few examples; None if that fails."""
        try:
            probe = learner.probe(parts.x_train, parts.y_train, parts.n_classes)
            if probe is None:
                return None
            scored = [_seconds(probe.fitted.probabilities, x) for x in parts.x.values()]
            kept = _seconds(lambda x: score_distinct(probe.fitted, x), parts.x_train)
        except (InputError, DivergedError):  # which the first run says better
            return None
        return cls(fit=probe.seconds, scoring=sum(scored), keeping_logits=kept)


def _seconds(score: Callable[[Float32], object], x: Float32) -> float:
    """How long it takes to score inputs, from some of them."""
    some = np.asarray(x[:PROBE_ROWS])
    start = time.perf_counter()
    score(some)
    return (time.perf_counter() - start) * len(x) / len(some)
