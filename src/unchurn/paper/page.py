"""One Markdown page of all kept results, with its charts and numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jinja2

from unchurn.core.errors import InputError
from unchurn.core.files import atomic_write, reading
from unchurn.methods import METHODS
from unchurn.metrics.intervals import Interval
from unchurn.paper.explanations import explanations
from unchurn.paper.published import ENSEMBLE, METRICS, published
from unchurn.paper.records import Kept, numbers, paper_row, read_all
from unchurn.paper.studies import RECIPES, STUDIES
from unchurn.paper.tables import choice_table, near_cells, papers, table, trial_table
from unchurn.study.table import interval_text, mean_sd

OTHERS = ("control", "label_smoothing")  # what k-NN smoothing is compared with above all
OF_A_THEOREM = {"command", "commit", "made_by", "seconds", "rates", "rows"}


def write_page(folder: Path) -> list[Path]:
    """Write FOLDER.md, and into the folder the charts and numbers it shows; give their paths."""
    from unchurn.paper import figures
    from unchurn.study import charts

    if folder.name in ("", ".."):  # the page is named after it
        folder = folder.resolve()
    kept, theorems = read_all(folder), _theorems(folder)
    text = _render(folder, kept, theorems)  # what is wrong with them comes up before any writing
    drawn = figures.all_figures(kept, theorems)
    written = []
    for name, chart in drawn.items():
        written.append(folder / name)
        charts.save(chart, written[-1])
    for one in kept:
        written.append(folder / f"{one.name}.csv")
        with atomic_write(written[-1]) as temporary:
            rows = numbers(one.study, one.result, one.facts["command"])
            temporary.write_text(rows, "utf-8")
    written.append(folder.with_name(f"{folder.name}.md"))
    with atomic_write(written[-1]) as temporary:
        temporary.write_text(text, "utf-8")
    return written


def page(folder: Path) -> str:
    """The page's Markdown, from the results in a folder."""
    return _render(folder, read_all(folder), _theorems(folder))


def _theorems(folder: Path) -> dict[str, Any]:
    """The kept simulations, by theorem."""
    found = {}
    for path in (folder / f"theorem{number}.json" for number in (1, 2)):
        if path.exists():
            with reading(path, "a kept simulation"):
                found[path.stem] = json.loads(path.read_text("utf-8"))
                if missing := OF_A_THEOREM - set(found[path.stem]):
                    raise InputError(f"without {sorted(missing)[0]!r}")
    return found


def _render(folder: Path, kept: list[Kept], theorems: dict[str, Any]) -> str:
    if not kept and not theorems:
        raise InputError(f"{folder}: no results are there: unchurn reproduce table1 makes some")
    order = list(RECIPES)
    kept = sorted(
        kept,
        key=lambda one: (
            order.index(one.dataset),
            one.result.experiment.training.epochs,
            len(one.result.experiment.data.y_train),
            one.name,
        ),
    )
    by_study: dict[str, list[Kept]] = {}
    for one in kept:
        by_study.setdefault(one.study, []).append(one)
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
        summary=[_summary(one) for one in whole],
        lowest=[_lowest(one) for one in whole],
        cells=_cells(by_study.get("table1", []) + by_study.get("table2", [])),
        table=table,
        choice_table=choice_table,
        trials=_by_command(one for one in kept if one.study.startswith("trial-")),
        questions={name: study.question for name, study in STUDIES.items()},
        trial_table=trial_table,
        far=_far(by_study.get("table1", [])),
        tried={name: math.prod(map(len, method.grid.values())) for name, method in METHODS.items()},
        data_notes=_data_notes(kept),
        theorems=theorems,
        explained=explanations(folder, kept),
    )


def _whole(kept: Iterable[Kept]) -> list[Kept]:
    """Results that have what the summary compares."""
    needed = {"knn_ls", *OTHERS}
    return [one for one in kept if one.is_main and needed <= set(one.result.choose())]


def _summary(one: Kept) -> dict[str, Any]:
    """What k-NN smoothing does to churn on a dataset, against control and label smoothing."""
    ours, theirs = _churns(one)
    rows = {}
    for other in OTHERS:
        _, churn = one.result.difference("knn_ls", other)
        rows[other] = {
            "churn": f"{ours[other]:.2f} → {ours['knn_ls']:.2f}",
            "is_lower": churn.value < 0,
            "difference": interval_text(churn),
            "verdict": _verdict(churn),
            "paper": f"{theirs['knn_ls'] - theirs[other]:+.2f}",
        }
    return {"dataset": one.label, **rows}


def _churns(one: Kept) -> tuple[dict[str, float], dict[str, float]]:
    """Churn in percent by method: of those of ours that did not fail, and the paper's."""
    chosen = one.result.choose()
    ours = {method: 100 * row.summary["test"].churn.mean for method, row in chosen.items()}
    single = [method for method in METHODS if method != ENSEMBLE]
    return ours, {method: published()[one.dataset, method].mean["churn"] for method in single}


def _lowest(one: Kept) -> dict[str, str | int]:
    """The methods of lowest churn, ours and the paper's, and how far k-NN smoothing is from it."""
    ours, theirs = _churns(one)
    least, paper = (sorted(churns, key=lambda method: churns[method]) for churns in (ours, theirs))
    difference, verdict = "", ""
    if least[0] != "knn_ls":
        _, churn = one.result.difference("knn_ls", least[0])
        difference = interval_text(churn)
        verdict = "beyond chance" if _verdict(churn) == "rises" else "maybe chance"
    return {
        "dataset": one.label,
        "ours": f"{least[0]} {ours[least[0]]:.2f}",
        "paper": f"{paper[0]} {theirs[paper[0]]:.2f}",
        "place": least.index("knn_ls") + 1 if len(ours) == len(theirs) else "",
        "paper_place": paper.index("knn_ls") + 1,
        "difference": difference,
        "verdict": verdict,
    }


def _verdict(churn: Interval) -> str:
    """Whether churn falls, rises, or neither can be said."""
    if math.isnan(churn.low) or churn.low <= 0 <= churn.high:
        return "maybe chance"
    return "falls" if churn.high < 0 else "rises"


def _far(kept: list[Kept]) -> list[dict[str, str]]:
    """Accuracies and churns of control and k-NN smoothing that are not near the published ones."""
    found = []
    for one in (one for one in kept if one.is_main):
        for name in ("control", "knn_ls"):
            row = one.result.choose().get(name)
            paper = row and paper_row(one.study, one.result, row)
            for metric in ("accuracy", "churn"):
                if row and paper and not all(near_cells(row, paper, [metric])):
                    ours = getattr(row.summary["test"], metric)
                    found.append(
                        {
                            "dataset": one.label, "method": name, "metric": metric,
                            "ours": mean_sd(ours), "paper": papers(paper, metric),
                        }
                    )  # fmt: skip
    return found


def _by_command(kept: Iterable[Kept]) -> dict[str, dict[str, list[Kept]]]:
    """Results of trials by trial, then by command: one that tries several variants has several."""
    found: dict[str, dict[str, list[Kept]]] = {}
    for one in kept:
        found.setdefault(one.study, {}).setdefault(one.facts["command"], []).append(one)
    return found


def _data_notes(kept: list[Kept]) -> dict[str, list[str]]:
    """What all results of a dataset note of its files, without the folder that they were in."""
    noted: dict[str, list[list[str]]] = {}
    for one in kept:
        noted.setdefault(one.dataset, []).append(one.facts["data"]["notes"])
    found = {
        dataset: [note for note in first if all(note in other for other in others)]
        for dataset, (first, *others) in noted.items()
    }
    return {name: [_without_folder(n) for n in notes] for name, notes in found.items() if notes}


def _without_folder(note: str) -> str:
    place, colon, text = note.partition(": ")
    return f"{Path(place).name}{colon}{text}"


def _cells(kept: list[Kept]) -> list[dict[str, Any]]:
    """How many published cells of each dataset lie within two published standard deviations."""
    counts: dict[str, dict[str, Any]] = {}
    for one in (one for one in kept if one.is_main):
        name = one.label
        count = counts.setdefault(name, {"dataset": name, "near": 0, "all": 0})
        for row in one.result.settings:
            paper = paper_row(one.study, one.result, row)
            if row.summary and paper:
                near = near_cells(row, paper, METRICS)
                count["near"] += sum(near)
                count["all"] += len(near)
    return list(counts.values())
