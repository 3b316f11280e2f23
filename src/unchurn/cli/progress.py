"""Show a study's trainings on the terminal: what will be trained, then a live bar."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from unchurn.core.executors import Executor
    from unchurn.study.design.experiment import Experiment
    from unchurn.study.design.job import Job
    from unchurn.study.design.schedule import Key, Schedule
    from unchurn.study.design.settings import SettingFacts
    from unchurn.study.results.result import Result
    from unchurn.study.trainings.run import OnProgress
    from unchurn.study.trainings.store import Store, TrainedRun


def show_schedule(
    console: Console,
    schedule: Schedule,
    store: Store,
    executor: Executor,
    fresh: Schedule | None = None,
) -> None:
    """Say what will be trained, what is shared, and about how long it takes, with fresh runs."""
    from unchurn.study.design.estimate import estimate
    from unchurn.study.trainings.tally import missing_jobs, n_kept, trainings_of

    experiment = schedule.experiment
    learner, n = experiment.learner, schedule.n_trainings
    n_steps = learner.n_steps(len(experiment.parts.x_train))
    history = experiment.scenario.history
    up_to = "" if history is None else "up to "  # the last release has the most rows
    steps = "" if n_steps is None else f", {learner.length} ({up_to}{n_steps:,} steps) each"
    releases = "" if history is None else f" × {len(history.times)} releases"
    console.print(
        f"{len(experiment.settings)} settings × {experiment.runs} runs{releases} of "
        f"{learner.label}{steps}"
    )
    shared = " instead of {}: settings share plain fits, and fits that differ in what serves"
    is_shared = n < schedule.n_separate
    console.print(f"{n} trainings{shared.format(schedule.n_separate) if is_shared else ''}")
    schedules = [schedule, fresh] if fresh else [schedule]
    if fresh is not None:
        n_more = len(trainings_of(schedules)) - n
        console.print(
            f"then about {n_more} more: fresh runs of what is chosen, as a winner of many settings "
            "looks better than it is"
        )
    methods = [] if n_steps is None else [setting.method for setting in experiment.settings]
    for remark in (learner.remark, *(method.remark(n_steps or 0) for method in methods)):
        if remark is not None:
            console.print(f"note: {remark}")
    missing = missing_jobs(schedules, store)
    if kept := n_kept(schedules, missing):
        console.print(f"{kept} of them are in {store.folder.parent} already")
    workers = executor.workers or 1  # a cluster's number is unknown until it is joined
    found = estimate(schedules, missing, workers) if missing else None
    if found is not None:
        on = f"{found.workers} worker{'s' * (found.workers > 1)}"
        console.print(f"about {_duration(found.seconds)} on {on}{_if_free(found.workers)}")


def show_methods(console: Console, experiment: Experiment) -> None:
    """List the methods with their settings, and the models that a run trains and serves."""
    by_method: dict[str, list[SettingFacts]] = {}
    for setting in experiment.settings:
        by_method.setdefault(setting.name, []).append(setting.facts(experiment.scenario))
    rows = [("method", "settings", "trained", "served")]
    for name, facts in by_method.items():
        trained, served = (
            _span([getattr(one, count) for one in facts]) for count in ("n_trained", "n_models")
        )
        rows.append((name, str(len(facts)), trained, served))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    console.print()
    for name, *numbers in rows:
        right = (f"{number:>{width}}" for number, width in zip(numbers, widths[1:], strict=True))
        console.print("  ".join([f"{name:<{widths[0]}}", *right]))


def _span(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def _if_free(workers: int) -> str:
    """A proviso if other work keeps the cores busy now: nobody knows for how long."""
    if not hasattr(os, "getloadavg") or os.getloadavg()[0] + workers < (os.cpu_count() or 1) + 1:
        return ""
    return ", once nothing else keeps the cores busy"


def _duration(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1, round(seconds))} s"


def with_progress(
    console: Console,
    schedule: Schedule,
    store: Store,
    work: Callable[[OnProgress], Result],
    fresh: Callable[[], Schedule | None] = lambda: None,
    *,
    name: str = "",
) -> Result:
    """Do the work with a live bar; an interruption says how many trainings are kept.

    `name` is the study's name, if there are several.
    """
    from unchurn.study.trainings.tally import missing_jobs, n_kept, trainings_of

    try:
        with _bar(schedule) as on_progress:
            result = work(on_progress)
    except KeyboardInterrupt:
        # Counted as at the start, so that the same command then shows the same number.
        more = fresh()
        schedules = [schedule, more] if more else [schedule]
        kept = n_kept(schedules, missing_jobs(schedules, store))
        total = f"{'about ' if more else ''}{len(trainings_of(schedules))}"
        of_which = f"{name}: " if name else ""
        console.print(f"{of_which}{kept} of {total} trainings are kept: the same command goes on")
        raise
    for note in result.notes:
        console.print(f"note: {note}")
    return result


@contextmanager
def _bar(schedule: Schedule) -> Iterator[OnProgress]:
    """A live bar: trainings done, time left, the best setting so far."""
    import numpy as np
    from rich.console import Console

    experiment = schedule.experiment
    part, names = experiment.chosen_on, _names(schedule)
    accuracy: dict[str, list[float]] = {}
    with _progress(Console(stderr=True)) as progress:
        task = progress.add_task("", best="")

        def on_progress(done: int, total: int, last: tuple[Job, TrainedRun] | None) -> None:
            name = None if last is None else names.get(experiment.key(last[0]))
            if last is not None and name is not None and part in last[1].arrays:
                right = last[1].arrays[part].argmax(axis=1) == experiment.parts.y[part]
                accuracy.setdefault(name, []).append(float(np.mean(right)))
            best = ""
            if accuracy:
                name = max(accuracy, key=lambda name: np.mean(accuracy[name]))
                best = f"best {np.mean(accuracy[name]):.2%}: {name}"
            progress.update(task, completed=done, total=total, best=best)

        yield on_progress


def _progress(console: Console) -> Progress:
    """The columns of the bar; if they are too wide, the best setting is cut short."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    return Progress(
        TextColumn("trainings"),
        BarColumn(max(10, min(40, console.width // 4))),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[best]}", markup=False, table_column=rest),
        console=console,
        expand=True,
        disable=not console.is_terminal,
    )


def _names(schedule: Schedule) -> dict[Key, str]:
    """The setting of each training that is a whole run; members of ensembles are left out.

    So are releases, because each is tested on one period only.
    """
    if schedule.experiment.scenario.history is not None:
        return {}
    settings = zip(schedule.experiment.settings, schedule.members, strict=True)
    return {
        run[0]: f"{setting.name} {setting.text}".strip()
        for setting, of_setting in settings
        for run in of_setting
        if len(run) == 1
    }
