"""Charts of what goes beyond the paper: what a recipe costs and buys, and the six tasks at once."""

from __future__ import annotations

from typing import Any

import altair as alt

from unchurn.methods.registry import DEFAULT, PLUS
from unchurn.paper.beyond.rows import Over
from unchurn.study.results.result import CONTROL

COLOURS = ["#4c78a8", "#f58518"]
KINDS = ["one model is served", "several are served"]
# The paper's tasks as people write them.
TASKS = {
    "svhn": "SVHN",
    "mnist": "MNIST",
    "fashion_mnist": "Fashion-MNIST",
    "celeba_smiling": "CelebA, smiling",
    "celeba_high_cheekbones": "CelebA, high cheekbones",
    "phishing": "Phishing",
}
SHAPES = ["circle", "square", "cross", "diamond", "triangle-up"]
MOST_CHURN = 1.3  # times plain training's: anything worse would squeeze all else together
# What the chart of costs names whatever else it does, as people know it.
NAMES = {
    CONTROL: "plain training",
    DEFAULT: f"default: {DEFAULT}",
    "ensemble": "ensemble of five",
}
WIDTH_OF_COST = 200  # pixels, room for a name of MOST_LETTERS
MOST_LETTERS = 30
HEIGHT, LINE = 320, 13  # pixels, of the chart and of a line of text


def costs(recipes: list[Over], title: str) -> alt.LayerChart:
    """Churn, in percent of plain training's, against what a recipe trains.

    Of those that do no harm on any dataset, the best of each cost are named; the others are pale.
    Of those above MOST_CHURN, their number and the highest churn stand at the edge.
    """
    trained = sorted({one.rows[0].trained for one in recipes})
    rows: list[dict[str, Any]] = [
        {
            "recipe": one.recipe,
            "place": trained.index(one.rows[0].trained),
            "churn": round(100 * one.ratio, 2),
            "served": KINDS[not one.rows[0].is_single],
            "harmless": one.is_harmless,
        }
        for one in recipes
        if one.ratio < MOST_CHURN  # not where plain training has no churn, either
    ]
    best = [min(own, key=lambda row: row["churn"]) for own in _groups(rows)]
    named = {row["recipe"] for row in best} | set(NAMES)
    heading = alt.Title(title, subtitle="lower is steadier; pale: does harm beyond chance on some")
    base = alt.Chart(alt.InlineData(values=rows), title=heading).encode(
        alt.X(
            "place:Q",
            title="networks trained (plain training: 1)",
            scale=alt.Scale(domain=[-0.1, len(trained)], nice=False),
            axis=alt.Axis(
                values=list(range(len(trained))), grid=False, labelExpr=f"{trained}[datum.value]"
            ),
        ),
        alt.Y("churn:Q", title="churn, % of plain training's", scale=alt.Scale(zero=True)),
        alt.Color("served:N", scale=alt.Scale(domain=KINDS, range=COLOURS), title=None,
                  legend=alt.Legend(orient="top")),
    )  # fmt: skip
    points = base.mark_circle(size=70).encode(
        alt.Opacity(
            "harmless:N", scale=alt.Scale(domain=[False, True], range=[0.2, 0.9]), legend=None
        ),
        tooltip=["recipe:N", "churn:Q"],
    )
    beyond = _beyond(base, [one for one in recipes if is_above(one)], trained)
    top = 100 * MOST_CHURN if beyond else max((row["churn"] for row in rows), default=100)
    names = _names(base, [row for row in rows if row["recipe"] in named], top * LINE / HEIGHT)
    width = WIDTH_OF_COST * len(trained)
    layers = [points, *names, *beyond]
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(width=width, height=HEIGHT)
    return chart


def is_above(one: Over) -> bool:
    """Whether a recipe has more churn than the chart of costs has room for."""
    return one.ratio >= MOST_CHURN


def _groups(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Group rows of equal cost that do no harm."""
    groups: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in rows:
        if row["harmless"]:
            groups.setdefault((row["place"], row["served"]), []).append(row)
    return list(groups.values())


def _names(base: alt.Chart, rows: list[dict[str, Any]], line: float) -> list[alt.Chart]:
    """The names of points, to their right, with lines so high; the default's is bold."""
    for place in {row["place"] for row in rows}:
        own = sorted((r for r in rows if r["place"] == place), key=lambda r: -r["churn"])
        texts = [broken(NAMES.get(row["recipe"], row["recipe"])) for row in own]
        lines = [text.count("\n") + 1 for text in texts]
        starts = apart([row["churn"] for row in own], lines, line)
        for row, text, at in zip(own, texts, starts, strict=True):
            row |= {"name": text, "at": at}
    named = base.encode(alt.Y("at:Q"), alt.Text("name:N"))
    style: dict[str, Any] = {"align": "left", "dx": 9, "fontSize": 11, "lineBreak": "\n"}
    others = [row for row in rows if row["recipe"] != DEFAULT]
    default = [row for row in rows if row["recipe"] == DEFAULT]
    return [
        named.mark_text(**style).properties(data=alt.InlineData(values=others)),
        named.mark_text(**style, fontWeight="bold").properties(data=alt.InlineData(values=default)),
    ]


def broken(name: str) -> str:
    """A recipe on two lines if it is too long for one.

    >>> broken("weight_decay+label_smoothing+codistill_symmetric+ema")
    'weight_decay+label_smoothing\\n+codistill_symmetric+ema'
    """
    if len(name) <= MOST_LETTERS or PLUS not in name[:MOST_LETTERS]:
        return name
    end = name.rindex(PLUS, 0, MOST_LETTERS)
    return f"{name[:end]}\n{name[end:]}"


def apart(heights: list[float], lines: list[int], line: float) -> list[float]:
    """Where names start, from the highest down, so that none overlaps the lines of the one above.

    >>> apart([100, 81, 80], [1, 2, 1], 5)
    [100, 81, 71]
    """
    at: list[float] = []
    for height, above in zip(heights, [0, *lines], strict=False):
        at.append(min(height, at[-1] - line * above) if at else height)
    return at


def _beyond(base: alt.Chart, recipes: list[Over], trained: list[int]) -> list[alt.Chart]:
    """At the upper edge, for each cost: how many recipes lie above it, and the highest churn."""
    if not recipes:
        return []
    groups: dict[int, list[float]] = {}
    for one in recipes:
        groups.setdefault(one.rows[0].trained, []).append(100 * one.ratio)
    values = [
        {"place": trained.index(cost), "churn": 100 * MOST_CHURN,
         "name": f"▲ {len(own)} more, up to {max(own):.0f} %"}
        for cost, own in groups.items()
    ]  # fmt: skip
    text = base.mark_text(align="left", baseline="top", dx=-5, fontSize=11)
    return [
        text.encode(alt.Text("name:N"), color=alt.ColorValue("#666666")).properties(
            data=alt.InlineData(values=values)
        )
    ]


def tasks(rows: dict[str, list[tuple[str, float]]]) -> alt.LayerChart:
    """Churn of some recipes, in percent of plain training's, a line for each task."""
    values = [
        {"task": TASKS.get(task, task), "recipe": recipe, "churn": round(100 * ratio, 2)}
        for task, own in rows.items()
        for recipe, ratio in own
    ]
    recipes = list(dict.fromkeys(recipe for own in rows.values() for recipe, _ in own))
    base = alt.Chart(alt.InlineData(values=values)).encode(
        alt.Y("task:N", sort=[TASKS.get(task, task) for task in rows], title=None,
              axis=alt.Axis(grid=True, labelLimit=0)),
        alt.X("churn:Q", title="churn, % of plain training's", scale=alt.Scale(zero=True)),
    )  # fmt: skip
    legend = alt.Legend(orient="top", labelLimit=0, symbolOpacity=1)  # one, of colour and shape
    points = base.mark_point(filled=True, size=110, opacity=0.9).encode(
        alt.Color("recipe:N", sort=recipes, title=None, scale=alt.Scale(
            domain=recipes, range=["#000000", "#9c755f", "#8c8c8c", "#4c78a8", "#e45756"],
        ), legend=legend),
        alt.Shape("recipe:N", sort=recipes, title=None,
                  scale=alt.Scale(domain=recipes, range=SHAPES), legend=legend),
        tooltip=["task:N", "recipe:N", "churn:Q"],
    )  # fmt: skip
    spans = base.mark_line(color="#cccccc").encode(detail="task:N")
    chart: alt.LayerChart = (spans + points).properties(width=560, height=28 * len(rows) + 20)
    return chart
