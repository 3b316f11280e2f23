"""`unchurn bench` and `unchurn report`: find the best method on your data, and report on it."""

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
from unchurn.cli.progress import show_methods, show_schedule, with_progress

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
            help="Name of a dataset, or path of a table; phishing if not given.",
            autocompletion=one_of(DATASETS),
        ),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column of the table to predict.")] = None,
    aside: Annotated[
        list[str] | None,
        typer.Option(help="Columns that are not features, comma-separated: ids, dates, notes."),
    ] = None,
    id_: Annotated[
        str | None,
        typer.Option(
            "--id",
            help="Column that identifies rows in predictions and on the page, and joins the table "
            "with --base; it is not a feature. If not given: a column called id, or the only "
            "unique one of --aside, which joins --base if that has the column, too (otherwise rows "
            "are matched by position). Without any, rows are numbered from 0.",
        ),
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="Methods, comma-separated, with parameters and combined as in knn_ls(k=5)+ema; "
            "the preset's by default.",
            autocompletion=some_of(METHODS),
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="Which methods and settings to try: quick (the default); best: a dozen recipes; "
            "paper: the paper's choices; grid: all values.",
            autocompletion=one_of(PRESETS),
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="mlp (the default), lenet5, lightgbm, or module:name of a function that makes a "
            "network, of an estimator, or of a training function.",
            autocompletion=one_of(MODELS),
        ),
    ] = None,
    model_args: Annotated[
        str | None, typer.Option(help="The model's arguments: max_iter=50, max_depth=3.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Retrainings of each setting; 5 by default.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Epochs of each training of a network; 20 by default.")
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Examples per step of a network; 128 by default.")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Adam's learning rate, for networks; 0.001 by default.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Where to train networks: cpu (the default), cuda:0.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of all random numbers; 0 by default.")
    ] = None,
    select_on: Annotated[
        str | None,
        typer.Option(
            help="Choose settings on the test or the validation part; by default on the validation "
            "part of your own table, and on the test part of a named dataset, as the paper does.",
            autocompletion=one_of(PARTS),
        ),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            help="What changes between two models: retrain (the seed; the default), resample (the "
            "sample), upgrade (an older model is in production), replay (history is replayed, "
            "release by release).",
            autocompletion=one_of(SCENARIOS),
        ),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(help="resample: train on this share (0.9) of the data, not on a bootstrap."),
    ] = None,
    same_seed: Annotated[
        bool | None, typer.Option("--same-seed", help="resample: all runs have the same seed.")
    ] = None,
    base_share: Annotated[
        float | None,
        typer.Option(help="upgrade: share that the older model was trained on; 0.5 by default."),
    ] = None,
    per_base: Annotated[
        int | None, typer.Option(help="upgrade: runs per older model; 2 by default.")
    ] = None,
    base_column: Annotated[
        str | None,
        typer.Option(help="upgrade: column that is true for rows the older model was trained on."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="upgrade (with --split), replay (with --every): column of dates or numbers."
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="upgrade: value of --time; the older model saw the rows before it, and test rows "
            "come after it."
        ),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(help="replay: a release every 30d, 12h or 2w, or every 500 rows (500)."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            help="upgrade: the older model, as a saved StableClassifier or as a file of its "
            "probabilities or logits for all rows."
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
            "%): between runs; in an upgrade, to the older model; in a replay, to the previous "
            "release.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="Folder for finished runs and results; bench-DATA by default."
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Number of processes; one per core by default.")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="Where runs execute: local (the default) or ray.", autocompletion=one_of(ENGINES)
        ),
    ] = None,
    ray_address: Annotated[
        str | None,
        typer.Option(
            help="The Ray cluster: auto, host:port, ray://…; by default one is started here."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file with these options as fields.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be trained, and exit.")
    ] = False,
) -> None:
    """Train methods in several runs, measure churn, and choose the best setting of each.

    Finished runs are kept: the same command continues where it stopped, however it stopped.
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
    """Show what will be trained, train it, and show the results."""
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
        show_methods(console, experiment)
        return

    work = partial(run_bench, schedule, asked.folder, executor)
    result = with_progress(console, schedule, store, work, fresh)
    console.print(f"\n{table.render(result, 'text', width=table_width(console))}")
    console.print(f"{textwrap.fill(in_options(result.advice), console.width)}\n")
    if not result.chosen:  # every method failed
        raise typer.Exit(EXIT_FAILED)
    _say_where(console.print, schedule, asked.folder, result.subject.data.id_column)


def _say_where(say: Any, schedule: Schedule, folder: Path, id_column: str) -> None:
    """Say how many trainings sharing saved, and where the results are."""
    n = schedule.n_trainings
    if (saved := schedule.n_separate - n) > 0:  # n_separate leaves out an upgrade's bases
        say(f"{n} trainings served for {schedule.n_separate}: {saved} saved by sharing")
    say(f"tables: {folder}/table.csv, table.md, table.tex")
    if schedule.experiment.scenario.history is not None:
        say(f"release by release: {folder}/releases.csv")
    by = f" by {id_column}" if id_column else ""
    say(f"predictions of every run{by}, for unchurn compare: {folder}/predictions")
    before = f"; {PAGE} and charts there are of before" if (folder / PAGE).is_file() else ""
    say(f"a page of it: unchurn report {folder}{before}")


def _named_values(text: str) -> dict[str, Any]:
    """The names and values in `max_iter=50, max_depth=3`; values are Python literals."""
    from unchurn.core.errors import InputError
    from unchurn.methods.registry import parse_values

    try:
        return parse_values(text)
    except ValueError as error:
        raise InputError(f"--model-args {text!r}: write name=value, name=value") from error


def report(
    folder: Annotated[Path, typer.Argument(help="Folder that bench wrote.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="HTML file; report.html in the folder by default."),
    ] = None,
) -> None:
    """Make one self-contained HTML page of a bench: advice, table, charts, examples."""
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
