"""The story's charts, one for each step, as wide as the page allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import altair as alt
import numpy as np

from unchurn.core.arrays import Array
from unchurn.metrics.intervals import Interval

Spec = dict[str, Any]  # Vega-Lite's
# Distinct on white and on black, also for those who cannot tell red from green; shapes help.
RIGHT, WRONG, PALE, OTHER = "#4e79a7", "#f28e2b", "#a3bcd6", "#8c8c8c"
DECISIONS = {"promote": "#2e9e5b", "hold": "#d4a017", "reject": "#d1495b"}
SHAPES = ["circle", "diamond", "square"]
# The kinds of points in the chart of churn, and their sizes.
KINDS = {"each pair": 35, "mean": 190, "published": 120}
BELOW = alt.Legend(orient="bottom", title=None, symbolOpacity=1)
LABELS = alt.Axis(title=None, labelLimit=200, ticks=False, domain=False, labelPadding=8)


def disagreements(right: Array, accuracies: Array) -> Spec:
    """Which retraining gets which page right, (R, pages), where retrainings disagree."""
    order = np.lexsort((*right, -right.sum(axis=0)))
    rows = [
        {
            "page": place,
            "retraining": f"retraining {run + 1}: {accuracies[run]:.1%}",
            "answer": "right" if right[run, page] else "wrong",
        }
        for run in range(len(right))
        for place, page in enumerate(order)
    ]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_rect()
        .encode(
            alt.X("page:O", axis=None, scale=alt.Scale(paddingInner=0.15, paddingOuter=0)),
            alt.Y("retraining:N", sort=None, axis=LABELS, scale=alt.Scale(paddingInner=0.12)),
            _told_apart("answer", ["right", "wrong"], [RIGHT, WRONG]),
        )
    )
    return _spec(chart, 30 * len(right))


def churns(predictions: Mapping[str, Array], published: Mapping[str, float]) -> Spec:
    """Churn of every method: each pair of retrainings, their mean, what was published (percent)."""
    pair, ours, paper = KINDS
    rows = []
    for name, runs in predictions.items():
        pairs = combinations(range(len(runs)), 2)
        each = [100 * float(np.mean(runs[i] != runs[j])) for i, j in pairs]
        rows += [_churn(name, churn, pair) for churn in each]
        rows.append(_churn(name, float(np.mean(each)), ours))
    rows += [_churn(name, churn, paper) for name, churn in published.items()]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.X("churn:Q", title="churn, %", scale=alt.Scale(zero=True)),
        alt.Y("training:N", sort=list(predictions), axis=LABELS),
    )
    kinds = list(KINDS)
    marked = base.encode(
        _told_apart("of", kinds, [PALE, RIGHT, WRONG]),
        _shaped("of", kinds, ["circle", "circle", "diamond"]),
        tooltip=["training:N", "of:N", "churn:Q"],
    )
    points = [
        marked.transform_filter(alt.datum.of == kind).mark_point(filled=True, size=size, opacity=1)
        for kind, size in KINDS.items()
    ]
    means = base.transform_filter(alt.datum.of == ours).mark_text(dy=-15, fontWeight="bold")
    means = means.encode(alt.Text("churn:Q", format=".2f"))
    return _spec(alt.layer(*points, means), 46 * len(predictions))


def _churn(training: str, churn: float, of: str) -> dict[str, str | float]:
    return {"training": training, "churn": round(churn, 4), "of": of}


def flips(counted: Mapping[str, tuple[float, float]]) -> Spec:
    """How many examples each successor breaks, to the left, and fixes, to the right."""
    rows: list[dict[str, Any]] = [
        {"successor": name, "pages": sign * n, "n": f"{n:,.0f}", "kind": kind}
        for name, both in counted.items()
        for sign, n, kind in zip((-1, 1), both, ("broken", "fixed"), strict=True)
    ]
    # Room for the numbers beside the bars.
    domain = [1.4 * min(row["pages"] for row in rows), 1.2 * max(row["pages"] for row in rows)]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.X(
            "pages:Q",
            title="pages",
            axis=alt.Axis(format="d", labelExpr="abs(datum.value)"),
            scale=alt.Scale(domain=domain, nice=False),
        ),
        alt.Y("successor:N", sort=list(counted), axis=LABELS),
    )
    bars = base.mark_bar(cornerRadius=3, height=26).encode(
        _told_apart("kind", ["broken", "fixed"], [WRONG, RIGHT]),
        tooltip=["successor:N", "kind:N", "n:N"],
    )
    named = base.encode(alt.Text("n:N"))
    left = named.transform_filter(alt.datum.kind == "broken").mark_text(align="right", dx=-5)
    right = named.transform_filter(alt.datum.kind == "fixed").mark_text(align="left", dx=5)
    return _spec(alt.layer(bars, left, right), 46 * len(counted))


def verdicts(measured: Mapping[str, Sequence[tuple[Interval, str]]], limit: float) -> Spec:
    """Bad flips of every candidate with their interval, coloured by the gate's decision."""
    rows = [
        {
            "candidate": f"{name}, {number}",
            **{end: round(100 * getattr(found, end), 4) for end in ("value", "low", "high")},
            "decision": decision,
        }
        for name, each in measured.items()
        for number, (found, decision) in enumerate(each, 1)
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.Y("candidate:N", sort=[row["candidate"] for row in rows], axis=LABELS),
        _told_apart("decision", list(DECISIONS), list(DECISIONS.values())),
        tooltip=["candidate:N", "decision:N", "value:Q", "low:Q", "high:Q"],
    )
    ends = base.mark_rule(strokeWidth=2).encode(
        alt.X("low:Q", title="bad flips, %", scale=alt.Scale(zero=True)), alt.X2("high:Q")
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        alt.X("value:Q"),
        _shaped("decision", list(DECISIONS), SHAPES),
    )
    at = alt.Chart(alt.InlineData(values=[{"limit": 100 * limit, "name": f"limit {limit:.0%}"}]))
    line = at.mark_rule(strokeDash=[5, 4], color=OTHER, strokeWidth=1.5).encode(alt.X("limit:Q"))
    name = at.mark_text(align="left", baseline="bottom", dx=3, y=-3).encode(
        alt.X("limit:Q"), alt.Text("name:N")
    )
    return _spec(alt.layer(line, ends, points, name), 22 * len(rows))


def _told_apart(field: str, values: list[str], colours: list[str]) -> alt.Color:
    """Show a field by colour."""
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=values, range=colours), legend=BELOW)


def _shaped(field: str, values: list[str], shapes: list[str]) -> alt.Shape:
    """Show the same field by shape, in one legend with its colour."""
    return alt.Shape(f"{field}:N", scale=alt.Scale(domain=values, range=shapes), legend=BELOW)


def _spec(chart: Any, height: int) -> Spec:
    """A chart as wide as the page."""
    spec: Spec = chart.properties(width="container", height=height).to_dict()
    return spec
