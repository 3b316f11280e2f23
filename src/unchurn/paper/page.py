"""Ours beside the paper's: a table on the terminal, and one Markdown page of all kept results."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jinja2

from unchurn.datasets import DATASETS
from unchurn.files import atomic_write
from unchurn.paper import METRICS, Published, published
from unchurn.paper.kept import Kept, numbers, paper_row, read_all
from unchurn.paper.studies import RECIPES, smaller
from unchurn.results import Result, SettingResult
from unchurn.stats import Interval
from unchurn.tables import Rows, as_markdown, as_text, interval_text, mean_sd

NEAR = 2  # published standard deviations within which a number is called near
HEADINGS = ("accuracy", "churn", "correct", "incorrect")


def beside_paper(study: str, result: Result) -> str:
    """A table of ours beside the paper's, for the terminal."""
    rows = _rows(study, result)
    return as_text(rows, _footer(result), None, len(rows[0][0]))


def _rows(study: str, result: Result) -> Rows:
    """A heading, then for each setting our numbers, each with the paper's behind it."""
    theirs = [paper_row(study, result, row) for row in result.settings]
    heading = ["method", "setting"]
    for name in HEADINGS:
        heading += [name, *(["paper"] if any(theirs) else [])]
    rows: Rows = [([*heading, *([f"within {NEAR} sd"] if any(theirs) else [])], set())]
    for row, paper in zip(result.settings, theirs, strict=True):
        cells = [row.setting.name, row.setting.text]
        if not row.summary:
            rows.append(([*cells, f"failed: {row.failures[0]}"], set()))
            continue
        for metric in METRICS:
            cells.append(mean_sd(getattr(row.summary["test"], metric)))
            if any(theirs):
                cells.append(_papers(paper, metric))
        if any(theirs):
            near = [is_near(row, paper, metric) for metric in METRICS] if paper else []
            known = [n for n in near if n is not None]
            cells.append(f"{sum(known)} of {len(known)}" if known else "")
        rows.append((cells, set()))
    return rows


def _papers(row: Published | None, metric: str) -> str:
    return f"{row.mean[metric]:.2f} ({row.sd[metric]:.2f})" if row and metric in row.mean else ""


def is_near(row: SettingResult, paper: Published, metric: str) -> bool | None:
    """Whether our mean lies within two published standard deviations of the published mean."""
    ours = getattr(row.summary["test"], metric).mean
    if metric not in paper.mean or math.isnan(ours):
        return None
    return bool(abs(100 * ours - paper.mean[metric]) <= NEAR * paper.sd[metric])


def _footer(result: Result) -> list[str]:
    """Sizes, and in what they are less than the paper's."""
    experiment = result.experiment
    text = (
        f"{experiment.data.name}: {experiment.model}, {experiment.training.length}, "
        f"{experiment.runs} runs, {len(experiment.data.y_train):,} training and "
        f"{len(experiment.data.y_test):,} test examples. Percent, mean (sd over runs or pairs)."
    )
    less = smaller(experiment)
    return [text, *([f"Smaller than the study: {', '.join(less)}."] if less else [])]


def write_page(folder: Path) -> list[Path]:
    """Write FOLDER.md, and into the folder the charts and numbers it shows; give their paths."""
    from unchurn import charts
    from unchurn.paper import figures

    kept = read_all(folder)
    written = []
    for name, chart in figures.all_figures(kept, _theorems(folder)).items():
        written.append(folder / name)
        charts.save(chart, written[-1])
    for one in kept:
        written.append(folder / f"{one.name}.csv")
        with atomic_write(written[-1]) as temporary:
            temporary.write_text(numbers(one.study, one.result, one.facts["command"]))
    written.append(folder.with_suffix(".md"))
    with atomic_write(written[-1]) as temporary:
        temporary.write_text(page(folder), "utf-8")
    return written


def _theorems(folder: Path) -> dict[str, Any]:
    """The kept simulations, by theorem."""
    paths = [folder / f"theorem{number}.json" for number in (1, 2)]
    return {path.stem: json.loads(path.read_text("utf-8")) for path in paths if path.exists()}


def page(folder: Path) -> str:
    """The page's Markdown, from the results in a folder."""
    kept = read_all(folder)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=False,  # noqa: S701  Markdown of our own numbers, no page in a browser
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    by_study: dict[str, list[Kept]] = {}
    for one in kept:
        by_study.setdefault(one.study, []).append(one)
    order = list(RECIPES)
    for group in by_study.values():
        group.sort(key=lambda one: (order.index(one.result.experiment.data.name), one.name))
    return environment.get_template("reproduction.md.jinja").render(
        folder=folder.name,
        studies=by_study,
        summary=[_summary(one) for one in _whole(by_study.get("table1", []))],
        cells=_cells(by_study.get("table1", []) + by_study.get("table2", [])),
        table=lambda one: as_markdown(_rows(one.study, one.result), _footer(one.result)),
        far=_far(by_study.get("table1", [])),
        split=_churns(by_study.get("trial-split", [])),
        reference=_churns(by_study.get("trial-reference", [])),
        depth={one.name: _churns([one]) for one in by_study.get("trial-mlp", [])},
        theorems=_theorems(folder),
        sources=DATASETS,
    )


def _whole(kept: Iterable[Kept]) -> list[Kept]:
    """Results that have what the summary compares."""
    needed = {"knn_ls", "control", "label_smoothing"}
    return [one for one in kept if one.is_main and needed <= set(one.result.choose())]


def _summary(one: Kept) -> dict[str, Any]:
    """What k-NN smoothing does to churn on a dataset, against control and label smoothing."""
    result, name = one.result, one.result.experiment.data.name
    theirs = {method: published()[name, method].mean["churn"] for method in result.choose()}
    rows = {}
    for other in ("control", "label_smoothing"):
        _, churn = result.difference("knn_ls", other)
        rows[other] = {
            "ours": interval_text(churn),
            "verdict": _verdict(churn),
            "paper": f"{theirs['knn_ls'] - theirs[other]:+.2f}",
        }
    return {
        "dataset": name,
        "smaller": smaller(result.experiment),
        "churn": {
            method: f"{100 * result.choose()[method].summary['test'].churn.mean:.2f}"
            for method in ("control", "label_smoothing", "knn_ls")
        },
        **rows,
    }


def _verdict(churn: Interval) -> str:
    """Whether churn falls, rises, or neither can be said."""
    if math.isnan(churn.low) or churn.low <= 0 <= churn.high:
        return "not told from chance"
    return "falls" if churn.high < 0 else "rises"


def _far(kept: list[Kept]) -> list[dict[str, str]]:
    """Accuracies and churns of control and k-NN smoothing that are not near the published ones."""
    found = []
    for one in (one for one in kept if one.is_main):
        for name in ("control", "knn_ls"):
            row = one.result.choose().get(name)
            paper = row and paper_row(one.study, one.result, row)
            for metric in ("accuracy", "churn"):
                if row and paper and is_near(row, paper, metric) is False:
                    ours = getattr(row.summary["test"], metric)
                    dataset = one.result.experiment.data.name
                    found.append(
                        {
                            "dataset": dataset, "method": name, "metric": metric,
                            "ours": mean_sd(ours), "paper": _papers(paper, metric),
                        }
                    )  # fmt: skip
    return found


def _churns(kept: list[Kept]) -> dict[str, list[float]]:
    """Churn in percent by setting, over all of these results, in rising order."""
    found: dict[str, list[float]] = {}
    for one in kept:
        for row in one.result.settings:
            name = f"{row.setting.name} {row.setting.text}".strip()
            found.setdefault(name, []).append(100 * row.summary["test"].churn.mean)
    return {name: sorted(churns) for name, churns in found.items()}


def _cells(kept: list[Kept]) -> list[dict[str, Any]]:
    """How many published cells of each dataset lie within two published standard deviations."""
    counts: dict[str, dict[str, Any]] = {}
    for one in (one for one in kept if one.is_main):
        name = one.result.experiment.data.name
        count = counts.setdefault(name, {"dataset": name, "near": 0, "all": 0})
        for row in one.result.settings:
            paper = paper_row(one.study, one.result, row)
            if row.summary and paper:
                known = [n for m in METRICS if (n := is_near(row, paper, m)) is not None]
                count["near"] += sum(known)
                count["all"] += len(known)
    return list(counts.values())
