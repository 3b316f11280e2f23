"""`StoredProbabilities`: what a study's models gave the classes of each test row, from its store.

A result keeps the predicted classes alone. What `blend` needs besides is read when files of
predictions are written, one model at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.study.design.schedule import Key, Schedule
from unchurn.study.results.result import SettingResult
from unchurn.study.trainings.store import DamagedError, Store

PART = "test"


@dataclass(frozen=True)
class StoredProbabilities:
    """What is kept of the schedules of a study, the first and those of fresh runs."""

    store: Store
    schedules: Sequence[Schedule]

    def by_run(self, row: SettingResult, run: int) -> Array:
        """(n, L) of one of a setting's reported runs."""
        schedule, place = self._find(row)
        before, last = schedule.before[place][run], schedule.members[place][run]
        return self._tested(schedule, [*before, last])

    def by_base(self, row: SettingResult, run: int) -> Array:
        """(n, L) of the model that one of a setting's reported runs is held against."""
        schedule, place = self._find(row)
        if schedule.bases:
            return self._mean(schedule, [schedule.bases[run]])
        before, last = schedule.before[place][run], schedule.members[place][run]
        return self._tested(schedule, [*before, last], back=1)

    def _find(self, row: SettingResult) -> tuple[Schedule, int]:
        """The schedule that a setting's reported runs are of, and the setting's place in it."""
        return next(
            (schedule, place)
            for schedule in self.schedules
            for place, setting in enumerate(schedule.experiment.settings)
            if (schedule.experiment.first_run > 0) == (row.fresh is not None)
            and setting.facts(schedule.experiment.scenario) == row.setting
        )

    def _tested(self, schedule: Schedule, chain: Sequence[list[Key]], back: int = 0) -> Array:
        """Of a chain of releases, an example by the one that it is tested by, or one before."""
        history = schedule.experiment.scenario.history
        if history is None:
            return self._mean(schedule, chain[-1])
        by = history.tested_by[PART] - back
        every = np.stack([self._mean(schedule, release) for release in chain])
        return np.asarray(every[by, np.arange(len(by))])

    def _mean(self, schedule: Schedule, members: Sequence[Key]) -> Array:
        """What the members of a model say on average; of one alone, to its last bit."""
        each = [self._alone(schedule, key) for key in members]
        if len(each) == 1:
            return each[0]
        return np.asarray(np.sum(each, axis=0, dtype=np.float64) / len(each))

    def _alone(self, schedule: Schedule, key: Key) -> Array:
        experiment = schedule.experiment
        if key in schedule.given and experiment.scenario.given is not None:
            return experiment.scenario.given.probabilities[PART]
        try:
            stored = self.store.get(experiment.identity(schedule.jobs[key]))
        except DamagedError as error:
            raise InputError(f"{error}: run the same bench again, which makes it anew") from error
        if stored is None:
            raise InputError(
                f"{self.store.folder / key} was removed meanwhile: run the same bench again"
            )
        return stored.arrays[PART]
