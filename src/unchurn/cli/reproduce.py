"""`unchurn reproduce`: the paper's tables, figures and theorems, from data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unchurn.cli.progress import carry_out, show_plan

if TYPE_CHECKING:
    from rich.console import Console

PAGE, FIGURE1 = "page", "figure1"
THEOREMS = {"theorem1": 1, "theorem2": 2}


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
    engine: Annotated[str, typer.Option(help="Where runs execute: local or ray.")] = "local",
    ray_address: Annotated[
        str | None, typer.Option(help="The cluster: auto, host:port, ray://…; else one made here.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Theorems: small sizes and few draws.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan only.")] = False,
) -> None:
    """Make a table or figure of the paper from data, and show it beside what was published.

    Finished trainings are kept and shared: the same command goes on where it stopped. What is
    smaller than the paper's (--runs, --epochs, --subset) is labelled so.
    """
    from rich.console import Console

    from unchurn.core.errors import InputError
    from unchurn.core.executors import make_executor
    from unchurn.paper.records import keep
    from unchurn.paper.studies import RUNS, STUDIES, experiments
    from unchurn.paper.tables import beside_paper
    from unchurn.study.store import Store

    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    names = [*STUDIES, FIGURE1, *THEOREMS, PAGE]
    if what not in names:
        raise InputError(f"nothing to reproduce named {what!r}: there are {', '.join(names)}")
    studies_only = {
        "--dataset": dataset is not None,
        "--methods": methods is not None,
        "--runs": runs != RUNS,
        "--epochs": epochs is not None,
        "--subset": subset is not None,
        "--workers": workers is not None,
        "--engine": engine != "local",
        "--ray-address": ray_address is not None,
    }
    refused = studies_only | {"--dry-run": dry_run, "--quick": quick}
    if what in STUDIES:
        refused = {"--quick": quick}
    elif what in THEOREMS:
        refused = studies_only
    if wrong := [option for option, given in refused.items() if given]:
        raise InputError(f"{what} takes no {wrong[0]}")
    if what == FIGURE1:
        _figure1(console, out)
        return
    if what in THEOREMS:
        _theorem(console, what, out, quick, dry_run)
        return
    if what == PAGE:
        _page(console, out)
        return
    place = make_executor(engine, workers, ray_address)
    store = Store(out)
    options = {"runs": None if runs == RUNS else runs, "epochs": epochs, "subset": subset}
    planned = []
    for name in dataset.split(",") if dataset else STUDIES[what].datasets:
        given = [f" --{option} {value}" for option, value in options.items() if value is not None]
        given += [f" --methods {methods}"] if methods else []
        command = f"unchurn reproduce {what} --dataset {name}{''.join(given)}"
        chosen = methods.split(",") if methods else None
        found = experiments(what, name, runs=runs, epochs=epochs, subset=subset, methods=chosen)
        for label, experiment in found.items():
            console.print(f"\n{label}: {experiment.data}")
            show_plan(console, experiment, store, place)
            planned.append((label, command, experiment))
    if dry_run:
        return
    with place:
        for label, command, experiment in planned:
            result = carry_out(console, experiment, store, place)
            keep(out, label, what, result, command)
            console.print(f"\n{beside_paper(what, result)}")
            console.print(f"{out}/{label}.csv, .json and .npz (every run's predictions)")


def _figure1(console: Console, out: Path) -> None:
    from unchurn.paper.figures import smoothing_panels
    from unchurn.report.charts import save

    out.mkdir(parents=True, exist_ok=True)
    save(smoothing_panels(), out / "figure1.svg")
    console.print(f"wrote {out}/figure1.svg")


def _theorem(console: Console, what: str, out: Path, quick: bool, dry_run: bool) -> None:
    """Simulate a theorem's claim; keep its rows as they are finished."""
    import json
    import time

    from unchurn.core.files import atomic_write
    from unchurn.core.progress import progress_bar
    from unchurn.paper.records import commit
    from unchurn.paper.theory import charts as theorem_charts
    from unchurn.paper.theory import simulations
    from unchurn.report.charts import save
    from unchurn.study.result import maker
    from unchurn.study.run import circumstances

    seconds = simulations.expected_seconds(THEOREMS[what], quick=quick)
    console.print(f"{what}: about {max(seconds / 60, 0.1):.1f} min on one core")
    if dry_run:
        return
    start = time.monotonic()
    draws = out / "draws"
    draws.mkdir(parents=True, exist_ok=True)
    with progress_bar(what, round(1000 * seconds)) as advance:
        last = 0

        def on_progress(done: int, total: int) -> None:
            nonlocal last
            advance(done - last)
            last = done

        simulate = {"theorem1": simulations.theorem1, "theorem2": simulations.theorem2}[what]
        rows = simulate(quick=quick, on_progress=on_progress, folder=draws)
    draw = {"theorem1": theorem_charts.theorem1_chart, "theorem2": theorem_charts.theorem2_chart}
    name = f"{what}-quick" if quick else what
    command = f"unchurn reproduce {what}{' --quick' * quick}"
    facts = {
        "command": command,
        "commit": commit(),
        "made_by": [maker(circumstances())],
        "seconds": round(time.monotonic() - start),
        "rates": simulations.rates(rows),
        "rows": rows,
    }
    with atomic_write(out / f"{name}.json") as temporary:
        temporary.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", "utf-8")
    save(draw[what](rows), out / f"{name}.svg")
    verdicts = [row["verdict"] for row in rows]
    for verdict in dict.fromkeys(verdicts):
        console.print(f"the bound {verdict}: {verdicts.count(verdict)} of {len(rows)} points")
    console.print(f"wrote {out}/{name}.json and .svg")


def _page(console: Console, out: Path) -> None:
    from unchurn.paper.page import write_page

    for path in write_page(out):
        console.print(f"wrote {path}")
