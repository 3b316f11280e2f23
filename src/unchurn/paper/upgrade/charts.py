"""What a recipe for upgrades breaks and gains, with plain retraining as the origin."""

from __future__ import annotations

import altair as alt

from unchurn.paper.upgrade.rows import Over

COLOURS = ["#4c78a8", "#f58518"]
KINDS = ["one model is served", "the base answers, too"]


def frontier(recipes: list[Over], title: str) -> alt.LayerChart:
    """Bad flips, in percent of plain retraining's, against accuracy less its; best is top left.

    Named are the recipes that no other of their kind beats in both, and plain retraining.
    """
    best = {one.recipe for kind in (1, 2) for one in _unbeaten(recipes, kind)}
    rows = [
        {
            "recipe": one.recipe,
            "flips": round(100 * one.ratio, 2),
            "gain": round(100 * one.gain, 3),
            "served": KINDS[one.served > 1],
            "name": one.recipe if one.recipe in best | {"control"} else "",
        }
        for one in recipes
    ]
    base = alt.Chart(alt.InlineData(values=rows), title=title).encode(
        alt.X("flips:Q", title="bad flips, % of plain retraining's",
              scale=alt.Scale(domain=[0, 150], clamp=True)),
        alt.Y("gain:Q", title="accuracy − plain retraining's, points"),
        alt.Color("served:N", scale=alt.Scale(domain=KINDS, range=COLOURS), title=None,
                  legend=alt.Legend(orient="top")),
    )  # fmt: skip
    points = base.mark_circle(size=70, opacity=0.8).encode(
        tooltip=["recipe:N", "flips:Q", "gain:Q"]
    )
    names = base.mark_text(align="left", dx=8, fontSize=11).encode(alt.Text("name:N"))
    origin = alt.Chart(alt.InlineData(values=[{"flips": 100, "gain": 0}]))
    across = origin.mark_rule(color="#bbbbbb").encode(alt.Y("gain:Q"))
    down = origin.mark_rule(color="#bbbbbb").encode(alt.X("flips:Q"))
    chart: alt.LayerChart = (across + down + points + names).properties(width=640, height=360)
    return chart


def _unbeaten(recipes: list[Over], served: int) -> list[Over]:
    """Those of a kind that no other has fewer bad flips and more accuracy than."""
    own = [one for one in recipes if one.served == served]
    return [
        one
        for one in own
        if not any(other.ratio < one.ratio and other.gain > one.gain for other in own)
    ]
