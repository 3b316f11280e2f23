"""About how long trainings will take, from a probe of what trains them."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from unchurn.core.arrays import Float32
from unchurn.core.errors import InputError
from unchurn.study.experiment import Experiment
from unchurn.study.schedule import Key, Schedule
from unchurn.training.learners.base import DivergedError, score_distinct

PROBE_ROWS = 2000  # that are scored
START_UP = 5.0  # seconds until worker processes run and have imported what trains


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Seconds of what a training is made of."""

    fit: float  # of one network, or whatever is trained, on all examples
    scoring: float  # of the parts that are predicted
    keeping_logits: float  # of the training data, by a reference

    @classmethod
    def measure(cls, experiment: Experiment) -> Self | None:
        """Try a few steps and score a few examples; None if that fails."""
        parts = experiment.parts
        try:
            probe = experiment.learner.probe(parts.x_train, parts.y_train, parts.n_classes)
            if probe is None:
                return None
            scored = [_seconds(probe.fitted.probabilities, x) for x in parts.x.values()]
            kept = _seconds(lambda x: score_distinct(probe.fitted, x), parts.x_train)
        except (InputError, DivergedError):  # which the first run says better
            return None
        return cls(fit=probe.seconds, scoring=sum(scored), keeping_logits=kept)

    def of(self, schedule: Schedule, keys: Sequence[Key]) -> float:
        """Seconds of one training, which serves jobs together."""
        nets = sum(one.n_nets for one in schedule.jobs[keys[0]].method.candidates())
        kept = sum(schedule.keeps(key).logits for key in keys)
        fit = self.fit * _share(schedule, keys[0])
        return fit * nets + self.scoring * len(keys) + self.keeping_logits * kept


def _share(schedule: Schedule, key: Key) -> float:
    """How much of the training examples a job sees."""
    experiment, job = schedule.experiment, schedule.jobs[key]
    n = len(experiment.parts.x_train)
    rows = experiment.scenario.rows(experiment.seed, job.run, job.fit, n)
    return 1.0 if rows is None else len(rows) / n


def estimate(schedules: Sequence[Schedule], missing: Collection[Key], workers: int) -> float | None:
    """Seconds that the missing jobs of schedules take, one schedule after another.

    Trainings that look at a reference begin when the others are done.
    """
    costs = Costs.measure(schedules[0].experiment)
    if costs is None:
        return None
    left = set(missing)
    seconds = START_UP if min(workers, len(left)) > 1 else 0.0
    for schedule in schedules:
        own = [key for key in schedule.jobs if key in left]
        left -= set(own)
        for waits in (False, True):
            now = [key for key in own if (key in schedule.references) is waits]
            trainings = [costs.of(schedule, keys) for keys in schedule.together(now)]
            seconds += makespan(trainings, workers)
    return seconds


def makespan(seconds: Sequence[float], workers: int) -> float:
    """When the last of some calls ends, each begun by the first worker that is free.

    >>> makespan([3, 3, 3], workers=2)
    6.0
    """
    free = [0.0] * workers
    for each in seconds:
        heapq.heapreplace(free, free[0] + each)
    return max(free)


def _seconds(score: Callable[[Float32], object], x: Float32) -> float:
    """How long it takes to score inputs, from some of them."""
    some = np.asarray(x[:PROBE_ROWS])
    start = time.perf_counter()
    score(some)
    return (time.perf_counter() - start) * len(x) / len(some)
