"""`unchurn demo`: show predictive churn in four steps, with live trainings, and make a page."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unchurn.cli.console import make_console
from unchurn.cli.progress import with_progress

if TYPE_CHECKING:
    from unchurn.paper.demo.step import Step
    from unchurn.study.results.result import Result

NEEDED = ("train", "knn", "charts")  # extras; the first includes the second


def demo(
    runs: Annotated[int, typer.Option(min=2, help="Retrainings of each setting.")] = 5,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of each training.")] = 20,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Folder for the page and the runs.")
    ] = Path("demo"),
    workers: Annotated[
        int | None, typer.Option(min=1, help="Number of processes; one per core by default.")
    ] = None,
) -> None:
    """Show churn on built-in data: what retraining changes, what lowers it, a gate's verdict.

    It takes about two minutes on two cores and downloads nothing. Finished runs are kept: the same
    command continues where it stopped.
    """
    _check_extras()
    start = time.monotonic()
    console = make_console()  # print something to read before anything heavy is imported
    console.print("Predictive churn in four steps, on web pages that are phishing or not.")
    console.print("Every number is measured here and now: about two minutes on two cores.\n")
    from unchurn.core.executors import make_executor
    from unchurn.paper.demo.page import next_commands, smaller, steps_of, write_story
    from unchurn.paper.demo.studies import experiments
    from unchurn.study.api import run_bench
    from unchurn.study.design.schedule import make_schedule
    from unchurn.study.trainings.store import Store
    from unchurn.study.trainings.tally import missing_jobs, n_kept

    executor = make_executor("local", workers)
    results: list[Result] = []
    steps: list[Step] = []
    kept = 0
    for name, experiment in experiments(runs, epochs).items():
        schedule, folder = make_schedule(experiment), out / name
        store, work = Store(folder), partial(run_bench, schedule, folder, executor)
        there = n_kept([schedule], missing_jobs([schedule], store))
        before = f", {there} of them kept from before" if there else ""
        console.print(f"… {schedule.n_trainings} trainings on {executor.workers} cores{before}")
        kept += there
        results.append(with_progress(console, schedule, store, work))
        for step in steps_of(name, results[-1]):
            steps.append(step)
            console.print(f"\n{step.in_words(len(steps), console.width)}")
    page = out / "index.html"
    write_story(page, steps, results, time.monotonic() - start, kept)
    if note := smaller(results[0]):
        console.print(f"{note}\n")
    console.print("Where to go next\n")
    for command, what in next_commands(out).items():
        console.print(f"   {command}\n      {what}")
    console.print(f"\nAll of it with charts, after {time.monotonic() - start:.0f} s: open {page}")


def _check_extras() -> None:
    """Refuse to start if packages are missing; one line names all of them."""
    from unchurn.core.errors import InputError
    from unchurn.core.extras import missing_modules

    if missing := missing_modules(NEEDED):
        raise InputError(
            f"the demo needs {', '.join(missing)}: pip install 'unchurn[train,charts]'"
        )
