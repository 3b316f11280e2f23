"""Charts of a comparison, as wide as the page allows; those whose data are there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

if TYPE_CHECKING:
    from unchurn.comparison.result import Comparison
    from unchurn.metrics.intervals import Interval

# Of charts.py's colours, those that are told apart on white and on black.
COLOURS = {
    "churn": "#4e79a7", "bad flips": "#e15759", "good flips": "#59a14f",
    "wrong → wrong": "#f28e2b", "unlabelled": "#8c8c8c",
}  # fmt: skip
PLAIN, MARKED = "#8c8c8c", "#e15759"
N_CLASSES = 20  # with the most flips: more are not legible
N_SLICES = 20  # that differ most
N_NUMBERS = 10  # classes up to which every cell of the heat map has its number
LONGEST = 60  # letters of a name
BELOW = alt.Legend(orient="bottom", title=None, symbolOpacity=1)
Drawn = tuple[str, str, Any]  # title, how to read it, chart
WIDE: dict[str, Any] = {"width": "container"}  # charts fit a phone, and half a screen


def charts(comparison: Comparison) -> list[dict[str, Any]]:
    """Every chart with its title and a line on how to read it."""
    found = [
        _measures(comparison),
        _noise_floor(comparison),
        _directions(comparison),
        *_thresholds(comparison),
        _slices(comparison),
    ]
    return [
        {"title": title, "caption": caption, "spec": chart.properties(**WIDE).to_dict()}
        for title, caption, chart in (one for one in found if one is not None)
    ]


def _measures(comparison: Comparison) -> Drawn | None:
    """Churn and its parts; churn alone stands in the first sentence."""
    names = {"churn": "churn", "bad_flips": "bad flips", "good_flips": "good flips",
             "wrong_to_wrong": "wrong → wrong"}  # fmt: skip
    rows = [
        {"name": shown, **_percents(comparison.estimates[name])}
        for name, shown in names.items()
        if name in comparison.estimates and not math.isnan(comparison.estimates[name].value)
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
    """Each slice's churn beside that of all examples."""
    shown = comparison.slices[:N_SLICES]
    if not shown:
        return None
    names = _names(f"{one.column}={one.value}" for one in shown)
    rows = [
        {"name": name, "differs": "differs" if one.is_notable else "like the rest", "n": one.n}
        | _percents(one.churn)
        for name, one in zip(names, shown, strict=True)
    ]
    scale = alt.Scale(domain=["differs", "like the rest"], range=[MARKED, PLAIN])
    some = any(one.is_notable for one in shown)
    colour = alt.Color("differs:N", scale=scale, legend=BELOW if some else None)
    chart = _with_intervals(rows, "churn, %", colour)
    overall = [{"overall": _percent(comparison.estimates["churn"].value)}]
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
    """The retrainings' churn, where one more would lie, and the candidate."""
    floor = comparison.floor
    if floor is None:
        return None
    rows = [{"name": "retrainings", "value": _percent(churn)} for churn in floor.each]
    rows.append({"name": "candidate", "value": _percent(floor.candidate)})
    points = (
        alt.Chart(alt.InlineData(values=rows), height=68)
        .mark_point(filled=True, opacity=0.85, size=140)
        .encode(
            alt.X("value:Q", title="predictions that differ from base's, %").scale(zero=False),
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
    low, high = floor.expected
    if math.isnan(low):
        return "Against retraining alone", "One retraining gives no range.", alt.layer(points)
    data = alt.InlineData(values=[{"low": _percent(low), "high": _percent(high)}])
    band = alt.Chart(data).mark_rect(opacity=0.25, color=COLOURS["churn"]).encode(x="low:Q")
    caption = "The band is where one more retraining would lie, with 95 % confidence."
    return "Against retraining alone", caption, band.encode(x2="high:Q") + points


def _directions(comparison: Comparison) -> Drawn | None:
    """From which class to which: bars for two classes, a heat map for more."""
    if not comparison.outcomes.flipped.any():
        return None
    title = "From which class to which"
    if len(comparison.paired.classes) == 2:
        return title, "How many predictions flipped each way.", _two_ways(comparison)
    ranked = sorted(
        range(len(comparison.classes)),
        key=lambda i: -comparison.classes[i]["flips_from"] - comparison.classes[i]["flips_to"],
    )
    chosen = sorted(
        i
        for i in ranked[:N_CLASSES]
        if comparison.classes[i]["flips_from"] + comparison.classes[i]["flips_to"]
    )
    caption = "How many predictions flipped from base's class to the candidate's."
    if len(ranked) > N_CLASSES:
        caption += f" The {N_CLASSES} of {len(ranked):,} classes with the most flips."
    return title, caption, _heat_map(comparison, chosen)


def _two_ways(comparison: Comparison) -> Any:
    """A bar for each way, bad and good flips in it."""
    outcomes, names = comparison.outcomes, _names(comparison.paired.classes)
    ways = [f"{names[0]} → {names[1]}", f"{names[1]} → {names[0]}"]
    kinds = {"bad flips": outcomes.bad, "good flips": outcomes.good}
    kinds["unlabelled"] = outcomes.flipped & ~outcomes.labelled
    rows: list[dict[str, Any]] = [
        {"way": ways[one], "kind": kind, "flips": int(count)}
        for one in (0, 1)
        for kind, mask in kinds.items()
        if (count := np.count_nonzero(mask & (comparison.paired.base == one)))
    ]
    there = [kind for kind in kinds if any(row["kind"] == kind for row in rows)]
    scale = alt.Scale(domain=there, range=[COLOURS[kind] for kind in there])
    legend = None if there == ["unlabelled"] else BELOW
    ticks = min(6, max(row["flips"] for row in rows))  # no half flips
    return (
        alt.Chart(alt.InlineData(values=rows), height=80)
        .mark_bar()
        .encode(
            alt.X("flips:Q", title="flips", axis=alt.Axis(tickCount=ticks, format=",d")),
            alt.Y("way:N", title=None, axis=alt.Axis(labelLimit=150)).scale(domain=ways),
            alt.Color("kind:N", scale=scale, legend=legend),
            tooltip=["way:N", "kind:N", "flips:Q"],
        )
    )


def _heat_map(comparison: Comparison, chosen: list[int]) -> Any:
    """Flips from (rows) and to (columns) the chosen classes."""
    paired, size = comparison.paired, len(chosen)
    place = np.full(len(paired.classes), -1)
    place[chosen] = np.arange(size)
    flipped = comparison.outcomes.flipped
    before, after = place[paired.base[flipped]], place[paired.candidate[flipped]]
    both = (before >= 0) & (after >= 0)
    counts = np.bincount(size * before[both] + after[both], minlength=size * size)
    names = _names(paired.classes[i] for i in chosen)
    rows = [
        {"from": names[cell // size], "to": names[cell % size], "flips": int(counts[cell])}
        for cell in np.flatnonzero(counts)
    ]
    axis: dict[str, Any] = {"labelLimit": 100, "domain": False, "ticks": False}
    angle = 0 if sum(map(len, names)) < 30 else -45  # short names stand upright even on a phone
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.X("to:N", title="candidate", axis=alt.Axis(labelAngle=angle, **axis)).scale(
            domain=names
        ),
        alt.Y("from:N", title="base", axis=alt.Axis(**axis)).scale(domain=names),
        tooltip=["from:N", "to:N", "flips:Q"],
    )
    # Strength as opacity: it reads alike on white and on black.
    scale = alt.Scale(range=["rgba(78, 121, 167, 0.08)", "rgba(78, 121, 167, 0.8)"], domainMin=0)
    legend = None if size <= N_NUMBERS else alt.Legend(orient="bottom", tickMinStep=1)
    cells = base.mark_rect().encode(alt.Color("flips:Q", scale=scale, legend=legend))
    layers = [cells, base.mark_text().encode(text="flips:Q")] if size <= N_NUMBERS else [cells]
    return alt.layer(*layers, height=size * (36 if legend is None else 20))


def _thresholds(comparison: Comparison) -> list[Drawn]:
    """Churn, and both accuracies, for two classes if one were predicted from another threshold."""
    if not comparison.thresholds:
        return []
    positive = _names(comparison.paired.scored_classes)[1]
    caption = f"If “{positive}” were predicted from another probability on."
    names = {"churn": "churn", "accuracy_base": "base", "accuracy_candidate": "candidate"}
    rows = [
        {"threshold": row["threshold"], "name": shown, "value": _percent(row[name])}
        for row in comparison.thresholds
        for name, shown in names.items()
        if name in row and not math.isnan(row[name])
    ]
    scale = alt.Scale(
        domain=list(names.values()), range=[COLOURS["churn"], PLAIN, COLOURS["bad flips"]]
    )

    def lines(rows: list[dict[str, Any]], title: str, legend: alt.Legend | None) -> Any:
        return (
            alt.Chart(alt.InlineData(values=rows), height=200)
            .mark_line(point=True)
            .encode(
                alt.X("threshold:Q", title="threshold").scale(domain=[0, 1]),
                alt.Y("value:Q", title=title).scale(zero=title == "churn, %"),
                alt.Color("name:N", scale=scale, legend=legend),
                tooltip=["name:N", "threshold:Q", "value:Q"],
            )
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


def _with_intervals(rows: list[dict[str, Any]], title: str, colour: alt.Color) -> alt.LayerChart:
    """A point and its interval for each name, in the order given."""
    names = [row["name"] for row in rows]
    shown = {"name:N": " ", "value:Q": title, "low:Q": "from", "high:Q": "to"}
    if "n" in rows[0]:
        shown["n:Q"] = "examples"
    base = alt.Chart(alt.InlineData(values=rows), height=26 * len(rows)).encode(
        alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=150)),
        colour,
        tooltip=[alt.Tooltip(field, title=heading) for field, heading in shown.items()],
    )
    lines = base.mark_rule(strokeWidth=3, opacity=0.5).encode(
        alt.X("low:Q", title=title), x2="high:Q"
    )
    points = base.mark_circle(size=90, opacity=1).encode(alt.X("value:Q", title=title))
    chart: alt.LayerChart = lines + points
    return chart


def _percents(interval: Interval) -> dict[str, float | None]:
    """Value and ends; no interval has no length."""
    ends = {"low": interval.low, "high": interval.high}
    known = {name: interval.value if math.isnan(end) else end for name, end in ends.items()}
    return {"value": _percent(interval.value), **{k: _percent(v) for k, v in known.items()}}


def _percent(value: float) -> float:
    return round(100 * value, 4)


def _names(texts: Iterable[str]) -> list[str]:
    """Names cut to a length that can be shown, and still told apart."""
    seen: Counter[str] = Counter()
    names = []
    for text in texts:
        name = text if len(text) <= LONGEST else text[:LONGEST] + "…"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names
