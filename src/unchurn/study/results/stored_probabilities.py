"""Read the test probabilities of a study's models back from its run store.

A result keeps only the predicted classes. The probabilities, which `blend` needs, are read when
files of predictions are written, one model at a time.
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
    """The store of a study and its schedules: the first, and those of fresh runs."""

    store: Store
    schedules: Sequence[Schedule]

    def by_run(self, row: SettingResult, run: int) -> Array:
        """Probabilities, (n, L), of one of a setting's reported runs."""
        schedule, place = self._find(row)
        before, last = schedule.before[place][run], schedule.members[place][run]
        return self._tested(schedule, [*before, last])

    def by_base(self, row: SettingResult, run: int) -> Array:
        """Probabilities, (n, L), of the model that a setting's reported run is compared with."""
        schedule, place = self._find(row)
        if schedule.bases:
            return self._mean(schedule, [schedule.bases[run]])
        before, last = schedule.before[place][run], schedule.members[place][run]
        return self._tested(schedule, [*before, last], back=1)

    def _find(self, row: SettingResult) -> tuple[Schedule, int]:
        """The schedule of a setting's reported runs, and the setting's position in it."""
        return next(
            (schedule, place)
            for schedule in self.schedules
            for place, setting in enumerate(schedule.experiment.settings)
            if (schedule.experiment.first_run > 0) == (row.fresh is not None)
            and setting.facts(schedule.experiment.scenario) == row.setting
        )

    def _tested(self, schedule: Schedule, chain: Sequence[list[Key]], back: int = 0) -> Array:
        """Probabilities by the release that tests each example, or one `back` releases before."""
        history = schedule.experiment.scenario.history
        if history is None:
            return self._mean(schedule, chain[-1])
        by = history.tested_by[PART] - back
        every = np.stack([self._mean(schedule, release) for release in chain])
        return np.asarray(every[by, np.arange(len(by))])

    def _mean(self, schedule: Schedule, members: Sequence[Key]) -> Array:
        """The mean probabilities of a model's members; a single member's unchanged."""
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
