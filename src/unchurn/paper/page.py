"""One Markdown page of all recorded results, with its charts and numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jinja2

from unchurn.core.errors import InputError
from unchurn.core.files import reading, write_text
from unchurn.metrics.intervals import Interval
from unchurn.paper.explanations import explanations
from unchurn.paper.published import PAPER_GRIDS, PAPER_METRICS, SINGLE_MODELS, published
from unchurn.paper.record_numbers import measured, paper_row
from unchurn.paper.records import Record, read_all, write_numbers
from unchurn.paper.studies import RECIPES, STUDIES
from unchurn.paper.tables import choice_table, near_cells, published_text, table, trial_table
from unchurn.paper.united import with_curves, with_wholes
from unchurn.report.numbers import bare_percent, difference, signed, with_spread

OTHERS = ("control", "label_smoothing")  # what k-NN smoothing is compared with above all
OF_A_THEOREM = {"command", "commit", "made_by", "seconds", "rates", "rows"}


def write_page(folder: Path) -> list[Path]:
    """Write FOLDER.md, and its charts and numbers into the folder; return all paths."""
    from unchurn.paper import figures
    from unchurn.report.charts import save

    if folder.name in ("", ".."):  # the page is named after the folder
        folder = folder.resolve()
    records, theorems = read_all(folder), _theorems(folder)
    shown = with_wholes(records)
    text = _render(folder, shown, theorems)  # bad results raise before anything is written
    drawn = figures.all_figures(shown, theorems)
    written = []
    for name, chart in drawn.items():
        written.append(folder / name)
        save(chart, written[-1])
    written += write_numbers(folder, records)
    written.append(folder.with_name(f"{folder.name}.md"))
    write_text(written[-1], text)
    return written


def page(folder: Path) -> str:
    """The page's Markdown, from the results in a folder."""
    return _render(folder, with_wholes(read_all(folder)), _theorems(folder))


def _theorems(folder: Path) -> dict[str, Any]:
    """The recorded simulations, by theorem."""
    found = {}
    for path in (folder / f"theorem{number}.json" for number in (1, 2)):
        if path.exists():
            with reading(path, "a kept simulation"):
                found[path.stem] = json.loads(path.read_text("utf-8"))
                if missing := OF_A_THEOREM - set(found[path.stem]):
                    raise InputError(f"without {sorted(missing)[0]!r}")
    return found


def _render(folder: Path, records: list[Record], theorems: dict[str, Any]) -> str:
    if not records and not theorems:
        raise InputError(f"{folder}: no results are there: unchurn reproduce table1 makes some")
    if others := [record for record in records if record.study not in STUDIES]:
        study, name = others[0].study, others[0].name
        raise InputError(f"{folder}: {name} is of `unchurn reproduce {study}`, not of the paper")
    order = list(RECIPES)
    records = sorted(
        records,
        key=lambda record: (
            order.index(record.dataset),
            record.result.subject.learner["training"]["epochs"],
            record.result.subject.data.n_train,
            record.name,
        ),
    )
    by_study: dict[str, list[Record]] = {}
    for record in records:
        by_study.setdefault(record.study, []).append(record)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=False,  # noqa: S701  Markdown of our own numbers, no page in a browser
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    whole = _whole(by_study.get("table1", []))
    return environment.get_template("reproduction.md.jinja").render(
        folder=folder.name,
        studies=by_study,
        curves=with_curves(records),
        summary=[_summary(record) for record in whole],
        lowest=[_lowest(record) for record in whole],
        cells=_cells(by_study.get("table1", []) + by_study.get("table2", [])),
        table=table,
        choice_table=choice_table,
        trials=_by_command(record for record in records if record.study.startswith("trial-")),
        questions={name: study.question for name, study in STUDIES.items()},
        trial_table=trial_table,
        far=_far(by_study.get("table1", [])),
        tried={name: math.prod(map(len, grid.values())) for name, grid in PAPER_GRIDS.items()},
        data_notes=_data_notes(records),
        theorems=theorems,
        bare_percent=bare_percent,
        explained=explanations(folder, records),
    )


def _whole(records: Iterable[Record]) -> list[Record]:
    """The main results that have all methods that the summary compares."""
    needed = {"knn_ls", *OTHERS}
    main = [record for record in records if record.is_main]
    return [record for record in main if needed <= set(record.result.chosen)]


def _summary(record: Record) -> dict[str, Any]:
    """What k-NN smoothing does to churn on a dataset, against control and label smoothing."""
    ours, theirs = _churns(record)
    rows = {}
    for other in OTHERS:
        _, churn = record.result.difference("knn_ls", other)
        rows[other] = {
            "churn": f"{bare_percent(ours[other])} → {bare_percent(ours['knn_ls'])}",
            "is_lower": churn.value < 0,
            "difference": difference(churn),
            "verdict": _verdict(churn),
            "paper": signed(theirs["knn_ls"] - theirs[other]),
        }
    return {"dataset": record.label, **rows}


def _churns(record: Record) -> tuple[dict[str, float], dict[str, float]]:
    """Churn by method, as fractions: ours, without methods that failed, and the paper's."""
    chosen = record.result.chosen
    ours = {method: row.summary["test"].churn.mean for method, row in chosen.items()}
    rows = {method: published()[record.dataset, method] for method in SINGLE_MODELS}
    return ours, {method: row.mean["churn"] / 100 for method, row in rows.items()}


def _lowest(record: Record) -> dict[str, str | int]:
    """The methods of lowest churn, ours and the paper's, and how far our k-NN smoothing is off."""
    ours, theirs = _churns(record)
    least, paper = (sorted(churns, key=lambda method: churns[method]) for churns in (ours, theirs))
    distance, verdict = "", ""
    if least[0] != "knn_ls":
        _, churn = record.result.difference("knn_ls", least[0])
        distance = difference(churn)
        verdict = "beyond chance" if _verdict(churn) == "rises" else "maybe chance"
    return {
        "dataset": record.label,
        "ours": f"{least[0]} {bare_percent(ours[least[0]])}",
        "paper": f"{paper[0]} {bare_percent(theirs[paper[0]])}",
        "place": least.index("knn_ls") + 1 if len(ours) == len(theirs) else "",
        "paper_place": paper.index("knn_ls") + 1,
        "difference": distance,
        "verdict": verdict,
    }


def _verdict(churn: Interval) -> str:
    """Whether churn falls or rises beyond chance, or it may be chance."""
    if math.isnan(churn.low) or churn.low <= 0 <= churn.high:
        return "maybe chance"
    return "falls" if churn.high < 0 else "rises"


def _far(records: list[Record]) -> list[dict[str, str]]:
    """Accuracies and churns of control and k-NN smoothing that are not near the published ones."""
    found = []
    for record in (record for record in records if record.is_main):
        for name in ("control", "knn_ls"):
            row = record.result.chosen.get(name)
            paper = row and paper_row(record.study, record.result, row)
            for metric in ("accuracy", "churn"):
                if row and paper and not all(near_cells(row, paper, [metric])):
                    ours = measured(row, metric)
                    found.append(
                        {
                            "dataset": record.label, "method": name, "metric": metric,
                            "ours": with_spread(ours.mean, ours.sd),
                            "paper": published_text(paper, metric),
                        }
                    )  # fmt: skip
    return found


def _by_command(records: Iterable[Record]) -> dict[str, dict[str, list[Record]]]:
    """Results of trials, by trial and command; a command that tries variants has several."""
    found: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        found.setdefault(record.study, {}).setdefault(record.facts["command"], []).append(record)
    return found


def _data_notes(records: list[Record]) -> dict[str, list[str]]:
    """The notes on files that all results of a dataset share, without the files' folder."""
    noted: dict[str, list[list[str]]] = {}
    for record in records:
        noted.setdefault(record.dataset, []).append(record.facts["data"]["notes"])
    found = {
        dataset: [note for note in first if all(note in other for other in others)]
        for dataset, (first, *others) in noted.items()
    }
    return {name: [_without_folder(n) for n in notes] for name, notes in found.items() if notes}


def _without_folder(note: str) -> str:
    place, colon, text = note.partition(": ")
    return f"{Path(place).name}{colon}{text}"


def _cells(records: list[Record]) -> list[dict[str, Any]]:
    """How many published cells of each dataset lie within two published standard deviations."""
    counts: dict[str, dict[str, Any]] = {}
    for record in (record for record in records if record.is_main):
        name = record.label
        count = counts.setdefault(name, {"dataset": name, "near": 0, "all": 0})
        for row in record.result.settings:
            paper = paper_row(record.study, record.result, row)
            if row.summary and paper:
                near = near_cells(row, paper, PAPER_METRICS)
                count["near"] += sum(near)
                count["all"] += len(near)
    return list(counts.values())
