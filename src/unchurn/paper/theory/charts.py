"""A chart for each theorem, from the rows of `simulations.py`: errors, bounds and rates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from unchurn.paper.theory.simulations import Row, rates

SIZE = {"width": 290, "height": 200}
# The lines: the theorem's bound, the fit to the means, and two rates that start from the mean at
# the smallest n.
LINES = {
    "bound": ("#000000", [6, 3]),
    "fitted to the means": ("#4e79a7", [1, 0]),
    "optimal rate, with its log": ("#59a14f", [2, 2]),
    "√(1/n)": ("#e15759", [8, 3, 2, 3]),
}
BOUND, FITTED, OPTIMAL, ROOT = LINES
MEAN, JOINED = "mean", "through the means"
SHAPES = {"admitted by the theorem": "circle", "not admitted": "cross"}
LOG = alt.Scale(type="log", nice=False, padding=10)
# Powers of ten, for errors also three times these; no grid lines between.
LARGE = alt.Axis(values=[10**e for e in range(1, 8)], format="~s")
SMALL = alt.Axis(values=[m * 10**e for e in range(-5, 2) for m in (1, 3)], format="~g")
TOOLTIP = ("n", "k", "draws", "mean", "quantile", "max", "bound", "exceeded", "why", "verdict")


def theorem1_chart(rows: Sequence[Row]) -> alt.VConcatChart:
    """Draw sup|η_k − η| against k, and below, at the optimal k, against n; a column per problem."""
    above, below = [], []
    sizes = sorted({row["n"] for row in rows})
    for problem, members in _by(rows, "problem").items():
        best = [row for row in members if row["optimal"]]
        above.append(_against_k(members, sizes, title=problem, subtitle=_kind(members)))
        below.append(_against_n(best, title="at the k of the least bound", subtitle=_texts(best)))
    page: alt.VConcatChart = _page(
        "Theorem 1: the largest distance between η_k and η", rows, [above, below]
    ).resolve_scale(color="independent", strokeDash="independent", shape="independent")
    return page


def theorem2_chart(rows: Sequence[Row]) -> alt.VConcatChart:
    """Draw sup|η_k − η̃_β| at k = ⌊βn⌋ against n: a column per problem, a row of panels per β."""
    panels = []
    for beta, of_beta in _by(rows, "beta").items():
        panels.append(
            [
                _against_n(
                    members,
                    title=f"{problem}; β = {beta:g}",
                    subtitle=[_kind(members), *_texts(members)],
                )
                for problem, members in _by(of_beta, "problem").items()
            ]
        )
    return _page(
        "Theorem 2: the largest distance between η_k and η smoothed over a share β", rows, panels
    )


def _by(rows: Iterable[Row], key: str) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


def _kind(rows: Sequence[Row]) -> str:
    return "supremum: exact" if rows[0]["exact"] else "supremum: on a grid, so from below"


def _texts(rows: Sequence[Row]) -> list[str]:
    """The fitted exponent of n beside those to compare it with; nothing if there is but one n."""
    return [
        text.replace("-", "−")
        for fit in rates(rows)
        for text in (
            f"fitted exponent of n: {fit['fitted']:.3f} ± {2 * fit['fitted_se']:.3f} (2 s.e.)",
            f"optimal: {fit['optimal']:.3f}, with its log {fit['optimal_with_log']:.3f}; "
            f"√(1/n): {fit['root_n']:.3f}",
        )
    ]


def _points(rows: Sequence[Row]) -> list[Row]:
    """The measured means, with what their tooltips show."""
    admitted, not_admitted = SHAPES
    return [
        {key: row[key] for key in TOOLTIP}
        | {"line": MEAN, "value": row["mean"]}
        | {"theorem": admitted if row["admitted"] else not_admitted}
        for row in rows
    ]


def _lines(rows: Sequence[Row]) -> list[Row]:
    """The bound, the fitted rate and the two to compare it with, at every n of the rows."""
    values = [(row["n"], BOUND, row["bound"]) for row in rows]
    for fit in rates(rows):
        start, first = rows[0]["n"], rows[0]["mean"]
        middle = sum(math.log(row["n"]) for row in rows) / len(rows)
        level = sum(math.log(row["mean"]) for row in rows) / len(rows)
        for n in (row["n"] for row in rows):
            fitted = math.exp(level + fit["fitted"] * (math.log(n) - middle))
            shrunk = (math.log(n) / n) / (math.log(start) / start)
            values.append((n, FITTED, fitted))
            values.append((n, OPTIMAL, first * shrunk ** -fit["optimal"]))
            values.append((n, ROOT, first * (n / start) ** fit["root_n"]))
    return [{"n": n, "line": line, "value": value} for n, line, value in values]


def _against_k(rows: Sequence[Row], sizes: list[int], title: str, subtitle: str) -> alt.LayerChart:
    """Measured means and the bound at several k, a colour for each n."""
    data = _points(rows)
    for line, key in ((BOUND, "bound"), (JOINED, "mean")):
        data += [{"n": row["n"], "k": row["k"], "line": line, "value": row[key]} for row in rows]
    colour = alt.Color(
        "n:O",
        scale=alt.Scale(domain=sizes, scheme=alt.SchemeParams("viridis", extent=[0, 0.9])),
        legend=alt.Legend(format=",", title="n, in the upper panels"),
    )
    points, lines = _marks(data, "k")
    dashes = alt.Scale(domain=[BOUND, JOINED], range=[LINES[BOUND][1], [1, 0]])
    lines = lines.mark_line(strokeWidth=1.5).encode(
        colour, alt.StrokeDash("line:N", scale=dashes, title="lines in the upper panels")
    )
    return _titled(lines + points.encode(colour), title, subtitle)


def _against_n(rows: Sequence[Row], title: str, subtitle: list[str]) -> alt.LayerChart:
    """Measured means at several n, the bound and the rates."""
    points, lines = _marks([*_points(rows), *_lines(rows)], "n")
    names = list(LINES)
    colours, dashes = zip(*LINES.values(), strict=True)
    legend = alt.Legend(symbolType="stroke", symbolSize=600, labelLimit=0)
    lines = lines.mark_line(strokeWidth=1.5).encode(
        alt.Color("line:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        alt.StrokeDash("line:N", scale=alt.Scale(domain=names, range=dashes), legend=legend),
    )
    points = points.encode(color=alt.value(LINES[FITTED][0]))
    return _titled(lines + points, title, subtitle)


def _marks(data: list[Row], x: str) -> tuple[alt.Chart, alt.Chart]:
    """Points for what was measured, and the base of the lines, on logarithmic axes."""
    base = alt.Chart(alt.InlineData(values=data)).encode(
        alt.X(f"{x}:Q", scale=LOG, axis=LARGE),
        alt.Y("value:Q", title="error", scale=LOG, axis=SMALL),
    )
    points = base.transform_filter(f"datum.line == '{MEAN}'").mark_point(
        filled=True, size=60, opacity=1
    )
    shape = alt.Shape(
        "theorem:N",
        title="mean over the draws",
        scale=alt.Scale(domain=list(SHAPES), range=list(SHAPES.values())),
        legend=alt.Legend(labelLimit=0),
    )
    tooltip = [f"{key}:{'N' if key in ('why', 'verdict') else 'Q'}" for key in TOOLTIP]
    lines = base.transform_filter(f"datum.line != '{MEAN}'")
    return points.encode(shape, tooltip=tooltip), lines


def _titled(chart: alt.LayerChart, title: str, subtitle: str | list[str]) -> alt.LayerChart:
    titled: alt.LayerChart = chart.properties(
        title=alt.Title(title, subtitle=subtitle, anchor="start"), **SIZE
    )
    return titled


def _page(
    title: str, rows: Sequence[Row], panels: Sequence[Sequence[alt.LayerChart]]
) -> alt.VConcatChart:
    """Rows of panels, under a title that sums up the results."""
    inside = [row for row in rows if row["admitted"]]
    every, admitted = (
        f"{sum(row['exceeded'] for row in some)} of {sum(row['draws'] for row in some):,}"
        for some in (rows, inside)
    )
    empty = sum(row["verdict"] == "says nothing" for row in rows)
    subtitle = [
        f"The bound was exceeded in {every} measurements, and in {admitted} at points that the "
        f"theorem admits (promised there: at most a share of {rows[0]['delta']:g}).",
        f"It admits {len(inside)} of the {len(rows)} points. At {empty} the bound is 1 or more and "
        "says nothing.",
    ]
    chart: alt.VConcatChart = alt.vconcat(
        *(alt.hconcat(*some) for some in panels),
        title=alt.Title(title, subtitle=subtitle, offset=15),
    )
    return chart
