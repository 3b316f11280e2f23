"""Train chosen settings again with fresh runs: a winner of many settings looks better than it is.

A winner is partly chosen for its luck, and held-out data do not show that: a lucky run is lucky on
all examples. So if any method tried many settings, the chosen setting of every method is trained
again with the next run numbers, and these runs are reported. No method is left out, so that runs
stay paired. Only a reference that is fixed for all runs is not fresh: it belongs to the method.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from unchurn.study.design.experiment import MOST_RUNS, Experiment
from unchurn.study.design.schedule import Schedule, make_schedule
from unchurn.study.design.settings import Setting
from unchurn.study.results.collect import collect
from unchurn.study.results.result import Result, SettingResult
from unchurn.study.trainings.run import Trainings
from unchurn.study.trainings.store import Store

MANY = 5  # settings of a method; a choice among more gets fresh runs


def are_needed(experiment: Experiment) -> bool:
    """Whether any method of an experiment tries more than MANY settings."""
    tried = Counter(setting.name for setting in experiment.settings)
    return max(tried.values()) > MANY


def expected_schedule(experiment: Experiment, store: Store) -> Schedule | None:
    """A guess at the schedule of fresh runs before settings are chosen; None if none are needed.

    For each method it takes the setting with most fresh runs in the store, then the costliest.
    """
    if not are_needed(experiment):
        return None
    best: dict[str, tuple[tuple[int, int], Setting]] = {}
    for setting in experiment.settings:
        jobs = _schedule(experiment, (setting,)).jobs.values()
        n_there = sum(store.has(experiment.identity(job)) for job in jobs)
        rank = n_there, sum(job.method.n_nets for job in jobs)
        if setting.name not in best or rank > best[setting.name][0]:
            best[setting.name] = rank, setting
    return _schedule(experiment, tuple(setting for _, setting in best.values()))


def with_fresh_runs(
    result: Result, experiment: Experiment, carry_out: Callable[[Schedule], Trainings]
) -> Result:
    """Add fresh runs of every chosen setting to the result, if they are needed.

    A setting with a failed fresh run counts as failed, and another is chosen.
    """
    if not are_needed(experiment):
        return result
    while without := _without_fresh(result):
        settings = tuple(experiment.settings[place] for place in without)
        again = collect(carry_out(_schedule(experiment, settings)))
        found = list(result.settings)
        for place, fresh in zip(without, again.settings, strict=True):
            found[place] = _joined(found[place], fresh)
        result = replace(
            result,
            settings=found,
            notes=tuple(dict.fromkeys((*result.notes, *again.notes))),
            made_by=tuple(sorted({*result.made_by, *again.made_by})),
            seconds=result.seconds + again.seconds,
        )
    return result


def _schedule(experiment: Experiment, settings: tuple[Setting, ...]) -> Schedule:
    """The schedule of fresh runs of some settings."""
    return make_schedule(replace(experiment, settings=settings, first_run=_first_fresh(experiment)))


def _first_fresh(experiment: Experiment) -> int:
    """The first run whose older model no run had that settings were chosen by; else the next."""
    scenario, first = experiment.scenario, experiment.runs
    used = {scenario.base_of(run) for run in range(first)}
    later = range(first, first + MOST_RUNS)
    return next((run for run in later if scenario.base_of(run) not in used), first)


def _without_fresh(result: Result) -> list[int]:
    """The positions of the chosen settings that have no fresh runs yet."""
    each = enumerate(result.settings)
    return [place for place, one in each if result.is_chosen(one) and one.fresh is None]


def _joined(first: SettingResult, fresh: SettingResult) -> SettingResult:
    if fresh.failures:
        return replace(first, runs={}, failures=fresh.failures)
    return replace(first, fresh=fresh)
