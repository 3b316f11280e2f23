"""Write a study's HTML page, self-contained: advice, tables, charts, examples."""

from __future__ import annotations

import platform
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unchurn.core.version import __version__
from unchurn.report import formats
from unchurn.report.html import write_page
from unchurn.study.advice.majority_class import note_on_commonest
from unchurn.study.report import charts
from unchurn.study.report.frontier import caption, frontier
from unchurn.study.report.table import DIFFERENCE, chosen_table
from unchurn.study.results.examples import flip_shares, flips_in_words
from unchurn.study.scenarios import Retrain

if TYPE_CHECKING:
    from unchurn.report.table import Table
    from unchurn.study.results.result import Result


def write_report(result: Result, path: Path) -> None:
    """Write the page; it loads nothing from the network, and everything in it is escaped."""
    table = chosen_table(result)
    first = _first_columns(result, table)
    footer = formats.notes_of(table, set(table.headings) - set(first.headings))
    write_page(
        path,
        Path(__file__).with_name("bench.html"),
        _charts(result),
        name=result.subject.data.name,
        question=result.subject.scenario.question,
        advice=result.advice,
        is_open=result.subject.are_too_few,
        methods=formats.html(first, "methods"),
        more=formats.html(table, "more") if len(first.columns) < len(table.columns) else "",
        footer=footer,
        more_notes=[note for note in formats.notes_of(table) if note not in footer],
        examples=_examples(result),
        examples_title=_examples_title(result),
        facts=_facts(result),
        notes=_notes(result),
    )


def _notes(result: Result) -> list[str]:
    """Notes on the data, its commonest class, and damaged runs."""
    data = result.subject.data
    on_classes = note_on_commonest(result.subject.labels["test"], data.classes)
    notes = [*data.notes, *([on_classes] if on_classes else []), *result.notes]
    return list(dict.fromkeys(notes))  # a caution is in both


def _charts(result: Result) -> list[dict[str, Any]]:
    """The charts of the page; the frontier first, which is above the table."""
    drawn: list[dict[str, Any]] = []
    if result.frontier_rows:
        title = f"{result.subject.scenario.churn_words.capitalize()} and accuracy of each method"
        wide, narrow = frontier(result, whole=True), frontier(result, narrow=True)
        specs = {"spec": wide.to_dict(), "narrow": narrow.to_dict()}
        drawn.append({"title": title, "caption": caption(result), **specs})
    for title, chart in result.subject.scenario.charts(result).items():
        drawn.append({"title": title, "spec": chart.to_dict()})
    small = charts.curves(result, narrow=True)
    for name, curve in charts.curves(result).items():
        specs = {"spec": curve.to_dict(), "narrow": small[name].to_dict()}
        drawn.append({"title": f"Along {name}", **specs})
    return drawn


def _first_columns(result: Result, table: Table) -> Table:
    """The columns that matter most: setting, churn, accuracy, and differences from control."""
    metrics = result.subject.scenario.metrics
    shown = ["method", "setting", "tried"]
    for name in (result.subject.scenario.churn, "accuracy"):
        shown += [metrics[name].heading, DIFFERENCE.format(metrics[name].heading)]
    places = [table.headings.index(heading) for heading in shown if heading in table.headings]
    rows = (
        tuple(row[i] for i in places) if len(row) == len(table.columns) else row
        for row in table.rows
    )
    return replace(table, columns=tuple(table.columns[i] for i in places), rows=tuple(rows))


def _examples(result: Result) -> list[dict[str, Any]]:
    """The test examples that flip most: how often, and between which classes."""
    repeated = result.repeated
    if repeated is None:
        return []
    classes, runs = result.subject.data.classes, repeated.runs["test"]
    shares = flip_shares(runs)
    shown = []
    for example in sorted(result.examples, key=lambda one: -shares[one.number]):
        if shares[example.number] == 0:  # in a folder of a version that showed other examples
            continue
        often, between = flips_in_words(runs, example.number, classes)
        about = {
            "label": classes[runs.labels[example.number]],
            "name": _name(result, example.number),
            "often": often,
            "between": between,
        }
        shown.append({**asdict(example), **about})
    return shown


def _name(result: Result, number: int) -> str:
    """The name of a test example: the table's id or row number, else its position."""
    ids, column = result.subject.ids, result.subject.data.id_column
    if ids is None:
        return f"test example {number}"
    return f"{column or 'row'} {ids[number]}"


def _examples_title(result: Result) -> str:
    repeated = result.repeated
    if repeated is None:
        return ""
    name = repeated.setting.name
    if repeated.runs["test"].base is None:
        return f"Test examples that flip most when {name} is repeated"
    return f"Test examples that {name} breaks most often: right in the model before, wrong now"


def _facts(result: Result) -> dict[str, str]:
    """Facts on data, learner and runs, and which version made the page."""
    subject, data = result.subject, result.subject.data
    held_out = f"{data.n_validation:,} to choose on, " if data.n_validation else ""
    return {
        "data": f"{data.name}: {data.n_train:,} to train on, {held_out}"
        f"{len(subject.labels['test']):,} to test on, {len(data.classes)} classes",
        "fingerprint of the data": data.fingerprint,
        **subject.learner_facts,
        **({} if type(subject.scenario) is Retrain else {"scenario": subject.scenario.text}),
        "runs of each setting": str(subject.runs),
        "seed": str(subject.seed),
        "runs made by": "; ".join(result.made_by),
        "page made by": f"unchurn {__version__} on Python {platform.python_version()}",
    }
