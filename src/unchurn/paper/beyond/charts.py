"""Charts of what goes beyond the paper: what a recipe costs and buys, and the six tasks at once."""

from __future__ import annotations

from typing import Any

import altair as alt

from unchurn.paper.beyond.rows import Over

COLOURS = ["#4c78a8", "#f58518"]
KINDS = ["one model is served", "several are served"]
MOST_TRAINED = 6
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


def costs(recipes: list[Over], title: str) -> alt.LayerChart:
    """Churn, in percent of plain training's, against what a recipe trains.

    Of those that do no harm on any dataset, the best of each cost are named; the others are pale.
    """
    rows = [
        {
            "recipe": one.recipe,
            "trained": one.rows[0].trained,
            "churn": round(100 * one.ratio, 2),
            "served": KINDS[not one.rows[0].is_single],
            "harmless": one.is_harmless,
        }
        for one in recipes
        if one.rows[0].trained <= MOST_TRAINED and one.ratio < MOST_CHURN
    ]
    harmless = [row for row in rows if row["harmless"]]
    best = {min(own, key=lambda row: row["churn"])["recipe"] for own in _groups(harmless)}
    for row in rows:
        row["name"] = row["recipe"] if row["recipe"] in best | {"control"} else ""
    base = alt.Chart(alt.InlineData(values=rows), title=title).encode(
        alt.X(
            "trained:Q",
            title="networks trained (plain training: 1)",
            scale=alt.Scale(domain=[0.5, MOST_TRAINED + 2.5]),
            axis=alt.Axis(values=list(range(1, MOST_TRAINED + 1)), grid=False),
        ),
        alt.Y("churn:Q", title="churn, % of plain training's", scale=alt.Scale(zero=True)),
        alt.Color("served:N", scale=alt.Scale(domain=KINDS, range=COLOURS), title=None,
                  legend=alt.Legend(orient="top")),
    )  # fmt: skip
    points = base.mark_circle(size=70).encode(
        alt.Opacity(
            "harmless:N", scale=alt.Scale(domain=[False, True], range=[0.2, 0.9]), legend=None
        ),
        tooltip=["recipe:N", "churn:Q", "trained:Q"],
    )
    names = base.mark_text(align="left", dx=8, fontSize=11).encode(alt.Text("name:N"))
    chart: alt.LayerChart = (points + names).properties(width=640, height=320)
    return chart


def _groups(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Group rows of equal cost."""
    groups: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["trained"], row["served"]), []).append(row)
    return list(groups.values())


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
