"""Charts of a comparison's page, as wide as it allows; charts without data are left out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from unchurn.comparison.report.chart_parts import (
    BELOW,
    BESIDE,
    COLOURS,
    LABELS,
    MARKED,
    PLAIN,
    TICKS,
    Drawn,
    as_percent,
    shown_names,
)
from unchurn.comparison.report.directions_chart import directions
from unchurn.comparison.report.tables import shown_estimates

if TYPE_CHECKING:
    from unchurn.comparison.result import Comparison
    from unchurn.metrics.intervals import Interval

N_SLICES = 20  # shown: those that differ most
WIDE: dict[str, Any] = {"width": "container"}  # charts fit a phone, and half a screen


def charts(comparison: Comparison) -> list[dict[str, Any]]:
    """Every chart with its title and a line on how to read it."""
    found = [
        _measures(comparison),
        _noise_floor(comparison),
        directions(comparison),
        *_thresholds(comparison),
        _slices(comparison),
    ]
    return [
        {"title": title, "caption": caption, "spec": chart.properties(**WIDE).to_dict()}
        for title, caption, chart in (one for one in found if one is not None)
    ]


def _measures(comparison: Comparison) -> Drawn | None:
    """Churn and its parts; None for churn alone, which is in the first sentence already."""
    names = {"churn": "churn", "bad_flips": "bad flips", "good_flips": "good flips",
             "wrong_to_wrong": "wrong → wrong"}  # fmt: skip
    found = shown_estimates(comparison)
    rows = [
        {"name": shown, **_percents(found[name])}
        for name, shown in names.items()
        if name in found and not math.isnan(found[name].value)
    ]
    if len(rows) < 2:
        return None
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    chart = _with_intervals(
        rows, "of the examples, %", alt.Color("name:N", scale=scale, legend=None)
    )
    caption = "With 95 % intervals. Bad: right → wrong; good: wrong → right."
    if comparison.n_labelled < comparison.n and comparison.labels_cover == "all":
        caption += " Churn is of all examples, the others are of those with a label."
    return "What flipped", caption, chart


def _slices(comparison: Comparison) -> Drawn | None:
    """Each slice's churn, with a line for the churn of all examples."""
    shown = comparison.slices[:N_SLICES]
    if not shown:
        return None
    whole = [f"{one.column}={one.value}" for one in shown]
    rows = [
        {
            "name": name,
            "slice": slice_,
            "differs": "differs" if one.is_notable else "like the rest",
            "n": one.n,
        }
        | _percents(one.churn)
        for name, slice_, one in zip(
            shown_names(whole, BESIDE), shown_names(whole), shown, strict=True
        )
    ]
    scale = alt.Scale(domain=["differs", "like the rest"], range=[MARKED, PLAIN])
    some = any(one.is_notable for one in shown)
    colour = alt.Color("differs:N", scale=scale, legend=BELOW if some else None)
    shapes = alt.Scale(domain=["differs", "like the rest"], range=["diamond", "circle"])
    shape = alt.Shape("differs:N", scale=shapes, legend=BELOW if some else None)
    chart = _with_intervals(rows, "churn, %", colour, shape)
    overall = [{"overall": as_percent(comparison.estimates["churn"].value)}]
    line = alt.Chart(alt.InlineData(values=overall)).mark_rule(
        strokeDash=[4, 3], color=COLOURS["churn"], strokeWidth=2
    )
    caption = "With 95 % intervals; the dashed line is the churn of all examples."
    if not some:
        caption += " No slice differs from the rest beyond chance."
    if len(comparison.slices) > N_SLICES:
        caption += f" The {N_SLICES} of {len(comparison.slices):,} that differ most."
    return "Churn of slices", caption, line.encode(x="overall:Q") + chart


def _noise_floor(comparison: Comparison) -> Drawn | None:
    """Churn of the retrainings and the candidate, and the interval expected of one more."""
    floor = comparison.floor
    if floor is None:
        return None
    rows: list[dict[str, Any]] = [
        {"name": "retrainings", "value": as_percent(churn)} for churn in floor.each
    ]
    rows.append({"name": "candidate", "value": as_percent(floor.candidate)})
    low, high = floor.expected
    x = _around([row["value"] for row in rows], as_percent(low), as_percent(high))
    scale = alt.Scale(domain=x, nice=False, zero=False)
    points = (
        alt.Chart(alt.InlineData(values=rows), height=68)
        .mark_point(filled=True, opacity=0.85, size=140)
        .encode(
            alt.X(
                "value:Q", title="predictions that differ from base's, %", axis=TICKS, scale=scale
            ),
            alt.Y("name:N", title=None, sort=["retrainings", "candidate"]),
            alt.Color("name:N", legend=None).scale(
                domain=["retrainings", "candidate"], range=[PLAIN, MARKED]
            ),
            alt.Shape("name:N", legend=None).scale(
                domain=["retrainings", "candidate"], range=["circle", "diamond"]
            ),
            [alt.Tooltip("name:N", title=" "), alt.Tooltip("value:Q", title="churn, %")],
        )
    )
    if math.isnan(low):
        what = "Copies give" if floor.copies else "One retraining gives"
        return "Against retraining alone", f"{what} no range.", alt.layer(points)
    data = alt.InlineData(values=[{"low": as_percent(low), "high": as_percent(high)}])
    band = alt.Chart(data).mark_rect(opacity=0.25, color=COLOURS["churn"], clip=True)
    caption = "The band is where one more retraining would lie, with 95 % confidence."
    if as_percent(high) > x[1]:
        caption += f" It reaches to {100 * high:.0f} %: so few retrainings tell little."
    return (
        "Against retraining alone",
        caption,
        band.encode(alt.X("low:Q", scale=scale), x2="high:Q") + points,
    )


def _around(values: list[float], low: float, high: float) -> list[float]:
    """Domain of the axis: all points, and the band up to twice the largest of them."""
    widest = 2 * max(values)
    ends = [*values, *(min(end, widest) for end in (low, high) if not math.isnan(end))]
    margin = 0.08 * (max(ends) - min(ends)) or 0.1
    return [round(max(min(ends) - margin, 0.0), 4), round(max(ends) + margin, 4)]


def _thresholds(comparison: Comparison) -> list[Drawn]:
    """Churn, and both accuracies if known, along the threshold between two classes."""
    if not comparison.thresholds:
        return []
    positive = shown_names(comparison.paired.scored_classes)[1]
    caption = f"If “{positive}” were predicted from another probability on."
    given = [{"threshold": one} for one in comparison.thresholds_given if one is not None]
    if given:
        caption += " Dashed: the thresholds that were given."
    names = {"churn": "churn", "accuracy_base": "base", "accuracy_candidate": "candidate"}
    rows = [
        {"threshold": row["threshold"], "name": shown, "value": as_percent(row[name])}
        for row in comparison.thresholds
        for name, shown in names.items()
        if name in row and not math.isnan(row[name])
    ]
    scale = alt.Scale(
        domain=list(names.values()), range=[COLOURS["churn"], PLAIN, COLOURS["bad flips"]]
    )

    def lines(rows: list[dict[str, Any]], title: str, legend: alt.Legend | None) -> Any:
        x = alt.X("threshold:Q", title="threshold").scale(domain=[0, 1])
        drawn = (
            alt.Chart(alt.InlineData(values=rows), height=200)
            .mark_line(point=True)
            .encode(
                x,
                alt.Y("value:Q", title=title).scale(zero=title == "churn, %"),
                alt.Color("name:N", scale=scale, legend=legend),
                tooltip=["name:N", "threshold:Q", "value:Q"],
            )
        )
        if not given:
            return drawn
        return drawn + alt.Chart(alt.InlineData(values=given)).mark_rule(strokeDash=[4, 4]).encode(
            x
        )

    churn = [row for row in rows if row["name"] == "churn"]
    accuracy = [row for row in rows if row["name"] != "churn"]
    found = [("Churn along the threshold", caption, lines(churn, "churn, %", None))]
    if accuracy:
        legend = alt.Legend(orient="bottom", title=None, values=["base", "candidate"])
        found.append(
            ("Accuracy along the threshold", caption, lines(accuracy, "accuracy, %", legend))
        )
    return found


def _with_intervals(
    rows: list[dict[str, Any]], title: str, colour: alt.Color, *more: Any
) -> alt.LayerChart:
    """A point with its interval for each row, in the order given."""
    names = [row["name"] for row in rows]
    name = "slice:N" if "slice" in rows[0] else "name:N"
    shown = {name: " ", "value:Q": title, "low:Q": "from", "high:Q": "to"}
    if "n" in rows[0]:
        shown["n:Q"] = "examples"
    base = alt.Chart(alt.InlineData(values=rows), height=26 * len(rows)).encode(
        alt.Y("name:N", title=None, sort=names, axis=LABELS),
        colour,
        tooltip=[alt.Tooltip(field, title=heading) for field, heading in shown.items()],
    )
    lines = base.mark_rule(strokeWidth=3, opacity=0.5).encode(
        alt.X("low:Q", title=title, axis=TICKS), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        alt.X("value:Q", title=title, axis=TICKS), *more
    )
    chart: alt.LayerChart = lines + points
    return chart


def _percents(interval: Interval) -> dict[str, float | None]:
    """Value and ends of an interval in percent; unknown ends are the value itself."""
    ends = {"low": interval.low, "high": interval.high}
    known = {name: interval.value if math.isnan(end) else end for name, end in ends.items()}
    return {"value": as_percent(interval.value), **{k: as_percent(v) for k, v in known.items()}}
