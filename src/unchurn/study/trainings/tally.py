"""Trainings counted in one way: by what says how many there will be, the bar, and an interruption.

A training may serve several jobs, and fresh runs may look at a reference that was trained before:
each is counted once, and as done when all that it serves is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from unchurn.study.design.schedule import Key, Schedule
from unchurn.study.trainings.store import Store


def trainings_of(schedules: Iterable[Schedule]) -> list[tuple[Key, ...]]:
    """The jobs of each training of schedules that are carried out in turn, each training once."""
    found: list[tuple[Key, ...]] = []
    before: set[Key] = set()
    for schedule in schedules:
        found += schedule.together(key for key in schedule.jobs if key not in before)
        before |= schedule.jobs.keys()
    return found


def missing_jobs(schedules: Iterable[Schedule], store: Store) -> set[Key]:
    """The jobs of schedules that a store does not hold."""
    jobs = {key: (one, job) for one in schedules for key, job in one.jobs.items()}
    return {k for k, (one, job) in jobs.items() if not store.has(one.experiment.identity(job))}


def n_kept(schedules: Iterable[Schedule], missing: Set[Key]) -> int:
    """How many trainings of schedules there are, where these jobs are missing."""
    return sum(missing.isdisjoint(keys) for keys in trainings_of(schedules))


class Tally:
    """How many trainings of a schedule are done, as its jobs are."""

    def __init__(self, schedule: Schedule) -> None:
        groups = [set(keys) for keys in trainings_of([schedule])]
        self._left = {key: group for group in groups for key in group}
        self.done, self.total = 0, len(groups)

    def note(self, key: Key) -> None:
        """A job is there."""
        left = self._left.pop(key)
        left.remove(key)
        self.done += not left
