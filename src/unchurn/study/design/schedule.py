"""`Schedule`: the trainings that an experiment needs, each once.

Run r of every setting uses the same streams (see `training/loop/streams.py`), so a training may
serve several settings: a plain fit may be a run of control, a reference and a member of an
ensemble. Jobs that differ only in the weights that serve, such as averages, are trained together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from unchurn.methods import Control
from unchurn.methods.cost import longer, n_fits
from unchurn.study.design.costs import Costs
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.job import Job
from unchurn.study.design.settings import Setting
from unchurn.study.trainings.train import Keeps
from unchurn.training.learners.base import most_neighbours
from unchurn.training.loop.streams import BASE_FIT, member_fits

Key = str  # the hash of a job's identity


@dataclass(frozen=True)
class Schedule:
    """The jobs of an experiment, by key, and which setting, run or job needs which of them."""

    experiment: Experiment
    jobs: dict[Key, Job] = field(default_factory=dict)
    given: dict[Key, Job] = field(default_factory=dict)  # not trained: the base, if it was given
    members: list[list[list[Key]]] = field(default_factory=list)  # by setting and run
    before: list[list[list[list[Key]]]] = field(default_factory=list)  # members of earlier releases
    bases: list[Key] = field(default_factory=list)  # by run; empty if the scenario has no base
    references: dict[Key, list[Key]] = field(default_factory=dict)  # the jobs that a job needs
    neighbours: dict[Key, set[int]] = field(default_factory=dict)  # each k needed of a reference

    @property
    def n_separate(self) -> int:
        """Number of trainings if every run of every setting were trained on its own."""
        each = zip(self.experiment.settings, self.before, strict=True)
        return sum(n_fits(one.method) * max(len(own), 1) for one, runs in each for own in runs)

    @property
    def n_trainings(self) -> int:
        """Number of trainings needed; jobs that are trained together count as one."""
        return len(self.together(self.jobs))

    def together(self, keys: Iterable[Key]) -> list[tuple[Key, ...]]:
        """Group jobs so that one training serves each group."""
        groups: dict[tuple[Key, ...], list[Key]] = {}
        for key in keys:
            job = self.jobs[key]
            trained = replace(job, method=job.method.trained().simplest())
            # Releases of each setting have their own base: only jobs with the same one are grouped.
            looked_at = self.references.get(key, ()) if job.release else ()
            groups.setdefault((self.experiment.key(trained), *looked_at), []).append(key)
        return [tuple(group) for group in groups.values()]

    def keeps(self, key: Key) -> Keeps:
        """What a job stores besides its predictions, because other jobs need it."""
        return Keeps(
            logits=self.jobs[key].is_reference or key in self._looked_at,
            weights=key in self._started_from,
        )

    def seconds(self, keys: Sequence[Key], costs: Costs) -> float:
        """Estimated seconds of one training that serves all these jobs."""
        method = self.jobs[keys[0]].method
        nets = sum(one.n_nets for one in method.candidates()) * longer(method)
        kept = sum(self.keeps(key).logits for key in keys)
        fit = costs.fit * self._share_seen(keys[0])
        return fit * nets + costs.scoring * len(keys) + costs.keeping_logits * kept

    def _share_seen(self, key: Key) -> float:
        """Share of the training examples that a job sees."""
        experiment, job = self.experiment, self.jobs[key]
        n = len(experiment.parts.x_train)
        rows = experiment.scenario.rows(experiment.seed, job.run, job.fit, n)
        return 1.0 if rows is None else len(rows) / n

    def looks_at(self, keys: Iterable[Key]) -> list[Key]:
        """The references of jobs that share one training: the longest of their lists."""
        each = [self.references[key] for key in keys if key in self.references]
        return max(each, key=len, default=[])

    @cached_property
    def _looked_at(self) -> set[Key]:
        return {key for references in self.references.values() for key in references}

    @cached_property
    def _started_from(self) -> set[Key]:
        needs = {key: self.jobs[key].method.reference() for key in self.references}
        return {self.references[key][0] for key, need in needs.items() if need and need.weights}

    @property
    def in_ensembles(self) -> set[Key]:
        """Jobs whose probabilities are averaged with those of other jobs."""
        last = (run for of_setting in self.members for run in of_setting)
        before = (one for of_setting in self.before for run in of_setting for one in run)
        return {key for one in (*last, *before) if len(one) > 1 for key in one}

    def asks_too_many(self, key: Key) -> bool:
        """Whether a job needs more neighbours than there are training examples."""
        return most_neighbours(self.jobs[key].method) > len(self.experiment.parts.x_train)


def make_schedule(experiment: Experiment) -> Schedule:
    """List the jobs of an experiment, each once, references first."""
    schedule = Schedule(experiment)
    for run in experiment.run_numbers:
        if (base := experiment.scenario.base_of(run)) is not None:
            schedule.bases.append(_add(schedule, Job(Control(), *base)))
    for setting in experiment.settings:
        runs = [_add_run(schedule, setting, run) for run in experiment.run_numbers]
        schedule.members.append([chain[-1] for chain in runs])
        schedule.before.append([chain[:-1] for chain in runs])
    first = {key for references in schedule.references.values() for key in references}
    ordered = sorted(schedule.jobs.items(), key=lambda item: item[0] not in first)
    schedule.jobs.clear()
    schedule.jobs.update(ordered)
    return schedule


def _add_run(schedule: Schedule, setting: Setting, run: int) -> list[list[Key]]:
    """Add the jobs of a setting's run and their references; return keys by release and member.

    Without a chain of releases, there is one release.
    """
    method = setting.method.simplest()
    fits = zip(method.members(), member_fits(method), strict=True)
    jobs = [Job(member.simplest(), run, own[0]) for member, own in fits]
    chain = schedule.experiment.scenario.chain(jobs)
    return [[_add(schedule, job) for job in release] for release in chain]


def _add(schedule: Schedule, job: Job) -> Key:
    key = schedule.experiment.key(job)
    if job.fit == BASE_FIT and schedule.experiment.scenario.given is not None:
        schedule.given[key] = job
        return key
    schedule.jobs.setdefault(key, job)
    looked_at = schedule.experiment.scenario.references(job)
    if looked_at:
        references = [_add(schedule, one) for one in looked_at]
        schedule.references[key] = references
        need = job.method.reference()
        if need is not None and not schedule.asks_too_many(key):
            schedule.neighbours.setdefault(references[0], set()).update(need.ks)
    return key
