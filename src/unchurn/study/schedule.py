"""`Schedule`: which trainings an experiment takes, each once.

Every setting's run r is paired with every other's (see `training/streams.py`), so a training may
serve several: a plain fit is control's run, another's reference, a member of an ensemble.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from unchurn.methods import Control
from unchurn.study.experiment import Experiment, Job
from unchurn.study.settings import Setting
from unchurn.training.learners.base import most_neighbours
from unchurn.training.streams import member_fits

Key = str  # of a job, by what decides its result


@dataclass(frozen=True)
class Schedule:
    """The trainings of an experiment, and who needs which."""

    experiment: Experiment
    jobs: dict[Key, Job] = field(default_factory=dict)
    members: list[list[list[Key]]] = field(default_factory=list)  # by setting and run
    bases: list[Key] = field(default_factory=list)  # by run, where runs are held against one
    references: dict[Key, Key] = field(default_factory=dict)  # the job that a job looks at
    neighbours: dict[Key, set[int]] = field(default_factory=dict)  # of a reference, for which k

    @property
    def n_separate(self) -> int:
        """Trainings, if every run of every setting were made on its own."""
        return sum(
            len(setting.method.members()) + (setting.method.reference() is not None)
            for setting in self.experiment.settings
        ) * self.experiment.runs  # fmt: skip

    @property
    def in_ensembles(self) -> set[Key]:
        """Jobs whose probabilities are averaged with others'."""
        runs = (run for of_setting in self.members for run in of_setting)
        return {key for run in runs if len(run) > 1 for key in run}

    def asks_too_many(self, key: Key) -> bool:
        """Whether a job asks for more neighbours than there are examples."""
        return most_neighbours(self.jobs[key].method) > len(self.experiment.parts.x_train)


def make_schedule(experiment: Experiment) -> Schedule:
    """List the trainings, each once, those that others wait for first."""
    schedule = Schedule(experiment)
    for run in range(experiment.runs):
        if (base := experiment.scenario.base(run)) is not None:
            schedule.bases.append(_add(schedule, Job(Control(), *base)))
    for setting in experiment.settings:
        runs = [_add_run(schedule, setting, run) for run in range(experiment.runs)]
        schedule.members.append(runs)
    first = set(schedule.references.values())
    ordered = sorted(schedule.jobs.items(), key=lambda item: item[0] not in first)
    schedule.jobs.clear()
    schedule.jobs.update(ordered)
    return schedule


def _add_run(schedule: Schedule, setting: Setting, run: int) -> list[Key]:
    """Add the trainings whose mean is a setting's run, and those that they look at."""
    method = setting.method.simplest()
    fits = zip(method.members(), member_fits(method), strict=True)
    jobs = [Job(member.simplest(), run, own[0]) for member, own in fits]
    return [_add(schedule, job) for job in jobs]


def _add(schedule: Schedule, job: Job) -> Key:
    key = schedule.experiment.key(job)
    schedule.jobs.setdefault(key, job)
    where = schedule.experiment.scenario.reference(job.method, job.run)
    if where is not None:
        reference = _add(schedule, Job(Control(), *where))
        schedule.references[key] = reference
        need = job.method.reference()
        if need is not None and not schedule.asks_too_many(key):
            schedule.neighbours.setdefault(reference, set()).update(need.ks)
    return key
