"""`unchurn bench`: every method over its settings × runs on your data, and what to use."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

CONFIG = "bench.json"  # what was asked for, in the folder of its results

if TYPE_CHECKING:
    from unchurn.config import BenchConfig
    from unchurn.experiment import Experiment, Job, Plan
    from unchurn.running import Outcome


def bench(
    data: Annotated[str | None, typer.Argument(help="A dataset's name, or a table.")] = None,
    target: Annotated[str | None, typer.Option(help="Column of the table to predict.")] = None,
    methods: Annotated[str | None, typer.Option(help="Methods, by comma; else all.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="quick: one setting each; paper: its choice; grid: all.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="mlp, lenet5 or module:function.")] = None,
    runs: Annotated[int | None, typer.Option(help="Retrainings of each setting.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs of each training.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random numbers.")] = None,
    select_on: Annotated[
        str | None, typer.Option(help="Choose settings on test or validation data.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the finished runs.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; else one a core.")] = None,
    engine: Annotated[str | None, typer.Option(help="Where runs execute: local.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file with the same fields.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan only.")] = False,
) -> None:
    """Train every method over its settings × runs, measure churn, choose and show.

    Finished runs are kept: the same command goes on where it stopped, however it stopped.
    """
    from rich.console import Console

    from unchurn import tables
    from unchurn.config import make_config
    from unchurn.experiment import plan
    from unchurn.files import atomic_write
    from unchurn.results import collect
    from unchurn.store import Store

    asked = make_config(
        config,
        {
            "data": data, "target": target, "preset": preset, "model": model, "runs": runs,
            "epochs": epochs, "seed": seed, "select_on": select_on, "out": out, "workers": workers,
            "engine": engine,
            "methods": [name.strip() for name in methods.split(",")] if methods else None,
        },
    )  # fmt: skip
    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    experiment = make_experiment(asked)
    console.print(str(experiment.data))
    store = Store(asked.folder)
    todo = plan(experiment)
    missing = [job for job in todo.jobs if not store.has(experiment.identity(job))]
    _show_plan(console, experiment, todo, missing, asked.folder, asked.workers)
    if dry_run:
        return

    try:
        notes = _carry_out(experiment, store, asked.workers)
    except KeyboardInterrupt:
        kept = sum(store.has(experiment.identity(job)) for job in todo.jobs)
        console.print(f"{kept} of {len(todo.jobs)} trainings are kept: the same command goes on")
        raise
    result = collect(experiment, store, tuple(notes))
    for form, name in (("csv", "table.csv"), ("markdown", "table.md"), ("latex", "table.tex")):
        with atomic_write(asked.folder / name) as temporary:
            temporary.write_text(result.table(form))
    with atomic_write(asked.folder / CONFIG) as temporary:
        temporary.write_text(asked.to_json())
    for note in notes:
        console.print(f"note: {note}")
    console.print(f"\n{tables.render(result, 'text', width=console.width)}")
    if saved := todo.n_separate - len(todo.jobs):
        n = len(todo.jobs)
        console.print(f"{n} trainings served for {todo.n_separate}: {saved} saved by sharing")
    console.print(f"tables: {asked.folder}/table.csv, table.md, table.tex")
    console.print(f"a page of it: unchurn report {asked.folder}")


def make_experiment(asked: BenchConfig) -> Experiment:
    """The experiment that was asked for."""
    from dataclasses import replace

    from unchurn.experiment import Experiment
    from unchurn.settings import preset_settings
    from unchurn.training import Training

    training = Training(epochs=asked.epochs)
    experiment = Experiment(
        asked.load_data(),
        (),
        asked.load_model(),
        training,
        asked.runs,
        asked.seed,
        asked.validation,
    )
    name, n_steps = experiment.data.name, experiment.n_steps
    settings = preset_settings(asked.preset, name, n_steps, asked.methods)
    experiment = replace(experiment, settings=settings)
    if not isinstance(experiment.model, str):
        _try_network(experiment, asked.model)
    return experiment


def _try_network(experiment: Experiment, name: str) -> None:
    """Make the user's network once, so that what is wrong with it is said at the start."""
    from torch import nn

    from unchurn.errors import InputError
    from unchurn.models import make_factory

    shape, n_classes = experiment.parts.x_train.shape[1:], experiment.parts.n_classes
    try:
        net = make_factory(experiment.model)(shape, n_classes)
    except Exception as error:  # whatever the user's own code raises
        raise InputError(f"model {name!r} fails on {shape}, {n_classes}: {error}") from error
    if not isinstance(net, nn.Module):
        raise InputError(f"model {name!r} gives {type(net).__name__}, not a torch.nn.Module")


def report(
    folder: Annotated[Path, typer.Argument(help="The folder that bench wrote.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page; else report.html in it.")
    ] = None,
) -> None:
    """Make one self-contained HTML page of a bench: what to use, table, charts, examples."""
    from unchurn import charts
    from unchurn.config import make_config
    from unchurn.errors import InputError
    from unchurn.results import collect
    from unchurn.store import Store

    path = folder / CONFIG
    if not path.is_file():
        raise InputError(f"{folder}: no finished bench is there ({CONFIG} is missing)")
    experiment = make_experiment(make_config(path, {}))
    page = output or folder / "report.html"
    result = collect(experiment, Store(folder))
    result.report(page)
    typer.echo(f"wrote {page}")
    for name, chart in charts.all_charts(result).items():
        path = folder / f"{name}.svg"
        charts.save(chart, path)
        typer.echo(f"wrote {path}")


def _show_plan(
    console: Any, experiment: Experiment, todo: Plan, missing: list[Job], folder: Path, workers: int
) -> None:
    """Say what will be trained, what is shared, and about how long it takes."""
    model = experiment.model if isinstance(experiment.model, str) else "your network"
    console.print(
        f"{len(experiment.settings)} settings × {experiment.runs} runs of {model}, "
        f"{experiment.training.epochs} epochs ({experiment.n_steps:,} steps) each"
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
        console.print(f"{done} of them are in {folder} already")
    seconds = _estimate(experiment, missing, workers) if missing else None
    if seconds is not None:
        console.print(f"about {_duration(seconds)} on {workers} worker{'s' * (workers > 1)}")


def _estimate(experiment: Experiment, missing: list[Job], workers: int) -> float | None:
    """Seconds that the missing trainings take, from a probe of a few steps; None if it diverges."""
    import time
    from dataclasses import replace

    from unchurn.methods import Control
    from unchurn.models import make_factory
    from unchurn.training import DivergedError, fit_run

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


def _carry_out(experiment: Experiment, store: Any, workers: int) -> list[str]:
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

    from unchurn.running import carry_out

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

        return carry_out(experiment, store, workers, on_progress)
