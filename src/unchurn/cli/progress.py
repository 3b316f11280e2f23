"""An experiment's trainings on the terminal: the plan beforehand, then a live bar."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from unchurn.core.executors import Executor
    from unchurn.study.experiment import Experiment, Job
    from unchurn.study.result import Result
    from unchurn.study.run import Outcome
    from unchurn.study.store import Store


def show_plan(console: Console, experiment: Experiment, store: Store, engine: Executor) -> None:
    """Say what will be trained, what is shared, and about how long it takes."""
    from unchurn.study.experiment import plan

    todo = plan(experiment)
    missing = [job for job in todo.jobs if not store.has(experiment.identity(job))]
    model = experiment.model if isinstance(experiment.model, str) else "your network"
    console.print(
        f"{len(experiment.settings)} settings × {experiment.runs} runs of {model}, "
        f"{experiment.training.length} ({experiment.n_steps:,} steps) each"
    )
    shared = " instead of {}: plain fits are shared by control, references and ensembles"
    saved = len(todo.jobs) < todo.n_separate
    console.print(f"{len(todo.jobs)} trainings{shared.format(todo.n_separate) if saved else ''}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for setting in experiment.settings:
            setting.method.plan(experiment.n_steps)
    for warning in caught:
        console.print(f"note: {warning.message}")
    done = len(todo.jobs) - len(missing)
    if done:
        console.print(f"{done} of them are in {store.folder.parent} already")
    workers = engine.workers or 1  # a cluster's are not known before it is joined
    seconds = _estimate(experiment, missing, workers) if missing else None
    if seconds is not None:
        on = f"{workers} worker{'s' * (workers > 1)}"
        console.print(f"about {_duration(seconds)} of training on {on}")


def _estimate(experiment: Experiment, missing: list[Job], workers: int) -> float | None:
    """Seconds that the missing trainings take, from a probe of a few steps; None if it diverges."""
    import time
    from dataclasses import replace

    from unchurn.methods import Control
    from unchurn.training.loop import DivergedError, fit_run
    from unchurn.training.networks import make_factory

    parts = experiment.parts
    n = min(len(parts.x_train), 10 * experiment.training.batch_size)
    training = replace(experiment.training, epochs=1)
    for _ in range(2):  # the first warms torch up
        start = time.perf_counter()
        try:
            factory, x, y = make_factory(experiment.model), parts.x_train[:n], parts.y_train[:n]
            fit_run(Control(), factory, x, y, parts.n_classes, training=training, seed=0)
        except DivergedError:
            return None
        seconds = time.perf_counter() - start
    per_step = seconds / training.n_steps(n)
    n_nets = sum(job.method.n_nets for job in missing)
    return per_step * experiment.n_steps * n_nets / min(workers, len(missing))


def _duration(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1, round(seconds))} s"


def carry_out(console: Console, experiment: Experiment, store: Store, engine: Executor) -> Result:
    """Train what is missing, with a live bar; an interruption says what is kept."""
    from unchurn.study.experiment import plan
    from unchurn.study.result import collect

    try:
        notes = _with_bar(experiment, store, engine)
    except KeyboardInterrupt:
        jobs = plan(experiment).jobs
        kept = sum(store.has(experiment.identity(job)) for job in jobs)
        console.print(f"{kept} of {len(jobs)} trainings are kept: the same command goes on")
        raise
    for note in notes:
        console.print(f"note: {note}")
    return collect(experiment, store, tuple(notes))


def _with_bar(experiment: Experiment, store: Store, engine: Executor) -> list[str]:
    """Run with a live bar: runs done, time left, the best setting so far."""
    import numpy as np
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from unchurn.study import run

    part = "validation" if experiment.validation else "test"
    names = {repr(s.method.simplest()): f"{s.name} {s.text}" for s in experiment.settings}
    accuracy: dict[str, list[float]] = {}
    console = Console(stderr=True)
    columns = (
        TextColumn("trainings"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[best]}", markup=False),
    )  # fmt: skip
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", best="")

        def on_progress(done: int, total: int, last: tuple[Job, Outcome] | None) -> None:
            best = ""
            if last is not None and part in last[1].arrays and last[0].fit == 0:
                right = last[1].arrays[part].argmax(axis=1) == experiment.parts.y[part]
                name = names.get(repr(last[0].method), "control")
                accuracy.setdefault(name, []).append(float(np.mean(right)))
            if accuracy:
                name = max(accuracy, key=lambda name: np.mean(accuracy[name]))
                best = f"best so far {np.mean(accuracy[name]):.2%}: {name}"
            progress.update(task, completed=done, total=total, best=best)

        return run.carry_out(experiment, store, engine, on_progress)
