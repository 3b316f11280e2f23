"""Charts of the scenario replay: a metric of each method over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import altair as alt

from unchurn.core.errors import InputError, unknown
from unchurn.study.report.colours import colours
from unchurn.study.results.history import Time
from unchurn.study.results.over_time import history_of, releases

if TYPE_CHECKING:
    from unchurn.study.results.result import Result

# Metrics shown over time, with their titles.
SHOWN = {
    "accuracy": "Accuracy over time",
    "bad_flips": "Bad flips from release to release",
    "churn_to_base": "Churn from release to release",
    "bad_flips_first": "Bad flips against the first release",
    "churn_first": "Churn against the first release",
}
SIZE = {"width": 420, "height": 300}
KEPT = "first release, kept"  # its accuracy over time, had no other followed
GREY = "#8c8c8c"


def charts(result: Result) -> dict[str, alt.TopLevelMixin]:
    """Every chart over time, by title."""
    if not result.chosen:
        return {}
    return {
        title: over_time(result, metric).properties(width="container")
        for metric, title in SHOWN.items()
    }


def over_time_data(result: Result, metric: str) -> list[dict[str, Any]]:
    """A row per method and release: mean over runs of the chosen setting, in percent."""
    metrics, times = result.subject.scenario.metrics, history_of(result).times
    if metric not in metrics:
        raise InputError(unknown("metric", metric, metrics))
    lines = [(name, row, metric) for name, row in result.chosen.items()]
    if metric == "accuracy" and lines:  # the first release is the same for all
        lines.append((KEPT, lines[0][1], "accuracy_first"))
    return [
        {
            "method": name,
            "at": _axis_value(times[one.number]),
            "release": one.time,
            "rows": len(one.runs.labels),
            metric: round(100 * metrics[of].of(one.runs).mean, 4),
        }
        for name, row, of in lines
        for one in releases(result, row)
    ]


def over_time(result: Result, metric: str) -> alt.LayerChart:
    """A line per method; for accuracy, also one for the first release, had it been kept.

    Points grow with the release's number of test rows: few rows say little.
    """
    rows = over_time_data(result, metric)
    names = list(dict.fromkeys(row["method"] for row in rows))
    shades = {**colours(name for name in names if name != KEPT), KEPT: GREY}
    is_date = isinstance(history_of(result).times[0], str)
    heading = result.subject.scenario.metrics[metric].heading
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.X(
            "at:T" if is_date else "at:Q",
            title="release",
            scale=alt.Scale(type="utc") if is_date else alt.Scale(zero=False),
            axis=_axis(rows, is_date=is_date),
        ),
        alt.Y(f"{metric}:Q", title=f"{heading}, %", scale=alt.Scale(zero=metric != "accuracy")),
        alt.Color(
            "method:N",
            scale=alt.Scale(domain=names, range=[shades[name] for name in names]),
            sort=names,
            legend=alt.Legend(title=None, orient="bottom", columns=1, labelLimit=0),
        ),
    )
    lines = base.mark_line().encode(
        strokeDash=alt.condition(alt.datum.method == KEPT, alt.value([4, 4]), alt.value([1, 0]))
    )
    points = base.mark_circle(opacity=1).encode(
        alt.Size("rows:Q", scale=alt.Scale(range=[0, 70], domainMin=0), legend=None),
        tooltip=["method:N", "release:N", "rows:Q", f"{metric}:Q"],
    )
    chart: alt.LayerChart = (lines + points).properties(**SIZE)
    return chart


def _axis(rows: Sequence[dict[str, Any]], *, is_date: bool) -> alt.Axis:
    """An axis with a tick at every release rather than at round dates, labels where they fit."""
    at = {row["at"]: row["release"] for row in rows}
    shape: dict[str, Any] = {}
    if is_date:
        are_days = all(len(release) == len("2024-12-31") for release in at.values())
        shape["format"] = "%Y-%m-%d" if are_days else "%Y-%m-%d %H:%M"
    return alt.Axis(values=list(at), labelOverlap="greedy", labelSeparation=8, **shape)


def _axis_value(time: Time) -> float:
    """A number as it is, a time as UTC milliseconds since 1970, the same in every time zone."""
    if not isinstance(time, str):
        return time
    return 1000 * datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp()
