"""`frontier`: the chart of each method's churn and accuracy, with intervals and the frontier."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from unchurn.report.labels import FONT, Box, place
from unchurn.study.report.axis_domains import Rows, are_worth_showing, axis_domains
from unchurn.study.report.colours import colours
from unchurn.study.results.selection import pareto

if TYPE_CHECKING:
    from unchurn.study.results.result import Result, SettingResult

# Pixels of the chart itself: beside a key, on a phone, and of a page's whole width.
WIDE, NARROW, WHOLE = (900, 420), (290, 300), (1110, 420)
MOST_NAMES = 12  # methods with names at their points: more are numbered
ONE, SEVERAL, PLAIN = "one model is served", "several models are served", "plain training"
SHAPES = {PLAIN: "diamond", ONE: "circle", SEVERAL: "square"}
GREY = "#8c8c8c"  # visible on white and on black
# Areas of markers, and what a marker gets in addition for each one that is drawn over it.
AREA, AREA_OF_PLAIN, RING = 95, 190, 180
NEAR = 4  # pixels: markers that are nearer hide each other


def frontier_data(result: Result) -> Rows:
    """One row per setting: test accuracy and the scenario's churn metric, in percent.

    Chosen settings also have {metric}_low and {metric}_high: control's value plus the interval of
    the difference. `frontier` marks chosen single models that no other beats in both.
    """
    rows: Rows = []
    for row in result.settings:
        is_chosen = result.is_chosen(row)
        values = _values(result, row.reported if is_chosen else row) if row.runs else {}
        if values and not any(map(math.isnan, values.values())):
            facts = {"method": row.setting.name, "setting": row.setting.text, "chosen": is_chosen}
            ends = _ends(result, row) if is_chosen else {}
            rows.append({**facts, "kind": _kind(row), **_percents(values), **_percents(ends)})
    single = [i for i, row in enumerate(rows) if row["chosen"] and row["kind"] != SEVERAL]
    churn = [rows[i][result.subject.scenario.churn] for i in single]
    best = {single[place] for place in pareto([rows[i]["accuracy"] for i in single], churn)}
    return [{**row, "frontier": i in best} for i, row in enumerate(rows)]


def _values(result: Result, row: SettingResult) -> dict[str, float]:
    """A setting's mean churn and accuracy on the test part."""
    scenario = result.subject.scenario
    return {
        name: scenario.metrics[name].of(row.runs["test"]).mean
        for name in (scenario.churn, "accuracy")
    }


def _ends(result: Result, row: SettingResult) -> dict[str, float]:
    """{metric}_low and {metric}_high: control's value plus the interval; empty if there is none."""
    found = result.against_control(row) or {}
    if not found or math.isnan(found[result.subject.scenario.churn].low):
        return {}
    control = _values(result, result.chosen["control"].reported)
    return {
        f"{name}_{end}": control[name] + getattr(found[name], end)
        for name in control
        for end in ("low", "high")
    }


def _kind(row: SettingResult) -> str:
    if row.setting.name == "control":
        return PLAIN
    return ONE if row.setting.n_models == 1 else SEVERAL


def _percents(values: dict[str, float]) -> dict[str, float]:
    return {name: round(100 * value, 4) for name, value in values.items()}


def frontier(result: Result, *, narrow: bool = False, whole: bool = False) -> alt.LayerChart:
    """Churn and accuracy of each method's chosen setting; best is top left.

    It opens without the much less accurate settings (`are_worth_showing`); drag it, or zoom with
    the Ctrl key, to see those. A point is shown with its name and bars, or not at all. `narrow` is
    for a phone: methods are numbered, as they are wherever names have no room. `whole` is as wide
    as a page, unless a key to the numbers stands beside it.
    """
    rows, churn = result.frontier_rows, result.subject.scenario.churn
    is_inside = f"inrange(datum.{churn}, domain('x')) && inrange(datum.accuracy, domain('y'))"
    size, domains = NARROW if narrow else WHOLE if whole else WIDE, axis_domains(rows, churn)
    shown, is_numbered = _named([r for r in rows if r["chosen"]], churn, domains, size, narrow)
    if whole and is_numbered:
        return frontier(result)
    names = {row["method"]: row["name"] for row in shown}
    tried = [{**r, "name": names[r["method"]]} for r in rows if not r["chosen"]]
    x, y = (alt.Scale(domain=domain, nice=False) for domain in domains)
    axis = alt.Axis(gridOpacity=0.5, tickCount=5 if narrow else 9)
    across = alt.X(
        f"{churn}:Q", title=f"{result.subject.scenario.churn_words}, %", scale=x, axis=axis
    )
    up = alt.Y("accuracy:Q", title="accuracy, %", scale=y, axis=axis)
    where: dict[str, Any] = {"orient": "bottom", "columns": 1} if narrow else {}
    legend = alt.Legend(
        title=None, labelLimit=0, symbolOpacity=1, symbolType="circle", symbolLimit=0, **where
    )
    colour = alt.Color(
        "name:N",
        scale=alt.Scale(domain=list(names.values()), range=list(colours(names).values())),
        sort=list(names.values()),
        legend=legend if is_numbered else None,
    )
    tooltip = ["method:N", "setting:N", f"{churn}:Q", "accuracy:Q"]
    # Control on top: all others are compared with it.
    shown.sort(key=lambda row: row["kind"] == PLAIN)
    shown = _ringed(shown, churn, domains, size)
    base = alt.Chart(alt.InlineData(values=shown)).encode(across, up, colour)
    bars = base.transform_filter(f"isValid(datum.{churn}_low)").mark_rule(
        strokeWidth=1.5, opacity=alt.ExprRef(f"{is_inside} ? 0.5 : 0"), clip=True
    )
    points = base.mark_point(
        filled=True,
        opacity=alt.ExprRef(f"{is_inside} ? 1 : 0"),
        size=alt.ExprRef("datum.area"),
        clip=True,
    ).encode(_shapes(shown, with_key=not narrow), tooltip=tooltip)
    layers = [
        *_plain_lines(shown, across, up),
        base.transform_filter("datum.frontier")
        .mark_line(interpolate="step-after", strokeWidth=3, opacity=0.5, clip=True)
        .encode(color=alt.value(GREY)),
        bars.encode(alt.X(f"{churn}_low:Q"), x2=f"{churn}_high:Q"),
        bars.encode(alt.Y("accuracy_low:Q"), y2="accuracy_high:Q"),
        points.add_params(alt.selection_interval(bind="scales", zoom="wheel![event.ctrlKey]")),
        *_labels(shown, across, up, is_inside),
    ]
    if tried:
        faint = alt.Chart(alt.InlineData(values=tried)).mark_circle(
            size=30, opacity=alt.ExprRef(f"{is_inside} ? 0.35 : 0"), clip=True
        )
        layers.insert(0, faint.encode(across, up, colour, tooltip=tooltip))
    return alt.LayerChart(layer=layers, width=size[0], height=size[1])


def caption(result: Result) -> str:
    """How to read the chart."""
    rows = result.frontier_rows
    chosen = [row for row in rows if row["chosen"]]
    others = [row for row in chosen if row["kind"] != PLAIN]
    told = [row for row in others if "accuracy_low" in row]
    n_steps = sum(bool(row.get("frontier")) for row in rows)
    frontier = "; the grey steps are the frontier of single models" if n_steps > 1 else ""
    says = [f"Best is top left{frontier}."]
    if told:
        says.append(
            "Bars: 95 % intervals of the difference from plain training, runs paired; where one "
            "meets a dashed line, the difference may be chance."
        )
    if len(told) > 1:
        says.append(
            f"With {len(told)} methods, one may clear the line by chance alone: the advice allows "
            "for that."
        )
    if told and len(told) < len(others):
        says.append("Without a bar: the test data chose among several settings.")
    if len(rows) > len(chosen):
        says.append("Faint: the other settings that were tried.")
    if outside := _outside(rows, result.subject.scenario.churn):
        says.append(f"Not in the picture, as much less accurate: {outside} (drag the chart).")
    return " ".join(says)


def _outside(rows: Rows, churn: str) -> str:
    """The settings out of view when the chart opens: methods by name, other settings counted."""
    shown = are_worth_showing(rows, churn)
    gone = [row for row, is_shown in zip(rows, shown, strict=True) if not is_shown]
    said = [row["method"] for row in gone if row["chosen"]]
    if others := len(gone) - len(said):
        said.append(f"{others} of the faint settings")
    return ", ".join(said)


def _shapes(shown: Rows, *, with_key: bool) -> alt.Shape:
    """A shape for each kind of model; with a legend if there is more than one."""
    there = [kind for kind in SHAPES if any(row["kind"] == kind for row in shown)]
    key = alt.Legend(title=None, orient="top", labelLimit=0, symbolFillColor=GREY, symbolOpacity=1)
    return alt.Shape(
        "kind:N",
        scale=alt.Scale(domain=there, range=[SHAPES[kind] for kind in there]),
        legend=key if with_key and len(there) > 1 else None,
    )


def _plain_lines(shown: Rows, across: alt.X, up: alt.Y) -> list[alt.Chart]:
    """Dashed lines through plain training: if a bar meets one, the difference may be chance."""
    control = [row for row in shown if row["kind"] == PLAIN]
    lines = alt.Chart(alt.InlineData(values=control)).mark_rule(
        strokeDash=[4, 4], color=GREY, clip=True
    )
    return [lines.encode(across), lines.encode(up)] if control else []


def _labels(shown: Rows, across: alt.X, up: alt.Y, is_inside: str) -> list[alt.Chart]:
    """Names beside their points, which move with the chart; a halo separates them from lines."""
    look: dict[str, Any] = {way: alt.ExprRef(f"datum.{way}") for way in ("dx", "dy", "align")}
    weight = alt.ExprRef(f"datum.kind === '{PLAIN}' ? 'bold' : 'normal'")
    look |= {"baseline": "middle", "fontSize": FONT, "fontWeight": weight, "clip": True}
    texts = alt.Chart(alt.InlineData(values=shown)).encode(across, up, alt.Text("label:N"))
    faint, full = (alt.ExprRef(f"{is_inside} ? {opacity} : 0") for opacity in (0.85, 1))
    halo = texts.mark_text(stroke="white", strokeWidth=4, opacity=faint, aria=False, **look)
    return [halo, texts.mark_text(opacity=full, **look)]


def _named(
    rows: Rows, churn: str, domains: tuple[list[float], list[float]], size: tuple[int, int],
    is_numbered: bool,
) -> tuple[Rows, bool]:  # fmt: skip
    """The rows with labels that do not overlap, and whether the labels are numbers."""
    names = [f"{r['method']} ({PLAIN})" if r["kind"] == PLAIN else r["method"] for r in rows]
    numbers = [str(i + 1) for i in range(len(rows))]
    points = [_pixels(row[churn], row["accuracy"], domains, size) for row in rows]
    lines = [line for row in rows for line in _lines(row, churn, domains, size)]
    is_numbered = is_numbered or len(rows) > MOST_NAMES
    placed = place(points, numbers if is_numbered else names, size, lines)
    if not is_numbered and not placed.is_clear:
        is_numbered, placed = True, place(points, numbers, size, lines)
    found = []
    for row, name, number, (x, y), box in zip(
        rows, names, numbers, points, placed.boxes, strict=True
    ):
        near, align = box.nearest(x)
        found.append(
            {
                **row,
                "name": f"{number} {name}" if is_numbered else row["method"],
                "label": number if is_numbered else name,
                "dx": round(near - x, 1),
                "dy": round((box.top + box.bottom) / 2 - y, 1),
                "align": align,
            }
        )
    return found, is_numbered


def _ringed(
    shown: Rows, churn: str, domains: tuple[list[float], list[float]], size: tuple[int, int]
) -> Rows:
    """The rows in drawing order, with markers large enough to be seen below later ones."""
    points = [_pixels(row[churn], row["accuracy"], domains, size) for row in shown]
    found = []
    for i, (row, (x, y)) in enumerate(zip(shown, points, strict=True)):
        above = sum(max(abs(x - a), abs(y - b)) < NEAR for a, b in points[i + 1 :])
        area = AREA_OF_PLAIN if row["kind"] == PLAIN else AREA
        found.append({**row, "area": area + RING * above})
    return found


def _lines(
    row: dict[str, Any], churn: str, domains: tuple[list[float], list[float]], size: tuple[int, int]
) -> list[Box]:
    """Boxes of a point's bars; for plain training, of the lines through it."""
    if row["kind"] == PLAIN:
        x, y = _pixels(row[churn], row["accuracy"], domains, size)
        return [Box(0, y - 1, size[0], y + 1), Box(x - 1, 0, x + 1, size[1])]
    if f"{churn}_low" not in row:
        return []
    left, top = _pixels(row[f"{churn}_low"], row["accuracy_high"], domains, size)
    right, bottom = _pixels(row[f"{churn}_high"], row["accuracy_low"], domains, size)
    x, y = _pixels(row[churn], row["accuracy"], domains, size)
    return [Box(left, y - 1, right, y + 1), Box(x - 1, top, x + 1, bottom)]


def _pixels(
    churn: float, accuracy: float, domains: tuple[list[float], list[float]], size: tuple[int, int]
) -> tuple[float, float]:
    """A point's position in pixels, from the left and the top of the chart."""
    (left, right), (low, high) = domains
    return (churn - left) / (right - left) * size[0], (high - accuracy) / (high - low) * size[1]
