"""The charts of the reproduction's page: the paper's figures, and ours against theirs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import altair as alt

from unchurn.datasets import two_gaussians
from unchurn.neighbors import knn_labels
from unchurn.neighbors.soft_labels import blend_knn_labels, smooth_labels
from unchurn.paper.figure3 import frontiers
from unchurn.paper.published import FIGURE2, along
from unchurn.paper.record_numbers import measured, paper_row
from unchurn.paper.records import Record
from unchurn.paper.theory.charts import theorem1_chart, theorem2_chart
from unchurn.paper.united import with_curves
from unchurn.study.report import charts

# Error is 100 − accuracy: on a logarithmic scale, one bad row does not hide all others.
AXES: tuple[tuple[str, str, Callable[[float], float]], ...] = (
    ("error", "accuracy", lambda percent: 100 - percent),
    ("churn", "churn", lambda percent: percent),
)
NAMED = 2  # points are named if one number is more than so many times the other


def all_figures(
    records: list[Record], theorems: dict[str, dict[str, Any]]
) -> dict[str, alt.TopLevelMixin]:
    """Every chart that can be drawn from the results, by file name."""
    figures: dict[str, alt.TopLevelMixin] = {"figure1.svg": smoothing_panels()}
    if rows := against_paper_data(records):
        figures["against-the-paper.svg"] = against_paper(rows)
    for record in with_curves(records):
        figures[f"{record.name}.svg"] = _figure2(record).properties(title=record.label)
    for record in records:
        if record.study == "figure3" and record.result.pareto():
            figures[f"{record.name}.svg"] = frontiers(record.result).properties(title=record.label)
    draw = {"theorem1": theorem1_chart, "theorem2": theorem2_chart}
    figures |= {f"{name}.svg": draw[name](facts["rows"]) for name, facts in theorems.items()}
    return figures


def _figure2(record: Record) -> alt.VConcatChart:
    """Accuracy and churn along a, b and k, the other two fixed; with the paper's curves."""
    panels = [
        charts.curve(
            record.result, "knn_ls", parameter, others, {"the paper": _published(parameter)}
        )
        for parameter, others in FIGURE2.items()
    ]
    chart: alt.VConcatChart = alt.vconcat(*panels)
    return chart


def _published(parameter: str) -> list[dict[str, Any]]:
    """The paper's accuracy and churn along a parameter of k-NN smoothing."""
    return [
        {"metric": metric, parameter: row.parameters[parameter], "mean": row.mean[metric]}
        for row in along(parameter)
        for metric in ("accuracy", "churn")
    ]


def against_paper_data(records: list[Record]) -> list[dict[str, Any]]:
    """The published and our mean error and churn in percent, for every row of Tables 1 and 2."""
    return [
        {
            "dataset": record.label,
            "method": row.setting.name,
            "metric": name,
            "paper": round(turn(paper.mean[metric]), 4),
            "ours": round(turn(100 * measured(row, metric).mean), 4),
        }
        for record in records
        if record.study in ("table1", "table2") and record.is_main
        for row in record.result.settings
        if row.summary and (paper := paper_row(record.study, record.result, row)) is not None
        for name, metric, turn in AXES
        if turn(100 * measured(row, metric).mean) > 0  # the scale is logarithmic
    ]


def against_paper(rows: list[dict[str, Any]]) -> alt.HConcatChart:
    """Our error and churn against the published ones; points that are far off are named."""
    panels = []
    for metric, _, _ in AXES:
        shown = [row for row in rows if row["metric"] == metric]
        values = [row[kind] for row in shown for kind in ("paper", "ours")]
        scale = alt.Scale(type="log", nice=False, padding=18)
        ends = [{"paper": v, "ours": v} for v in (min(values), max(values))]
        line = (
            alt.Chart(alt.InlineData(values=ends))
            .mark_line(color="#888888", strokeDash=[4, 3])
            .encode(alt.X("paper:Q", scale=scale), alt.Y("ours:Q", scale=scale))
        )
        points = (
            alt.Chart(alt.InlineData(values=shown))
            .mark_point(filled=True, size=60, opacity=0.8)
            .encode(
                alt.X("paper:Q", title=f"{metric} in the paper, %", scale=scale),
                alt.Y("ours:Q", title=f"our {metric}, %", scale=scale),
                alt.Color("dataset:N", legend=alt.Legend(orient="bottom", columns=2, labelLimit=0)),
                tooltip=["dataset:N", "method:N", "paper:Q", "ours:Q"],
            )
        )
        far = [r for r in shown if abs(math.log(r["ours"] / r["paper"])) > math.log(NAMED)]
        names = (
            alt.Chart(alt.InlineData(values=far))
            .mark_text(dy=-9, fontSize=9)
            .encode(
                alt.X("paper:Q", scale=scale), alt.Y("ours:Q", scale=scale), alt.Text("method:N")
            )
        )
        panels.append((line + points + names).properties(width=300, height=300))
    chart: alt.HConcatChart = alt.hconcat(*panels)
    return chart


def smoothing_panels(k: int = 20, a: float = 0.9, b: float = 0.1) -> alt.HConcatChart:
    """Two Gaussians with swapped labels: as they are, smoothed globally, smoothed locally."""
    data = two_gaussians.load()
    knn = knn_labels(data.x_train, data.y_train, k)
    panels = {
        "labels, a tenth swapped": smooth_labels(data.y_train, 0, n_classes=2),
        f"global smoothing, a={a:g}": smooth_labels(data.y_train, a, n_classes=2),
        f"k-NN smoothing, k={k}, a={a:g}, b={b:g}": blend_knn_labels(knn, data.y_train, a=a, b=b),
    }
    drawn = []
    for title, targets in panels.items():
        rows = [
            {"x": round(float(x), 3), "y": round(float(y), 3), "positive": round(float(p), 4)}
            for (x, y), p in zip(data.x_train, targets[:, 1], strict=True)
        ]
        colour = alt.Scale(domain=[0, 0.5, 1], range=["#00a5b5", "#dddddd", "#c2188f"])
        drawn.append(
            alt.Chart(alt.InlineData(values=rows), title=title)
            .mark_circle(size=18, opacity=0.9, aria=False)  # too many for screen readers
            .encode(
                alt.X("x:Q", title=None),
                alt.Y("y:Q", title=None),
                alt.Color("positive:Q", scale=colour, title="soft label"),
            )
            .properties(width=240, height=240)
        )
    return alt.hconcat(*drawn)
