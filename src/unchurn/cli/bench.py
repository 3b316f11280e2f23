"""`unchurn bench` and `unchurn report`: which method is best on your data, and a page of it."""

from __future__ import annotations

import textwrap
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unchurn.cli.completion import (
    DATASETS,
    ENGINES,
    METHODS,
    MODELS,
    PARTS,
    PRESETS,
    SCENARIOS,
    one_of,
    some_of,
)
from unchurn.cli.console import make_console, table_width
from unchurn.cli.options import Decimal, Delimiter, Encoding, as_delimiter, by_comma, in_options
from unchurn.cli.progress import show_schedule, with_progress

if TYPE_CHECKING:
    from rich.console import Console

    from unchurn.study.config import BenchConfig
    from unchurn.study.design.schedule import Schedule

PAGE = "report.html"
EXIT_FAILED = 1  # no method could be trained


def bench(
    data: Annotated[
        str | None,
        typer.Argument(
            help="A dataset's name (phishing if not given), or a table.",
            autocompletion=one_of(DATASETS),
        ),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column of the table to predict.")] = None,
    aside: Annotated[
        list[str] | None,
        typer.Option(help="Columns that are no features, comma-separated: ids, dates, notes."),
    ] = None,
    id_: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column that names rows in predictions and on the page, and is no feature; joins "
            "the table and --base, too. Else one called id, else the only one of --aside that "
            "tells all rows apart (these join --base where it has the column; else it goes by "
            "place), else the number of the row, from 0.",
        ),
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="Methods, comma-separated, also as knn_ls(k=5)+ema; else the preset's own.",
            autocompletion=some_of(METHODS),
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="quick (the default); best: a dozen recipes; paper: its choices; "
            "grid: all values.",
            autocompletion=one_of(PRESETS),
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="mlp, lenet5, lightgbm or module:name of a network's function, an estimator or a "
            "training function; else mlp.",
            autocompletion=one_of(MODELS),
        ),
    ] = None,
    model_args: Annotated[
        str | None, typer.Option(help="Its keyword arguments: max_iter=50, max_depth=3.")
    ] = None,
    runs: Annotated[int | None, typer.Option(help="Retrainings of each setting; else 5.")] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Epochs of each training of a network; else 20.")
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Examples a step of a network; else 128.")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Of Adam, for networks; else 0.001.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Where networks are trained: cpu, cuda:0; else cpu.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random numbers; else 0.")] = None,
    select_on: Annotated[
        str | None,
        typer.Option(
            help="Choose settings on test or validation data; else on validation data of a table, "
            "on test data of the named ones, as the paper does.",
            autocompletion=one_of(PARTS),
        ),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            help="What happens between two models: retrain (another seed), resample (another "
            "sample), upgrade (an older model is in production), replay (history played again, "
            "release by release); else retrain.",
            autocompletion=one_of(SCENARIOS),
        ),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(help="resample: share of the data per run, not a bootstrap (0.9)."),
    ] = None,
    same_seed: Annotated[
        bool | None, typer.Option("--same-seed", help="resample: all runs have one seed.")
    ] = None,
    base_share: Annotated[
        float | None, typer.Option(help="upgrade: what the older model was trained on; else 0.5.")
    ] = None,
    per_base: Annotated[
        int | None, typer.Option(help="upgrade: runs that share an older model; else 2.")
    ] = None,
    base_column: Annotated[
        str | None,
        typer.Option(help="upgrade: a column that is true in rows the older model was trained on."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="upgrade, replay: a column of dates or numbers, with --split, --every."),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="upgrade: the older model saw rows before this; tests come after."),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(help="replay: a release every 30d, 12h, 2w, or so many rows (500)."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            help="upgrade: the older model itself, a saved StableClassifier, or a file of its "
            "probabilities or logits of all rows."
        ),
    ] = None,
    max_bad_flips: Annotated[
        float | None,
        typer.Option(
            help="upgrade, replay: choose the most accurate setting with at most this share of bad "
            "flips (0.01 for 1 %).",
        ),
    ] = None,
    max_churn: Annotated[
        float | None,
        typer.Option(
            help="Choose the most accurate setting with at most this share of churn (0.02 for 2 "
            "%); of an upgrade, to the older model; of a replay, to the release before.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Folder of the finished runs; else bench-DATA."),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; else one per core.")] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="Where runs execute: local or ray; else local.", autocompletion=one_of(ENGINES)
        ),
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option(help="The cluster: auto, host:port, ray://…; else one made here.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file with the same fields.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan only.")] = False,
) -> None:
    """Train methods over their settings × runs, measure churn, choose and show.

    Finished runs are kept: the same command goes on where it stopped, however it stopped.
    """
    given = locals()
    from unchurn.study.config import BenchConfig, make_config

    options = {name: value for name, value in given.items() if name in BenchConfig.model_fields}
    options |= {"id": id_, "aside": by_comma(aside), "methods": by_comma(methods)}
    options["delimiter"] = as_delimiter(delimiter)
    options["model_args"] = _named_values(model_args) if model_args else None
    asked = make_config(config, options)
    asked.check()
    console = make_console()
    console.print(f"reading {asked.data}; runs are kept in {asked.folder}")
    _bench(console, asked, dry_run)


def _bench(console: Console, asked: BenchConfig, dry_run: bool) -> None:
    """Show what will be trained, train it, and show what came of it."""
    from unchurn.core.executors import make_executor
    from unchurn.study.advice.majority_class import note_on_commonest
    from unchurn.study.api import run_bench
    from unchurn.study.design.schedule import make_schedule
    from unchurn.study.report import table
    from unchurn.study.results.folder import other_study
    from unchurn.study.trainings.fresh_runs import expected_schedule
    from unchurn.study.trainings.store import Store

    schedule = make_schedule(asked.experiment())
    experiment = schedule.experiment
    data, parts = experiment.data, experiment.parts
    console.print(in_options(data.described(parts.sizes)))
    if (note := note_on_commonest(parts.y["test"], data.classes)) is not None:
        console.print(f"  note: {note}")
    store = Store(asked.folder)
    executor = make_executor(asked.engine, asked.workers, asked.ray_address)
    fresh = partial(expected_schedule, experiment, store)
    show_schedule(console, schedule, store, executor, fresh())
    if (there := other_study(asked.folder, experiment)) is not None:
        n, runs = len(there.by_method), there.subject.runs
        console.print(
            f"note: {asked.folder} holds another study ({n} method{'s' * (n > 1)}, {runs} runs): "
            "its results will be replaced, its trainings are kept; --out takes another folder"
        )
    if dry_run:
        return

    work = partial(run_bench, schedule, asked.folder, executor)
    result = with_progress(console, schedule, store, work, fresh)
    console.print(f"\n{table.render(result, 'text', width=table_width(console))}")
    console.print(f"{textwrap.fill(in_options(result.advice), console.width)}\n")
    if not result.chosen:  # every method failed
        raise typer.Exit(EXIT_FAILED)
    _say_where(console.print, schedule, asked.folder, result.subject.data.id_column)


def _say_where(say: Any, schedule: Schedule, folder: Path, id_column: str) -> None:
    """What was saved by sharing, and where everything is."""
    n = schedule.n_trainings
    if (saved := schedule.n_separate - n) > 0:  # bases of an upgrade are nobody's own
        say(f"{n} trainings served for {schedule.n_separate}: {saved} saved by sharing")
    say(f"tables: {folder}/table.csv, table.md, table.tex")
    if schedule.experiment.scenario.history is not None:
        say(f"release by release: {folder}/releases.csv")
    by = f" by {id_column}" if id_column else ""
    say(f"predictions of every run{by}, for unchurn compare: {folder}/predictions")
    before = f"; {PAGE} and charts there are of before" if (folder / PAGE).is_file() else ""
    say(f"a page of it: unchurn report {folder}{before}")


def _named_values(text: str) -> dict[str, Any]:
    """`max_iter=50, max_depth=3` as names and values, written as Python's."""
    from unchurn.core.errors import InputError
    from unchurn.methods.registry import parse_values

    try:
        return parse_values(text)
    except ValueError as error:
        raise InputError(f"--model-args {text!r}: write name=value, name=value") from error


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
    from unchurn.study.report import charts
    from unchurn.study.results.predictions import file_name
    from unchurn.study.results.result import Result

    if output is not None:
        check_place(output)
        if output.suffix not in (".html", ".htm") and not output.is_char_device():
            raise InputError(f"cannot write {output}: a page is called .html")
    result = Result.load(folder)
    page = output or folder / PAGE
    result.report(page)
    typer.echo(f"wrote {page}")
    for name, chart in charts.all_charts(result).items():
        path = folder / f"{file_name(name)}.svg"
        save(chart, path)
        typer.echo(f"wrote {path}")
