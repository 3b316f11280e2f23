"""The chart of a verdict: each measured value with its interval, and its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from unchurn.comparison.report.chart_parts import (
    BELOW,
    BESIDE,
    LABELS,
    TICKS,
    as_percent,
    shown_names,
)

if TYPE_CHECKING:
    from unchurn.comparison.report.words import Banner, BannerLine

N_LIMITS = 20  # shown, those against promotion first
# Decisions against promotion first; colours visible on white and on black, and a shape for each.
KINDS = {
    "reject": ("#e15759", "square"),
    "hold": ("#d08a00", "diamond"),
    "promote": ("#3a9e50", "circle"),
}


def limits_chart(banner: Banner) -> dict[str, Any] | None:
    """The chart of all limits on numbers, with title and caption; None if there are none."""
    lines = [line for line in banner.lines if line.found is not None and line.limit is not None]
    lines.sort(key=lambda line: list(KINDS).index(line.decision))
    if not lines:
        return None
    names = shown_names((_turned(line.name) for line in lines[:N_LIMITS]), BESIDE)
    rows = [{"name": name, **_row(line)} for name, line in zip(names, lines, strict=False)]
    there = [kind for kind in KINDS if any(row["decision"] == kind for row in rows)]
    colour = alt.Scale(domain=there, range=[KINDS[kind][0] for kind in there])
    shape = alt.Scale(domain=there, range=[KINDS[kind][1] for kind in there])
    fields = ("check:N", "decision:N", "value:Q", "low:Q", "high:Q", "limit:Q")
    base = alt.Chart(alt.InlineData(values=rows), height=30 * len(rows)).encode(
        alt.Y("name:N", title=None, sort=names, axis=LABELS),
        tooltip=[alt.Tooltip(field) for field in fields],
    )
    coloured = base.encode(alt.Color("decision:N", scale=colour, legend=BELOW))
    bars = coloured.mark_rule(strokeWidth=3, opacity=0.5).encode(
        alt.X("low:Q", title="%", axis=TICKS), x2="high:Q"
    )
    points = coloured.mark_point(filled=True, size=100, opacity=1).encode(
        alt.X("value:Q", title="%", axis=TICKS), alt.Shape("decision:N", scale=shape, legend=BELOW)
    )
    ticks = base.mark_tick(thickness=3, size=22, color="#8c8c8c").encode(
        alt.X("limit:Q", title="%", axis=TICKS)
    )
    caption = "What was measured, with its interval; the upright stroke is the limit."
    if len(lines) > N_LIMITS:
        caption += f" {N_LIMITS} of {len(lines):,}, those that stand in the way first."
    chart = alt.layer(bars, ticks, points).properties(width="container")
    return {"title": "Against the limits", "caption": caption, "spec": chart.to_dict()}


def _turned(name: str) -> str:
    """A check's name with its slice first, so that the distinctive part is not cut off."""
    what, of, which = name.partition(" of ")
    return f"{which}: {what.removeprefix('slice_')}" if of else name


def _row(line: BannerLine) -> dict[str, Any]:
    """A check's numbers in percent."""
    found, limit = line.found, line.limit
    if found is None or limit is None:
        raise ValueError("this line is of no number")
    ends = {"value": found.value, "low": found.low, "high": found.high, "limit": limit}
    numbers = {name: as_percent(end) for name, end in ends.items()}
    return {"check": line.name, "decision": line.decision, **numbers}
