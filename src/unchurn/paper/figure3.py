"""Figure 3 as the paper has it: accuracy against correct churn, a frontier for each method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from unchurn.study.report.axis_domains import not_hopeless
from unchurn.study.report.colours import colours

if TYPE_CHECKING:
    from unchurn.study.results.result import Result

CHURN = "churn_correct"  # the axis that accuracy is drawn against
SIZE = {"width": 420, "height": 300}


def frontiers_data(result: Result) -> list[dict[str, Any]]:
    """One row per setting: test accuracy and correct churn (percent), and if on its frontier."""
    on_frontier = [r for method in result.by_method for r in result.pareto(method)]
    charted = [(r, *result.charted(r)) for r in result.settings if r.runs]
    return [
        {
            "method": r.setting.name,
            "setting": r.setting.text,
            "accuracy": round(100 * accuracy, 4),
            CHURN: round(100 * churn, 4),
            "frontier": r in on_frontier,
        }
        for r, accuracy, churn in charted
        if not np.isnan(churn)
    ]


def frontiers(result: Result) -> alt.LayerChart:
    """Accuracy against correct churn, a dotted frontier for each method; best is top left.

    It opens without the much less accurate settings; scroll or drag to see them.
    """
    # Control is drawn last, on top: all others are compared with it.
    rows = sorted(frontiers_data(result), key=lambda row: row["method"] == "control")
    x, y = _domains(rows)
    methods = [name for name in result.by_method if any(r["method"] == name for r in rows)]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.X(f"{CHURN}:Q", title="correct churn, %", scale=alt.Scale(domain=x)),
        alt.Y("accuracy:Q", title="accuracy, %", scale=alt.Scale(domain=y)),
        alt.Color(
            "method:N",
            scale=alt.Scale(domain=methods, range=list(colours(methods).values())),
            sort=methods,
        ),
    )
    tooltip = ["method:N", "setting:N", "accuracy:Q", f"{CHURN}:Q"]
    points = base.mark_circle(size=60, opacity=0.7, clip=True).encode(tooltip=tooltip)
    lines = base.transform_filter("datum.frontier").mark_line(
        strokeDash=[3, 3], interpolate="step-after", clip=True
    )
    chart: alt.LayerChart = (lines + points).properties(**SIZE).interactive()
    return chart


def _domains(rows: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Domains of the axes: all but the hopeless settings, with a margin."""
    domains = []
    for key in (CHURN, "accuracy"):
        values = [row[key] for row in not_hopeless(rows)]
        margin = 0.05 * (max(values) - min(values)) or 0.1
        domains.append([min(values) - margin, max(values) + margin])
    return domains[0], domains[1]
