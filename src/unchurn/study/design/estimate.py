"""Estimate how long the trainings of a study will take, and how many workers are worth starting."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from unchurn.core.executors.local import START_UP, makespan
from unchurn.study.design.schedule import Key, Schedule


@dataclass(frozen=True)
class Estimate:
    """Estimated seconds and number of workers; 1 worker if starting more would save no time."""

    seconds: float
    workers: int


def estimate(
    schedules: Sequence[Schedule], missing: Collection[Key], workers: int
) -> Estimate | None:
    """Estimate the time for the missing jobs of schedules in turn; None if costs are unknown.

    Trainings that need a reference are assumed to begin when all others are done.
    """
    costs = schedules[0].experiment.costs
    if costs is None:
        return None
    here, there = 0.0, START_UP
    left = set(missing)
    for schedule in schedules:
        own = [key for key in schedule.jobs if key in left]
        left -= set(own)
        for waits in (False, True):
            now = [key for key in own if (key in schedule.references) is waits]
            each = [schedule.seconds(keys, costs) for keys in schedule.together(now)]
            here += sum(each)
            there += makespan(sorted(each, reverse=True), workers)
    return Estimate(there, workers) if workers > 1 and there < here else Estimate(here, 1)
