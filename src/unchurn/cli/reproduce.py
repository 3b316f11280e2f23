"""`unchurn reproduce`: the paper's tables, figures and theorems, from data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unchurn.cli.trainings import carry_out, show_plan

if TYPE_CHECKING:
    from rich.console import Console

PAGE, FIGURE1 = "page", "figure1"


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="table1, table2, table3, figure1, figure2, figure3, theorem1, theorem2; trial-…: "
            "what the paper leaves open; page: all results so far on one page."
        ),
    ],
    dataset: Annotated[str | None, typer.Option(help="Datasets, by comma; else all of it.")] = None,
    methods: Annotated[str | None, typer.Option(help="Methods, by comma; else all.")] = None,
    runs: Annotated[int, typer.Option(help="Retrainings of each setting.")] = 5,
    epochs: Annotated[int | None, typer.Option(help="Epochs; else the paper's.")] = None,
    subset: Annotated[int | None, typer.Option(help="Train on so many examples only.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of runs and results.")] = Path("reproduction"),
    workers: Annotated[int | None, typer.Option(help="Processes; else one a core.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan only.")] = False,
) -> None:
    """Make a table or figure of the paper from data, and show it beside what was published.

    Finished trainings are kept and shared: the same command goes on where it stopped. What is
    smaller than the paper's (--runs, --epochs, --subset) is labelled so.
    """
    import os

    from rich.console import Console

    from unchurn.errors import InputError
    from unchurn.paper.kept import keep
    from unchurn.paper.page import beside_paper
    from unchurn.paper.studies import RUNS, STUDIES, experiments
    from unchurn.store import Store

    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    names = [*STUDIES, FIGURE1, PAGE]
    if what not in names:
        raise InputError(f"nothing to reproduce named {what!r}: there are {', '.join(names)}")
    if what == FIGURE1:
        _figure1(console, out)
        return
    if what == PAGE:
        _page(console, out)
        return
    workers = workers or os.cpu_count() or 1
    store = Store(out)
    options = {"runs": None if runs == RUNS else runs, "epochs": epochs, "subset": subset}
    planned = []
    for name in dataset.split(",") if dataset else STUDIES[what].datasets:
        given = [f" --{option} {value}" for option, value in options.items() if value is not None]
        command = f"unchurn reproduce {what} --dataset {name}{''.join(given)}"
        chosen = methods.split(",") if methods else None
        found = experiments(what, name, runs=runs, epochs=epochs, subset=subset, methods=chosen)
        for label, experiment in found.items():
            console.print(f"\n{label}: {experiment.data}")
            show_plan(console, experiment, store, workers)
            planned.append((label, command, experiment))
    if dry_run:
        return
    for label, command, experiment in planned:
        result = carry_out(console, experiment, store, workers)
        keep(out, label, what, result, command)
        console.print(f"\n{beside_paper(what, result)}")
        console.print(f"{out}/{label}.csv, .json and .npz (every run's predictions)")


def _figure1(console: Console, out: Path) -> None:
    from unchurn import charts

    out.mkdir(parents=True, exist_ok=True)
    charts.save(charts.smoothing_panels(), out / "figure1.png")
    console.print(f"wrote {out}/figure1.png")


def _page(console: Console, out: Path) -> None:
    from unchurn.paper.page import write_page

    for path in write_page(out):
        console.print(f"wrote {path}")
