"""Count trainings the same way for the plan, the progress bar and the message after Ctrl-C.

A training may serve several jobs, and fresh runs may need a reference that was trained before:
each training counts once, and as done when all its jobs are.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from unchurn.study.design.schedule import Key, Schedule
from unchurn.study.trainings.store import Store


def trainings_of(schedules: Iterable[Schedule]) -> list[tuple[Key, ...]]:
    """The jobs of each training, for schedules carried out in turn; each training once."""
    found: list[tuple[Key, ...]] = []
    before: set[Key] = set()
    for schedule in schedules:
        found += schedule.together(key for key in schedule.jobs if key not in before)
        before |= schedule.jobs.keys()
    return found


def missing_jobs(schedules: Iterable[Schedule], store: Store) -> set[Key]:
    """The jobs of schedules that are not in a store."""
    jobs = {key: (one, job) for one in schedules for key, job in one.jobs.items()}
    return {k for k, (one, job) in jobs.items() if not store.has(one.experiment.identity(job))}


def n_kept(schedules: Iterable[Schedule], missing: Set[Key]) -> int:
    """How many trainings of schedules are done, given the jobs that are missing."""
    return sum(missing.isdisjoint(keys) for keys in trainings_of(schedules))


class Tally:
    """Counts the finished trainings of a schedule as its jobs finish."""

    def __init__(self, schedule: Schedule) -> None:
        groups = [set(keys) for keys in trainings_of([schedule])]
        self._left = {key: group for group in groups for key in group}
        self.done, self.total = 0, len(groups)

    def note(self, key: Key) -> None:
        """Note that a job is finished."""
        left = self._left.pop(key)
        left.remove(key)
        self.done += not left
