"""Carry out a schedule: train the jobs that are not in the store, through an executor."""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from unchurn.core.executors import Call, Executor
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.job import Job
from unchurn.study.design.schedule import Key, Schedule
from unchurn.study.trainings.store import DamagedError, Store, TrainedRun, key_of
from unchurn.study.trainings.store_check import checked_run
from unchurn.study.trainings.tally import Tally
from unchurn.study.trainings.train import (
    TOO_FEW,
    Common,
    failed_run,
    find_neighbours,
    given_run,
    train_jobs,
)
from unchurn.training.learners.base import most_neighbours

KILLED = "its process was killed, most likely for want of memory"
# trainings done, their total, and the job that was just finished, if any
OnProgress = Callable[[int, int, "tuple[Job, TrainedRun] | None"], None]


@dataclass
class Trainings:
    """The arrays of each job that results need, and notes on damaged runs."""

    schedule: Schedule
    by_key: dict[Key, TrainedRun] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._in_ensembles = self.schedule.in_ensembles

    def take(self, key: Key, stored: TrainedRun) -> None:
        """Keep only the arrays that results need: predictions or, in ensembles, probabilities."""
        kind = "" if key in self._in_ensembles else "_predictions"
        parts = [part for part in self.schedule.experiment.parts.x if part in stored.arrays]
        arrays = {part: stored.arrays[f"{part}{kind}"] for part in parts}
        self.by_key[key] = TrainedRun(stored.record, arrays)


def carry_out(
    schedule: Schedule,
    store: Store,
    executor: Executor,
    on_progress: OnProgress = lambda done, total, last: None,
) -> Trainings:
    """Train the jobs that are not in the store; return all trainings, each read once."""
    store.open()
    return _Driver(schedule, store, executor, on_progress).run()


def _read(store: Store, experiment: Experiment, job: Job) -> TrainedRun | None:
    """A stored run, or None; DamagedError if it does not fit the experiment."""
    identity = experiment.identity(job)
    stored = store.get(identity)
    if stored is None:
        return None
    try:
        return checked_run(stored, experiment.parts, is_reference=job.is_reference)
    except DamagedError as error:
        raise DamagedError(f"{store.folder / key_of(identity)}: {error}") from error


@dataclass(frozen=True)
class _Training:
    """The key of a call that trains some jobs together."""

    keys: tuple[Key, ...]
    is_waited_for: bool


@dataclass(frozen=True)
class _Search:
    """The key of a call that finds the neighbours among a reference's logits."""

    key: Key


def _turn(call: Call) -> tuple[int, float]:
    """Sort key of calls: those that others wait for first, then the longest.

    So the last calls are short, and no core is idle for long at the end.
    """
    is_search = isinstance(call.key, _Search)
    return 0 if is_search else 1 if call.key.is_waited_for else 2, -(call.seconds or 0)


class _Driver:
    """Makes the calls: jobs that need a reference once it is trained, all others at once.

    Only this process writes to the store.
    """

    def __init__(
        self, schedule: Schedule, store: Store, executor: Executor, on_progress: OnProgress
    ) -> None:
        self.schedule, self.store, self.executor = schedule, store, executor
        self.experiment = schedule.experiment
        self.on_progress = on_progress
        self.trainings, self.tally = Trainings(schedule), Tally(schedule)
        self.calls: deque[Call] = deque()
        self.waiting: dict[tuple[Key, ...], list[Key]] = {}  # jobs, and the references they need
        self.known: dict[Key, Any] = {}  # by reference, the executor's handle of its `Known`

    def run(self) -> Trainings:
        """Read the stored jobs, train the missing ones."""
        missing = []
        references: dict[Key, TrainedRun] = {}
        if (given := self.experiment.scenario.given) is not None:
            for key in self.schedule.given:
                references[key] = given_run(given, self.experiment.learner)
                self.trainings.take(key, references[key])
        for key in self.schedule.jobs:
            stored = self._stored(key)
            if stored is None:
                missing.append(key)
                continue
            self._take(key, stored)
            if self.schedule.keeps(key).logits:
                references[key] = stored
        self._show_progress(None)
        if not missing:
            return self.trainings
        e = self.experiment
        # Whether workers pay off, and which training is longer, matters only with several workers;
        # a cluster (`workers` is None) needs neither.
        self.costs = e.costs if (self.executor.workers or 1) > 1 else None
        self.common = self.executor.share(Common(e.parts, e.learner, e.scenario, e.seed))
        for keys in self.schedule.together(missing):
            self._begin(keys)
        # In the schedule's order: of several that failed, the same one is named in every process.
        waited_for = self._waited_for()
        for key in [key for key in references if key in waited_for]:
            self._search(key, references[key])
        waited_for, there = self._waited_for() - references.keys(), self.trainings.by_key
        for key in [key for key in self.schedule.jobs if key in waited_for and key in there]:
            self._fail_waiting(key, there[key].record["failure"])
        del references  # their logits are large
        for call, result in self.executor.execute(self.calls, lambda: failed_run(KILLED)):
            match call:
                case _Training(keys=keys):
                    each = [result] * len(keys) if isinstance(result, TrainedRun) else result
                    for key, trained in zip(keys, each, strict=True):
                        self._finish(key, trained)
                        if key in self._waited_for():
                            self._search(key, trained)
                case _Search(key) if isinstance(result, TrainedRun):  # its process was killed
                    self._fail_waiting(key, result.record["failure"])
                case _Search(key):
                    self.known[key] = result
                    self._train_waiting()
        return self.trainings

    def _waited_for(self) -> set[Key]:
        """References that waiting jobs need."""
        return {key for references in self.waiting.values() for key in references}

    def _begin(self, keys: tuple[Key, ...]) -> None:
        """Train jobs now, let them wait for their references, or fail them with a reason."""
        first = keys[0]
        if self.schedule.asks_too_many(first):
            n = len(self.experiment.parts.x_train)
            k = most_neighbours(self.schedule.jobs[first].method)
            for key in keys:
                self._finish(key, failed_run(TOO_FEW.format(k=k, n=n)))
        elif references := self.schedule.looks_at(keys):
            self.waiting[keys] = references
        else:
            self._train(keys)

    def _train(self, keys: tuple[Key, ...], *known: Any) -> None:
        """Queue the call of a training; `known` are handles of its references' `Known`."""
        jobs = [(self.schedule.jobs[key], self.schedule.keeps(key)) for key in keys]
        learner = self.experiment.learner
        call = Call(
            _Training(keys, any(keep.logits for _, keep in jobs)),
            train_jobs,
            (jobs, self.common, *known),
            gpus=learner.n_gpus,
            seconds=None if self.costs is None else self.schedule.seconds(keys, self.costs),
            imports=(train_jobs.__module__, *learner.imports),
        )
        insort(self.calls, call, key=_turn)

    def _train_waiting(self) -> None:
        """Queue jobs whose references are all known; drop handles that no job needs any more."""
        for keys, references in list(self.waiting.items()):
            if all(key in self.known for key in references):
                self._train(keys, *(self.known[key] for key in references))
                del self.waiting[keys]
        for key in set(self.known) - self._waited_for():
            del self.known[key]

    def _search(self, key: Key, reference: TrainedRun) -> None:
        """Queue the search for neighbours among a reference's logits; fail jobs if it failed."""
        if (reason := reference.record["failure"]) is not None:
            self._fail_waiting(key, reason)
            return
        ks = sorted(self.schedule.neighbours.get(key, ()))
        job = self._job(key)
        arguments = (reference.arrays, (job.run, job.fit), self.common, ks)
        call = Call(
            _Search(key),
            find_neighbours,
            arguments,
            stays=True,
            seconds=None if self.costs is None else self.costs.fit,  # in truth much less
            imports=(find_neighbours.__module__, *self.experiment.learner.imports),
        )
        insort(self.calls, call, key=_turn)

    def _finish(self, key: Key, trained: TrainedRun) -> None:
        """Store a finished job on disk, keep it for the results, and show progress."""
        job = self.schedule.jobs[key]
        self.store.put(self.experiment.identity(job), trained.record, **trained.arrays)
        self._take(key, trained)
        self._show_progress((job, trained))

    def _take(self, key: Key, run: TrainedRun) -> None:
        self.trainings.take(key, run)
        self.tally.note(key)

    def _show_progress(self, last: tuple[Job, TrainedRun] | None) -> None:
        self.on_progress(self.tally.done, self.tally.total, last)

    def _job(self, key: Key) -> Job:
        return self.schedule.jobs.get(key) or self.schedule.given[key]

    def _fail_waiting(self, key: Key, reason: str) -> None:
        """Fail all jobs that wait for a failed reference, and the jobs that wait for those."""
        job = self._job(key)
        is_release = self.experiment.scenario.history is not None
        which = f"release {job.release}" if is_release else f"plain fit {job.fit}"
        failed = f"its reference, {which} of run {job.run}: {reason}"
        for keys in [keys for keys, references in self.waiting.items() if key in references]:
            if self.waiting.pop(keys, None) is None:  # already failed through another reference
                continue
            for waiting in keys:
                self._finish(waiting, failed_run(failed))
                self._fail_waiting(waiting, reason)

    def _stored(self, key: Key) -> TrainedRun | None:
        """A usable stored run, or None; a damaged or incomplete one is dropped and made again."""
        job = self.schedule.jobs[key]
        identity = self.experiment.identity(job)
        try:
            stored = _read(self.store, self.experiment, job)
            if stored is None:
                return None
            failure = stored.record["failure"]
            if failure is None and self.schedule.keeps(key).are_in(stored):
                return stored
            if failure is not None and not failure.endswith(KILLED):
                return stored
            self.store.drop(identity)  # killed, or without the logits or weights needed now
        except DamagedError as error:
            self.trainings.notes.append(f"damaged, made again: {error}")
            self.store.drop(identity)
        return None
