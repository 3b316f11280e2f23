"""The story as one HTML page, which needs neither network nor data."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unchurn.core.version import __version__
from unchurn.paper.demo.retraining import methods_step, plain_step
from unchurn.paper.demo.step import Step
from unchurn.paper.demo.studies import EPOCHS, RETRAIN, RUNS, UPGRADE
from unchurn.paper.demo.succession import gate_step, upgrade_step
from unchurn.report import formats
from unchurn.report.html import write_page
from unchurn.training.loop.config import Training

if TYPE_CHECKING:
    from unchurn.study.results.result import Result

TELLERS = {RETRAIN: (plain_step, methods_step), UPGRADE: (upgrade_step, gate_step)}


def steps_of(study: str, result: Result) -> tuple[Step, ...]:
    """The two steps of the story that a study tells."""
    return tuple(tell(result) for tell in TELLERS[study])


def write_story(
    path: Path, steps: Sequence[Step], results: Sequence[Result], seconds: float, kept: int = 0
) -> None:
    """Write the page; `seconds` is the time of all but the `kept` trainings from before."""
    write_page(
        path,
        Path(__file__).with_name("demo.html"),
        [{"title": step.title, "spec": step.chart} for step in steps],
        name="the same accuracy, other answers",
        steps=steps,
        tables=[formats.html(s.table, f"step{i}") if s.table else "" for i, s in enumerate(steps)],
        notes=[formats.notes_of(s.table) if s.table else [] for s in steps],
        time=_time(seconds, kept),
        smaller=smaller(results[0]),
        next=next_commands(path.parent),
        facts=_facts(results, _time(seconds, kept)),
        remarks=dict.fromkeys(n for r in results for n in (*r.subject.data.notes, *r.notes)),
    )


def smaller(result: Result) -> str:
    """A note that runs or epochs are not the demo's usual ones; empty if they are."""
    runs, length, usual = result.subject.runs, result.subject.length, Training(EPOCHS).length
    if (runs, length) == (RUNS, usual):
        return ""
    return (
        f"Made with {runs} runs of {length} each, where the demo has {RUNS} runs of {usual}: its "
        "numbers are others."
    )


def next_commands(folder: Path) -> dict[str, str]:
    """Where to go from here: commands, and what they do."""
    study = shlex.quote(str(folder / RETRAIN))
    return {
        "unchurn bench table.csv --target label": "which training is steadiest on your own table",
        "unchurn compare production.csv candidate.csv --labels truth.csv": "what changes "
        "between two models of yours, of any framework",
        "unchurn gate production.csv candidate.csv --max-bad-flips 0.01": "may the candidate "
        "replace the model in use? The exit code says it, in CI too",
        f"unchurn report {study}": "the first study in full, as a page",
    }


def _time(seconds: float, kept: int) -> str:
    """How long it took, and on how many cores."""
    before = f", besides {kept} trainings that were kept from before" if kept else ""
    return f"in {seconds:.0f} seconds on this machine's {os.cpu_count()} cores{before}"


def _facts(results: Sequence[Result], time: str) -> dict[str, str]:
    """How it was made, and where."""
    subject = results[0].subject
    data = subject.data
    made_by = dict.fromkeys(one for result in results for one in result.made_by)
    return {
        "data": f"{data.name}: {data.n_train:,} web pages to train on, "
        f"{len(subject.labels['test']):,} to test on. \u201cPhishing Websites\u201d by Rami "
        "Mohammad and Lee McCluskey, UCI Machine Learning Repository, 10.24432/C51W2X, CC BY 4.0",
        "fingerprint of the data": data.fingerprint,
        **subject.learner_facts,
        "runs": f"{subject.runs} of each setting, seed {subject.seed}",
        "recipes": "those of the second step were listed knowing docs/beyond.md, that of the third "
        "knowing docs/upgrade.md, which measure them on this data, too, and on tables that nobody "
        "here chose",
        "time": f"{time}; trainings took {sum(result.seconds for result in results):.0f} seconds, "
        "one after another",
        "runs made by": "; ".join(made_by),
        "page made by": f"unchurn {__version__}",
    }
