"""`unchurn bench`: every method over its settings × runs on your data, and what to use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unchurn.cli.progress import carry_out, show_plan

CONFIG = "bench.json"  # what was asked for, in the folder of its results

if TYPE_CHECKING:
    from unchurn.study.config import BenchConfig
    from unchurn.study.experiment import Experiment


def bench(
    data: Annotated[
        str | None, typer.Argument(help="A dataset's name (digits if not given), or a table.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column of the table to predict.")] = None,
    methods: Annotated[str | None, typer.Option(help="Methods, by comma; else all.")] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="quick (the default): one setting each; paper: its choice; grid: all."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="mlp, lenet5 or module:function; else mlp.")
    ] = None,
    runs: Annotated[int | None, typer.Option(help="Retrainings of each setting; else 5.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs of each training; else 20.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random numbers; else 0.")] = None,
    select_on: Annotated[
        str | None,
        typer.Option(
            help="Choose settings on test or validation data; else on validation data of a table, "
            "on test data of the named ones, as the paper does."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the finished runs; else bench-DATA.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; else one a core.")] = None,
    engine: Annotated[
        str | None, typer.Option(help="Where runs execute: local or ray; else local.")
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="The cluster: auto, host:port, ray://…; else one made here.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file with the same fields.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan only.")] = False,
) -> None:
    """Train every method over its settings × runs, measure churn, choose and show.

    Finished runs are kept: the same command goes on where it stopped, however it stopped.
    """
    from rich.console import Console

    from unchurn.core.executors import make_engine
    from unchurn.core.files import atomic_write
    from unchurn.study import table
    from unchurn.study.config import make_config
    from unchurn.study.experiment import plan
    from unchurn.study.store import Store

    asked = make_config(
        config,
        {
            "data": data, "target": target, "preset": preset, "model": model, "runs": runs,
            "epochs": epochs, "seed": seed, "select_on": select_on, "out": out, "workers": workers,
            "engine": engine, "ray_address": ray_address,
            "methods": [name.strip() for name in methods.split(",")] if methods else None,
        },
    )  # fmt: skip
    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    experiment = make_experiment(asked)
    console.print(str(experiment.data))
    store = Store(asked.folder)
    place = make_engine(asked.engine, asked.workers, asked.ray_address)
    show_plan(console, experiment, store, place)
    if dry_run:
        return

    with place:
        result = carry_out(console, experiment, store, place)
    for form, name in (("csv", "table.csv"), ("markdown", "table.md"), ("latex", "table.tex")):
        with atomic_write(asked.folder / name) as temporary:
            temporary.write_text(result.table(form), "utf-8")
    result.write_predictions(asked.folder / "predictions")
    with atomic_write(asked.folder / CONFIG) as temporary:
        temporary.write_text(asked.to_json(), "utf-8")
    console.print(f"\n{table.render(result, 'text', width=console.width)}")
    todo = plan(experiment)
    if saved := todo.n_separate - len(todo.jobs):
        n = len(todo.jobs)
        console.print(f"{n} trainings served for {todo.n_separate}: {saved} saved by sharing")
    console.print(f"tables: {asked.folder}/table.csv, table.md, table.tex")
    console.print(f"predictions of every run, for unchurn compare: {asked.folder}/predictions")
    console.print(f"a page of it: unchurn report {asked.folder}")


def make_experiment(asked: BenchConfig) -> Experiment:
    """The experiment that was asked for."""
    from dataclasses import replace

    from unchurn.study.experiment import Experiment
    from unchurn.study.settings import preset_settings
    from unchurn.training.loop import Training

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
    """Make and use the user's network once, so that what is wrong with it is said at the start."""
    import torch

    from unchurn.core.errors import InputError
    from unchurn.training.networks import make_factory

    x, n_classes = experiment.parts.x_train[:2], experiment.parts.n_classes
    shape = x.shape[1:]
    try:
        net = make_factory(experiment.model)(shape, n_classes)
        if not isinstance(net, torch.nn.Module):
            raise InputError(f"it gives {type(net).__name__}, not a torch.nn.Module")
        with torch.no_grad():
            net(torch.tensor(x))
    except Exception as error:  # whatever the user's own code raises
        raise InputError(f"model {name!r} fails on {shape}, {n_classes}: {error}") from error


def report(
    folder: Annotated[Path, typer.Argument(help="The folder that bench wrote.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page; else report.html in it.")
    ] = None,
) -> None:
    """Make one self-contained HTML page of a bench: what to use, table, charts, examples."""
    from unchurn.core.errors import InputError
    from unchurn.core.files import check_place
    from unchurn.report.charts import save
    from unchurn.study import charts
    from unchurn.study.config import make_config
    from unchurn.study.result import collect
    from unchurn.study.store import Store

    path = folder / CONFIG
    if not path.is_file():
        raise InputError(f"{folder}: no finished bench is there ({CONFIG} is missing)")
    experiment = make_experiment(make_config(path, {}))
    page = output or folder / "report.html"
    check_place(page)
    result = collect(experiment, Store(folder))
    result.report(page)
    typer.echo(f"wrote {page}")
    for name, chart in charts.all_charts(result).items():
        path = folder / f"{name}.svg"
        save(chart, path)
        typer.echo(f"wrote {path}")
