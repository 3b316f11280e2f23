"""One Markdown page of all kept results, with its charts and numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from unchurn.files import atomic_write
from unchurn.methods import METHODS
from unchurn.paper import METRICS, published
from unchurn.paper.beside import near_cells, papers, table, trial_table
from unchurn.paper.kept import Kept, numbers, paper_row, read_all
from unchurn.paper.studies import RECIPES, RUNS
from unchurn.results import Result, SettingResult
from unchurn.stats import Interval
from unchurn.tables import interval_text, mean_sd

OTHERS = ("control", "label_smoothing")  # what k-NN smoothing is compared with above all


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
    order = list(RECIPES)
    kept = sorted(
        read_all(folder),
        key=lambda one: (
            order.index(one.result.experiment.data.name),
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
    return environment.get_template("reproduction.md.jinja").render(
        folder=folder.name,
        studies=by_study,
        summary=[_summary(one) for one in _whole(by_study.get("table1", []))],
        cells=_cells(by_study.get("table1", []) + by_study.get("table2", [])),
        table=table,
        trials=_by_command(one for one in kept if one.study.startswith("trial-")),
        trial_table=trial_table,
        far=_far(by_study.get("table1", [])),
        tried={name: math.prod(map(len, method.grid.values())) for name, method in METHODS.items()},
        names=[one.name for one in kept],
        measured=lambda name, setting, metric="churn": (
            f"{_measured(kept, name, metric)[setting]:.2f}"
        ),
        accuracies=partial(_accuracies, kept),
        split=_over_splits(kept),
        of_five=_of_five(kept),
        theorems=_theorems(folder),
    )


def _whole(kept: Iterable[Kept]) -> list[Kept]:
    """Results that have what the summary compares."""
    needed = {"knn_ls", *OTHERS}
    return [one for one in kept if one.is_main and needed <= set(one.result.choose())]


def _summary(one: Kept) -> dict[str, Any]:
    """What k-NN smoothing does to churn on a dataset, against control and label smoothing."""
    chosen, name = one.result.choose(), one.result.experiment.data.name
    theirs = {method: published()[name, method].mean["churn"] for method in chosen}
    ours = {method: 100 * row.summary["test"].churn.mean for method, row in chosen.items()}
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
    return {"dataset": one.dataset, **rows}


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
                            "dataset": one.dataset, "method": name, "metric": metric,
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


def _named(kept: list[Kept], name: str) -> Result:
    return next(one.result for one in kept if one.name == name)


def _rows(kept: list[Kept], name: str) -> dict[str, SettingResult]:
    """The rows of a result that did not fail, by their settings."""
    rows = _named(kept, name).settings
    return {f"{row.setting.name} {row.setting.text}".strip(): row for row in rows if row.summary}


def _measured(kept: list[Kept], name: str, metric: str) -> dict[str, float]:
    """Our mean of a metric in percent, by the settings of a result."""
    rows = _rows(kept, name)
    return {key: 100 * getattr(row.summary["test"], metric).mean for key, row in rows.items()}


def _accuracies(kept: list[Kept], name: str, setting: str) -> list[float]:
    """The accuracy of each run of a setting in percent, lowest first."""
    labels = _named(kept, name).experiment.data.y_test
    predictions = _rows(kept, name)[setting].predictions["test"]
    return sorted(float(100 * np.mean(run == labels)) for run in predictions)


def _over_splits(kept: list[Kept]) -> dict[str, list[float]]:
    """Churn on each split that was tried, by setting."""
    found: dict[str, list[float]] = {}
    for one in kept:
        if one.study == "trial-split":
            for setting, churn in _measured(kept, one.name, "churn").items():
                found.setdefault(setting, []).append(churn)
    return found


def _of_five(kept: list[Kept]) -> tuple[float, float] | None:
    """Between what, in 95 % of all choices, the churn of five of a trial's many runs lies."""
    found = [one.result.settings[0] for one in kept if one.study == "trial-runs"]
    many = [row.predictions["test"] for row in found if row.summary]
    predictions = max(many, key=len, default=())
    if len(predictions) <= RUNS:
        return None
    pairs = np.array([[np.mean(one != other) for other in predictions] for one in predictions])
    fives = np.array(list(combinations(range(len(predictions)), RUNS)))
    churns = pairs[fives[:, :, None], fives[:, None, :]].sum(axis=(1, 2)) / (RUNS * (RUNS - 1))
    low, high = 100 * np.quantile(churns, [0.025, 0.975])
    return float(low), float(high)


def _cells(kept: list[Kept]) -> list[dict[str, Any]]:
    """How many published cells of each dataset lie within two published standard deviations."""
    counts: dict[str, dict[str, Any]] = {}
    for one in (one for one in kept if one.is_main):
        name = one.dataset
        count = counts.setdefault(name, {"dataset": name, "near": 0, "all": 0})
        for row in one.result.settings:
            paper = paper_row(one.study, one.result, row)
            if row.summary and paper:
                near = near_cells(row, paper, METRICS)
                count["near"] += sum(near)
                count["all"] += len(near)
    return list(counts.values())
