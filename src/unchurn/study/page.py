"""One self-contained HTML page of an experiment: what to use and why, tables, charts, examples."""

from __future__ import annotations

import platform
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unchurn.core.version import __version__
from unchurn.report import formats
from unchurn.report.html import write_page
from unchurn.study import charts
from unchurn.study.advice import advice
from unchurn.study.scenarios import Retrain
from unchurn.study.table import chosen_table

if TYPE_CHECKING:
    from unchurn.study.result import Result


def write_report(result: Result, path: Path) -> None:
    """Write the page; it asks nothing of the network, and everything in it is escaped."""
    table = chosen_table(result)
    write_page(
        path,
        Path(__file__).with_name("bench.html"),
        _charts(result),
        name=result.subject.data.name,
        question=result.subject.scenario.question,
        advice=advice(result),
        methods=formats.html(table, "methods"),
        footer=formats.notes_of(table),
        examples=_examples(result),
        shown=result.repeated.setting.name if result.repeated else "",
        facts=_facts(result),
        notes=[*result.subject.data.notes, *result.notes],
    )


def _charts(result: Result) -> list[dict[str, Any]]:
    """Titles and specifications."""
    shown: dict[str, Any] = {}
    if charts.frontier_data(result):
        chart = charts.frontier(result).properties(width="container")
        shown[f"Accuracy against {result.subject.scenario.charted_words}"] = chart
    shown |= result.subject.scenario.charts(result)
    shown |= {f"Along {name}": chart for name, chart in charts.curves(result).items()}
    return [{"title": title, "spec": chart.to_dict()} for title, chart in shown.items()]


def _examples(result: Result) -> list[dict[str, Any]]:
    """The test examples that flip most, with what every run predicted."""
    repeated = result.repeated
    if repeated is None:
        return []
    classes, labels = result.subject.data.classes, result.subject.labels["test"]
    runs = repeated.predictions["test"]
    return [
        {
            "number": example.number,
            "label": classes[labels[example.number]],
            "predicted": [
                f"{classes[c]}\N{NO-BREAK SPACE}×{n}"
                for c, n in Counter(runs[:, example.number].tolist()).most_common()
            ],
            "image": example.image,
            "features": example.features,
        }
        for example in result.examples
    ]


def _facts(result: Result) -> dict[str, str]:
    """Settings of the experiment and where the page was made."""
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
