"""A chart of what recipes for upgrades break and gain, relative to plain retraining."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar

import altair as alt

from unchurn.methods.registry import FROM_WEIGHTS
from unchurn.paper.upgrade.rows import Over, Row
from unchurn.study.design.settings import make_setting
from unchurn.study.results.result import CONTROL

Measured = TypeVar("Measured", Over, Row)
KINDS = ["one model is served", "the base answers, too"]
OTHERS = "another is better in both"  # of its kind
PLAIN = "plain retraining"
DEFAULT = make_setting(FROM_WEIGHTS).facts().written
IS_DEFAULT = "the default"
COLOURS = {PLAIN: "#000000", KINDS[0]: "#4c78a8", KINDS[1]: "#f58518", OTHERS: "#c8c8c8"}
SHAPES = ["diamond", "circle", "square", "circle"]
AVERAGED = "+safe_ema"  # almost all have it, so names leave it out
WIDTH, HEIGHT = 640, 400
MOST = 125  # percent of plain retraining's bad flips, where the axis ends
LETTER, LINE, DOT = 5.7, 13, 5  # about as large as they are drawn, in pixels
# Where a name may stand beside its dot: its alignment, and by how much it is moved.
PLACES: tuple[tuple[Literal["left", "right"], int, int], ...] = (
    ("left", 8, -9),
    ("left", 8, 11),
    ("right", -8, -9),
    ("right", -8, 11),
)


def frontier(recipes: Sequence[Over], title: str) -> alt.LayerChart:
    """Accuracy minus plain retraining's against bad flips, in percent of its; best is top left.

    Recipes that no other of their kind beats in both are coloured. Of these, the default and plain
    retraining are named, and as many others as there is room for.
    """
    ahead = {one.recipe for kind in (1, 2) for one in best(o for o in recipes if o.served == kind)}
    rows: list[dict[str, Any]] = [
        {
            "recipe": one.recipe,
            "flips": round(100 * one.ratio, 2),
            "gain": round(100 * one.gain, 3),
            "kind": kind_of(one, ahead),
        }
        for one in recipes
    ]
    gains = [row["gain"] for row in rows]
    ends = (min(gains) - 0.15, max(gains) + 0.25)
    _name(rows, ends)
    base = alt.Chart(alt.InlineData(values=rows), title=title).encode(
        alt.X("flips:Q", title="bad flips, % of plain retraining's",
              scale=alt.Scale(domain=[0, MOST], clamp=True, nice=False)),
        alt.Y("gain:Q", title="accuracy − plain retraining's, points",
              scale=alt.Scale(domain=ends, nice=False)),
    )  # fmt: skip
    kinds, legend = list(COLOURS), alt.Legend(orient="top", labelLimit=0, symbolOpacity=1)
    dots = base.encode(
        alt.Color("kind:N", title=None, legend=legend,
                  scale=alt.Scale(domain=kinds, range=list(COLOURS.values()))),
        alt.Shape("kind:N", title=None, legend=legend,
                  scale=alt.Scale(domain=kinds, range=SHAPES)),
        tooltip=["recipe:N", "flips:Q", "gain:Q"],
    ).mark_point(filled=True, size=70, opacity=1)  # fmt: skip
    others = dots.transform_filter(alt.datum.kind == OTHERS)
    shown = dots.transform_filter(alt.datum.kind != OTHERS)  # above the others
    names = [
        base.transform_filter(alt.datum.place == place)
        .mark_text(align=align, dx=dx, dy=dy, fontSize=11)
        .encode(alt.Text("name:N"))
        for place, (align, dx, dy) in enumerate(PLACES)
    ]
    plain = alt.Chart(alt.InlineData(values=[{"flips": 100, "gain": 0}]))
    across = plain.mark_rule(color="#dddddd").encode(alt.Y("gain:Q"))
    down = plain.mark_rule(color="#dddddd").encode(alt.X("flips:Q"))
    layers = (across, down, others, shown, *names)
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(width=WIDTH, height=HEIGHT)
    return chart


def best(recipes: Iterable[Measured]) -> list[Measured]:
    """The recipes that no other beats in both: fewer bad flips and more accuracy."""
    kept: list[Measured] = []
    for one in sorted(recipes, key=lambda one: (one.ratio, -one.gain)):
        if not kept or one.gain > kept[-1].gain:
            kept.append(one)
    return kept


def kind_of(one: Over | Row, ahead: set[str]) -> str:
    """What a dot is: plain retraining, of those ahead of their kind, or behind one of these."""
    if one.recipe == CONTROL:
        return PLAIN
    return KINDS[one.served > 1] if one.recipe in ahead else OTHERS


def _name(rows: list[dict[str, Any]], ends: tuple[float, float]) -> None:
    """Name coloured dots where a name covers neither another name nor a dot."""
    coloured = [row for row in rows if row["kind"] != OTHERS]
    taken = [_box(*_at(row, ends), DOT, DOT) for row in rows]
    first = {CONTROL: PLAIN, DEFAULT: IS_DEFAULT}
    for row in sorted(coloured, key=lambda row: (row["recipe"] not in first, row["flips"])):
        name = first.get(row["recipe"], row["recipe"].removesuffix(AVERAGED))
        x, y = _at(row, ends)
        for place, (align, dx, dy) in enumerate(PLACES):
            half = LETTER * len(name) / 2
            box = _box(x + dx + (half if align == "left" else -half), y + dy, half, LINE / 2)
            inside = box[0] >= 0 and box[2] <= WIDTH and box[1] >= 0 and box[3] <= HEIGHT
            if inside and not any(_overlap(box, other) for other in taken):
                row |= {"name": name, "place": place}
                taken.append(box)
                break


Box = tuple[float, float, float, float]


def _at(row: dict[str, Any], ends: tuple[float, float]) -> tuple[float, float]:
    """Where a dot is drawn, in pixels from the top left."""
    low, high = ends
    return min(row["flips"], MOST) / MOST * WIDTH, (high - row["gain"]) / (high - low) * HEIGHT


def _box(x: float, y: float, half_width: float, half_height: float) -> Box:
    return x - half_width, y - half_height, x + half_width, y + half_height


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
