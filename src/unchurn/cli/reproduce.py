"""`unchurn reproduce`: make the paper's tables, figures and theorems from data."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unchurn.cli.completion import DATASETS, ENGINES, METHODS, REPRODUCED, one_of, some_of
from unchurn.cli.console import make_console
from unchurn.cli.options import by_comma
from unchurn.cli.progress import show_schedule, with_progress

if TYPE_CHECKING:
    from rich.console import Console

    from unchurn.core.executors import Executor
    from unchurn.study.design.experiment import Experiment
    from unchurn.study.design.schedule import Schedule
    from unchurn.study.results.result import Result
    from unchurn.study.trainings.run import OnProgress
    from unchurn.study.trainings.store import Store

PAGE, BEYOND_PAGE, UPGRADE_PAGE, FIGURE1 = "page", "beyond-page", "upgrade-page", "figure1"
# Studies beyond the paper.
BEYOND, RESAMPLED, SHORT, UPGRADE = "beyond", "beyond-resampled", "beyond-short", "upgrade"
THEOREMS = {"theorem1": 1, "theorem2": 2}


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="table1, table2, table3, figure1, figure2, figure3, theorem1, theorem2; trial-…: "
            "details that the paper leaves open; beyond: newer methods; beyond-resampled: the same "
            "when the data are drawn anew; beyond-short: the same with short trainings; upgrade: "
            "replacing a model in production; page, beyond-page, upgrade-page: all results so far "
            "on one page.",
            autocompletion=one_of(REPRODUCED),
        ),
    ],
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            help="Datasets, comma-separated; all by default.", autocompletion=some_of(DATASETS)
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="Methods, comma-separated; all by default.", autocompletion=some_of(METHODS)
        ),
    ] = None,
    runs: Annotated[int, typer.Option(help="Retrainings of each setting.")] = 5,
    epochs: Annotated[
        int | None, typer.Option(help="Number of epochs; the paper's by default.")
    ] = None,
    subset: Annotated[int | None, typer.Option(help="Train on only this many examples.")] = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for runs and results.")] = Path(
        "reproduction"
    ),
    workers: Annotated[
        int | None, typer.Option(help="Number of processes; one per core by default.")
    ] = None,
    engine: Annotated[
        str,
        typer.Option(help="Where runs execute: local or ray.", autocompletion=one_of(ENGINES)),
    ] = "local",
    ray_address: Annotated[
        str | None,
        typer.Option(
            help="The Ray cluster: auto, host:port, ray://…; by default one is started here."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Theorems: small sizes and few draws.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be trained, and exit.")
    ] = False,
) -> None:
    """Make the paper's tables and figures from data, beside the published ones; and go beyond.

    Finished trainings are kept and shared: the same command continues where it stopped. Results
    from smaller trainings than the paper's (--runs, --epochs, --subset) are labelled so.
    """
    from unchurn.core.errors import InputError, unknown
    from unchurn.core.executors import make_executor
    from unchurn.paper.studies import STUDIES

    given = locals()
    console = make_console()
    pages = (PAGE, BEYOND_PAGE, UPGRADE_PAGE)
    names = [*STUDIES, FIGURE1, *THEOREMS, BEYOND, RESAMPLED, SHORT, UPGRADE, *pages]
    if what not in names:
        raise InputError(unknown("table, figure or study", what, names))
    _refuse_ignored(what, given)
    if what == FIGURE1:
        _figure1(console, out)
    elif what in THEOREMS:
        _theorem(console, what, out, quick, dry_run)
    elif what in pages:
        _page(console, what, out)
    else:
        executor = make_executor(engine, workers, ray_address)
        study = _Study(what, by_comma(dataset), by_comma(methods), runs, epochs, subset)
        _carry_out(console, study, out, executor, dry_run)


def _refuse_ignored(what: str, given: dict[str, Any]) -> None:
    """Refuse options that would have no effect."""
    from unchurn.core.errors import InputError
    from unchurn.paper.studies import RUNS, STUDIES

    usual = {"runs": RUNS, "engine": "local", "dry_run": False, "quick": False}
    of_studies = ("dataset", "methods", "runs", "epochs", "subset", "workers", "engine",
                  "ray_address")  # fmt: skip
    refused: tuple[str, ...] = (*of_studies, "dry_run", "quick")
    if what in STUDIES:
        refused = ("quick",)
    elif what in (BEYOND, RESAMPLED, SHORT, UPGRADE):
        refused = ("runs", "epochs", "subset", "quick")
    elif what in THEOREMS:
        refused = of_studies
    if wrong := [name for name in refused if given[name] != usual.get(name)]:
        raise InputError(f"{what} takes no --{wrong[0].replace('_', '-')}")


@dataclass(frozen=True)
class _Study:
    """A table, a figure or a trial, limited to the requested datasets and methods."""

    what: str
    dataset: str | None
    methods: str | None
    runs: int
    epochs: int | None
    subset: int | None

    @property
    def datasets(self) -> Sequence[str]:
        """The requested datasets, or all of the study's."""
        from unchurn.paper.beyond.study import datasets
        from unchurn.paper.studies import STUDIES

        if self.dataset:
            return self.dataset.split(",")
        return STUDIES[self.what].datasets if self.what in STUDIES else datasets(self.what)

    def experiments(self, dataset: str) -> dict[str, Experiment]:
        """The experiments on one dataset, by name."""
        from unchurn.methods.registry import split_methods
        from unchurn.paper.beyond import study as beyond
        from unchurn.paper.experiments import experiments
        from unchurn.paper.selection import name_of
        from unchurn.paper.studies import STUDIES
        from unchurn.paper.upgrade import study as upgrade

        methods = split_methods(self.methods) if self.methods else None
        if self.what not in STUDIES:
            ours = {
                BEYOND: beyond.experiment,
                RESAMPLED: beyond.resampled,
                SHORT: beyond.short,
                UPGRADE: upgrade.experiment,
            }
            name = name_of(self.what, dataset, methods=methods)
            return {name: ours[self.what](dataset, methods)}
        size = {"runs": self.runs, "epochs": self.epochs, "subset": self.subset}
        return experiments(self.what, dataset, methods=methods, **size)  # type: ignore[arg-type]

    def command(self, dataset: str) -> str:
        """The command that makes its results on one dataset again."""
        from unchurn.paper.studies import RUNS

        runs = None if self.runs == RUNS else self.runs
        options = {"runs": runs, "epochs": self.epochs, "subset": self.subset}
        given = [f" --{option} {value}" for option, value in options.items() if value is not None]
        given += [f" --methods {shlex.quote(self.methods)}"] if self.methods else []
        return f"unchurn reproduce {self.what} --dataset {dataset}{''.join(given)}"


def _carry_out(
    console: Console, study: _Study, out: Path, executor: Executor, dry_run: bool
) -> None:
    """Show all that will be trained, then train each experiment and write its results."""
    from unchurn.paper.beyond.facts import setting_facts
    from unchurn.paper.records import as_published, keep
    from unchurn.paper.studies import STUDIES
    from unchurn.paper.tables import beside_paper
    from unchurn.study.design.schedule import make_schedule
    from unchurn.study.trainings.store import Store

    store = Store(out)
    console.print(f"reading {', '.join(study.datasets)}; runs are kept in {out}")
    scheduled = []
    for dataset in study.datasets:
        for name, experiment in study.experiments(dataset).items():
            described = experiment.data.described(experiment.parts.sizes)
            console.print(f"\n{name}: {described}")
            schedule = make_schedule(experiment)
            show_schedule(console, schedule, store, executor)
            scheduled.append((name, study.command(dataset), schedule))
    if dry_run:
        return
    with executor:
        for name, command, schedule in scheduled:
            work = partial(_trained, schedule, store, executor)
            result = with_progress(console, schedule, store, work, name=name)
            if study.what in STUDIES:
                result = as_published(result)
                keep(out, name, study.what, result, command)
                console.print(f"\n{beside_paper(study.what, result)}")
            else:
                more = setting_facts(schedule, store, result)
                keep(out, name, study.what, result, command, more)
                console.print(f"\n{result.table()}")
            console.print(f"{out}/{name}.csv, .json and .npz (every run's predictions)")


def _trained(
    schedule: Schedule, store: Store, executor: Executor, on_progress: OnProgress
) -> Result:
    """The result of one experiment."""
    from unchurn.study.results.collect import collect
    from unchurn.study.trainings.run import carry_out

    return collect(carry_out(schedule, store, executor, on_progress))


def _figure1(console: Console, out: Path) -> None:
    from unchurn.paper.figures import smoothing_panels
    from unchurn.report.charts import save

    out.mkdir(parents=True, exist_ok=True)
    save(smoothing_panels(), out / "figure1.svg")
    console.print(f"wrote {out}/figure1.svg")


def _theorem(console: Console, what: str, out: Path, quick: bool, dry_run: bool) -> None:
    """Simulate a theorem's claim; rows are kept as soon as they are finished."""
    import json
    import time

    from unchurn.core.files import write_text
    from unchurn.core.progress import progress_bar
    from unchurn.paper.records import commit
    from unchurn.paper.theory import charts as theorem_charts
    from unchurn.paper.theory import simulations
    from unchurn.report.charts import save
    from unchurn.study.results.collect import maker
    from unchurn.study.trainings.train import circumstances

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
    write_text(out / f"{name}.json", json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
    save(draw[what](rows), out / f"{name}.svg")
    verdicts = [row["verdict"] for row in rows]
    for verdict in dict.fromkeys(verdicts):
        console.print(f"the bound {verdict}: {verdicts.count(verdict)} of {len(rows)} points")
    console.print(f"wrote {out}/{name}.json and .svg")


def _page(console: Console, what: str, out: Path) -> None:
    from unchurn.paper.beyond.page import write_beyond
    from unchurn.paper.page import write_page
    from unchurn.paper.upgrade.page import write_upgrade

    write = {PAGE: write_page, BEYOND_PAGE: write_beyond, UPGRADE_PAGE: write_upgrade}[what]
    *beside, page = write(out)
    console.print(f"wrote {page}, and {len(beside)} files in {out}")
