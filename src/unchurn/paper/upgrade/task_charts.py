"""The frontier of each task: what recipes break and gain, beside the goals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from unchurn.paper.beyond.charts import TASKS
from unchurn.paper.upgrade.charts import (
    COLOURS,
    DEFAULT,
    IS_DEFAULT,
    OTHERS,
    SHAPES,
    best,
    kind_of,
)
from unchurn.paper.upgrade.rows import Row

COLOUR_OF = {**COLOURS, IS_DEFAULT: "#54a24b"}
SHAPE_OF = [*SHAPES, "triangle-up"]
MOST = 110  # percent of plain retraining's bad flips: what breaks more is left out
LEAST = -2.0  # points of accuracy: what loses more is left out
SHADES = ("#e8f1e4", "#d2e5ca")  # of the goals, the wider one first
COLUMNS = 3
SIZE = {"width": 210, "height": 170}


def frontiers(tasks: Mapping[str, Sequence[Row]], goals: Sequence[float]) -> alt.ConcatChart:
    """A small chart for each task; shaded is where the goals, shares of bad flips, are met."""
    charts = [_frontier(rows, TASKS.get(name, name), goals) for name, rows in tasks.items()]
    chart: alt.ConcatChart = alt.concat(*charts, columns=COLUMNS)
    return chart


def _frontier(rows: Sequence[Row], title: str, goals: Sequence[float]) -> alt.LayerChart:
    there = [row for row in rows if not math.isnan(row.ratio)]
    ahead = {row.recipe for kind in (1, 2) for row in best(r for r in there if r.served == kind)}
    values: list[dict[str, Any]] = [
        {"recipe": row.recipe, "flips": round(100 * row.ratio, 2),
         "gain": round(100 * row.gain, 3),
         "kind": IS_DEFAULT if row.recipe == DEFAULT else kind_of(row, ahead)}
        for row in there
        if 100 * row.ratio <= MOST and 100 * row.gain >= LEAST
    ]  # fmt: skip
    gains = [row["gain"] for row in values]
    low, high = min(gains, default=0.0) - 0.15, max(gains, default=0.0) + 0.2
    met = [
        alt.Chart(alt.InlineData(values=[{"none": 0, "most": 100 * goal, "low": 0, "high": high}]))
        .mark_rect(color=colour)
        .encode(alt.X("none:Q"), alt.X2("most:Q"), alt.Y("low:Q"), alt.Y2("high:Q"))
        for goal, colour in zip(goals, SHADES, strict=True)
    ]
    legend = alt.Legend(orient="bottom", labelLimit=0, symbolOpacity=1, columns=COLUMNS)
    kinds = list(COLOUR_OF)
    dots = (
        alt.Chart(alt.InlineData(values=values))
        .mark_point(filled=True, size=45, opacity=1)
        .encode(
            alt.X("flips:Q", title="bad flips, % of plain's",
                  scale=alt.Scale(domain=[0, MOST], nice=False)),
            alt.Y("gain:Q", title="accuracy − plain's",
                  scale=alt.Scale(domain=[low, high], nice=False)),
            alt.Color("kind:N", title=None, legend=legend,
                      scale=alt.Scale(domain=kinds, range=list(COLOUR_OF.values()))),
            alt.Shape("kind:N", title=None, legend=legend,
                      scale=alt.Scale(domain=kinds, range=SHAPE_OF)),
            tooltip=["recipe:N", "flips:Q", "gain:Q"],
        )
    )  # fmt: skip
    layers = (*met, dots.transform_filter(alt.datum.kind == OTHERS),
              dots.transform_filter(alt.datum.kind != OTHERS))  # fmt: skip
    chart: alt.LayerChart = alt.LayerChart(layer=layers, title=title).properties(**SIZE)
    return chart
