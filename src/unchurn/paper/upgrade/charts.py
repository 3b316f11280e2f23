"""What a recipe for upgrades breaks and gains, with plain retraining as the origin."""

from __future__ import annotations

import altair as alt

from unchurn.paper.upgrade.rows import Over

COLOURS = ["#4c78a8", "#f58518"]
KINDS = ["one model is served", "the base answers, too"]
AVERAGED = "+safe_ema"  # which almost all have, and so is not written
# What is named: where all are, names cover one another.
NAMED = (
    "control", "warm_start+safe_ema", "longer+safe_ema", "anchor(a=0.8)+safe_ema",
    "weight_decay+warm_start+anchor+safe_ema", "warm_start+anchor(a=0.8)+safe_ema",
    "stay(ratio=2)+safe_ema", "stay+warm_start+anchor(a=0.2)+safe_ema",
)  # fmt: skip


def frontier(recipes: list[Over], title: str) -> alt.LayerChart:
    """Bad flips, in percent of plain retraining's, against accuracy less its; best is top left."""
    rows = [
        {
            "recipe": one.recipe,
            "flips": round(100 * one.ratio, 2),
            "gain": round(100 * one.gain, 3),
            "served": KINDS[one.served > 1],
            "name": _name(one.recipe),
        }
        for one in recipes
    ]
    base = alt.Chart(alt.InlineData(values=rows), title=title).encode(
        alt.X("flips:Q", title="bad flips, % of plain retraining's",
              scale=alt.Scale(domain=[0, 125], clamp=True)),
        alt.Y("gain:Q", title="accuracy − plain retraining's, points"),
        alt.Color("served:N", scale=alt.Scale(domain=KINDS, range=COLOURS), title=None,
                  legend=alt.Legend(orient="top")),
    )  # fmt: skip
    points = base.mark_circle(size=70, opacity=0.8).encode(
        tooltip=["recipe:N", "flips:Q", "gain:Q"]
    )
    # One kind below and one above its points, where two lie side by side.
    below, above = (
        base.transform_filter(alt.datum.served == kind)
        .mark_text(align="left", dx=6, dy=dy, fontSize=11)
        .encode(alt.Text("name:N"))
        for kind, dy in zip(KINDS, (10, -10), strict=True)
    )
    origin = alt.Chart(alt.InlineData(values=[{"flips": 100, "gain": 0}]))
    across = origin.mark_rule(color="#bbbbbb").encode(alt.Y("gain:Q"))
    down = origin.mark_rule(color="#bbbbbb").encode(alt.X("flips:Q"))
    layers = across + down + points + below + above
    chart: alt.LayerChart = layers.properties(width=640, height=360)
    return chart


def _name(recipe: str) -> str:
    """What the chart calls a recipe, if it names it."""
    if recipe not in NAMED:
        return ""
    return "plain retraining" if recipe == "control" else recipe.removesuffix(AVERAGED)
