"""The first two steps: what retraining alone moves, and what lowers that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unchurn.comparison.compare import compare
from unchurn.core.arrays import Array
from unchurn.methods.registry import DEFAULT
from unchurn.metrics.intervals import Interval
from unchurn.paper.demo import charts
from unchurn.paper.demo.step import Figure, Flipping, Step, chance, is_chance
from unchurn.paper.demo.studies import DATA, PLAIN, tested
from unchurn.paper.published import Published, find_published
from unchurn.report.numbers import NONE, bare_percent, difference, percent
from unchurn.report.table import Cell, Column, Note, Table

if TYPE_CHECKING:
    from unchurn.study.results.result import Result, SettingResult

SHOWN = 6  # of the examples that flip most
NAMES = {
    PLAIN: "plain training",
    "knn_ls": "paper's k-NN smoothing",
    DEFAULT: "unchurn's default",
    "safe_ema": "averaged weights alone",
    "knn_ls+safe_ema": "k-NN + averaged",
    "ensemble": "ensemble",
}


def plain_step(result: Result) -> Step:
    """The first step: retrained with other seeds, a model is as accurate, yet answers differ."""
    runs = tested(result)[PLAIN][1]
    right = runs.predictions == runs.labels
    accuracies, n = right.mean(axis=1), len(runs.labels)
    differ = (runs.predictions != runs.predictions[0]).any(axis=0)
    churn = runs.summary.churn.mean
    return Step(
        title="Retrain the same model: as accurate, yet other answers",
        figures=(
            Figure(
                number=f"{bare_percent(accuracies.min(), 1)} to {percent(accuracies.max(), 1)}",
                caption=f"accuracy of {len(runs.predictions)} retrainings that differ in nothing "
                "but their seed",
            ),
            Figure(
                number=percent(churn, 1),
                caption="of the answers change from one retraining to the next: that is churn, "
                f"{churn * n:,.0f} of {n:,} web pages",
            ),
            Figure(
                number=f"{differ.sum():,}",
                caption="pages are phishing or legitimate depending on the seed",
            ),
        ),
        text=_nearest(result, accuracies),
        chart=charts.disagreements(right[:, differ], accuracies),
        caption=f"Each column is one of the {differ.sum():,} pages on which the retrainings "
        f"disagree; on the other {n - differ.sum():,} all agree.",
        examples=_examples(result),
    )


def _nearest(result: Result, accuracies: Array) -> str:
    """Compare, in words, the two retrainings that are nearest in accuracy."""
    runs = tested(result)[PLAIN][1]
    pairs = combinations(range(len(accuracies)), 2)
    i, j = min(pairs, key=lambda pair: abs(accuracies[pair[0]] - accuracies[pair[1]]))
    classes = np.array(result.subject.data.classes)
    first, second, labels = (classes[a] for a in (*runs.predictions[[i, j]], runs.labels))
    found = compare(first, second, labels=labels)
    outcomes = found.outcomes
    return (
        f"The two that are nearest, retrainings {i + 1} and {j + 1}, have "
        f"{percent(accuracies[i])} and {percent(accuracies[j])} right: a difference of "
        f"{chance(found.estimates['accuracy_difference'])}. Yet {outcomes.flipped.sum():,} pages "
        f"get another answer: {outcomes.bad.sum():,} that were right are wrong, and "
        f"{outcomes.good.sum():,} the other way round. An average hides it; whoever relied on "
        "those answers sees it."
    )


def _examples(result: Result) -> tuple[Flipping, ...]:
    """The examples that flip most."""
    classes, labels = result.subject.data.classes, result.subject.labels["test"]
    runs = tested(result)[PLAIN][1].predictions
    return tuple(
        Flipping(
            number=one.number,
            label=classes[labels[one.number]],
            said=tuple(classes[c] for c in runs[:, one.number]),
            features=one.features,
        )
        for one in result.examples[:SHOWN]
    )


def methods_step(result: Result) -> Step:
    """The second step: what lowers churn, beside what the paper published."""
    rows = tested(result)
    plain = _churn(rows[PLAIN][0])
    found = {name: result.differences(name, PLAIN) for name in rows if name != PLAIN}
    papers = {name: find_published("table1", DATA, row.setting) for name, (row, _) in rows.items()}
    return Step(
        title="Train differently, and less of it moves",
        figures=tuple(
            Figure(
                number=f"{percent(plain, 1)} → {percent(_churn(rows[name][0]), 1)}",
                caption=f"{_name(rows[name][0])}, {_cost(rows[name][0])}; "
                f"{is_chance(found[name]['churn'])}{_in_paper(papers[PLAIN], papers[name])}",
            )
            for name in ("knn_ls", DEFAULT, "ensemble")
        ),
        text=f"{_told(result.subject.runs, found)} The default, weight decay and averaged "
        "weights, is what StableClassifier() uses by default.",
        chart=charts.churns(
            {_name(row): runs.predictions for row, runs in rows.values()},
            {_name(rows[name][0]): row.mean["churn"] for name, row in papers.items() if row},
        ),
        caption="Churn: small dots are pairs of retrainings, large dots their mean; diamonds are "
        "what the paper published.",
        table=_table(rows, found, papers),
    )


def _table(
    rows: Mapping[str, tuple[SettingResult, object]],
    found: dict[str, dict[str, Interval]],
    papers: dict[str, Published | None],
) -> Table:
    """Every method: accuracy, churn, how they differ from plain training's, what was published."""
    lines = []
    for name, (row, _) in rows.items():
        summary, paper = row.summary["test"], papers[name]
        less = found.get(name)
        published = f"{paper.mean['accuracy']:.2f} / {paper.mean['churn']:.2f}" if paper else NONE
        lines.append(
            (
                Cell(text=_name(row)),
                Cell(text=f"{row.setting.name} {row.setting.text}".strip()),
                Cell(text=bare_percent(summary.accuracy.mean), value=summary.accuracy.mean),
                Cell(text=bare_percent(summary.churn.mean), value=summary.churn.mean),
                _less(less, "churn"),
                _less(less, "accuracy"),
                Cell(text=published, value=paper.mean["churn"] if paper else math.nan),
                Cell(text=str(row.setting.n_trained), value=row.setting.n_trained),
            )
        )
    return Table(
        columns=(
            Column(heading="training", is_text=True),
            Column(heading="method", is_text=True, may_go=6),
            Column(heading="accuracy"),
            Column(heading="churn"),
            Column(heading="churn − plain's"),
            Column(heading="accuracy − plain's", may_go=4),
            Column(heading="paper", may_go=3),
            Column(heading="trained", may_go=5),
        ),
        rows=tuple(lines),
        notes=(
            Note(
                text="Percent. Brackets: 95 %, runs paired, jackknife over runs plus the variance "
                "of the examples."
            ),
            Note(text="Trained: networks that a run trains.", of=("trained",)),
            Note(
                text="Paper: accuracy / churn as published by Bahri and Jiang (ICML 2021).",
                of=("paper",),
            ),
        ),
    )


def _less(found: dict[str, Interval] | None, metric: str) -> Cell:
    """The difference from plain training, bold where it is better beyond chance."""
    if found is None:
        return Cell(text=NONE, value=0.0)
    one = found[metric]
    is_better = one.high < 0 if metric == "churn" else one.low > 0
    return Cell(text=difference(one), value=one.value, is_best=is_better)


def _told(runs: int, found: Mapping[str, dict[str, Interval]]) -> str:
    """Say which methods change churn or cost accuracy beyond chance, and which are left open."""
    lower = [name for name, one in found.items() if one["churn"].high < 0]
    higher = [name for name, one in found.items() if one["churn"].low > 0]
    worse = [name for name, one in found.items() if one["accuracy"].high < 0]
    said = [f"Churn is lower than plain training's beyond chance: {_listed(lower)}."]
    if left := [name for name in found if name not in (*lower, *higher)]:
        said.append(f"{runs} runs leave it open: {_listed(left)}.")
    if higher:
        said.append(f"It is higher beyond chance: {_listed(higher)}.")
    return " ".join([*said, f"Accuracy is lower beyond chance: {_listed(worse)}."])


def _listed(names: list[str]) -> str:
    return ", ".join(NAMES[name] for name in names) or "none"


def _in_paper(plain: Published | None, own: Published | None) -> str:
    """What the paper published for the same methods; empty if it did not."""
    if plain is None or own is None:
        return ""
    return f"; the paper has {plain.mean['churn']:.2f}% → {own.mean['churn']:.2f}%"


def _name(row: SettingResult) -> str:
    many = f" of {row.setting.n_models}" if row.setting.n_models > 1 else ""
    return f"{NAMES[row.setting.name]}{many}"


def _cost(row: SettingResult) -> str:
    trained, served = row.setting.n_trained, row.setting.n_models
    if trained == served == 1:
        return "at no cost"
    return f"{trained} networks trained, {served} served"


def _churn(row: SettingResult) -> float:
    return row.summary["test"].churn.mean
