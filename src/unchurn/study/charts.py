"""Charts of a result, one definition each: interactive in a page, SVG or PNG in a file."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from unchurn.metrics.over_runs import churn_standard_error

if TYPE_CHECKING:
    from unchurn.study.result import Result

# Tableau's ten colours for the single models; control is black, the ensemble grey.
COLOURS = {
    "control": "#000000", "label_smoothing": "#f28e2b", "knn_ls": "#e15759", "anchor": "#76b7b2",
    "l1_reg": "#9c755f", "l2_reg": "#59a14f", "bi_tempered": "#edc948", "codistill_ce": "#b07aa1",
    "codistill_kl": "#ff9da7", "mixup": "#4e79a7", "ensemble": "#8c8c8c",
}  # fmt: skip
GOLDEN_RATIO = (5**0.5 - 1) / 2
SIZE = {"width": 420, "height": 300}


def colours(methods: Iterable[str]) -> dict[str, str]:
    """A colour for each method: its own, or one that no other of these has."""
    found: dict[str, str] = {}
    for name in methods:
        found[name] = COLOURS.get(name) or _another(sum(n not in COLOURS for n in found))
    return found


def _another(number: int) -> str:
    """One of endlessly many colours: steps of the golden ratio around the wheel stay apart."""
    rgb = colorsys.hls_to_rgb((number * GOLDEN_RATIO + 0.55) % 1, 0.42, 0.7)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)


def frontier_data(result: Result) -> list[dict[str, Any]]:
    """One row per setting: test accuracy and correct churn in percent; is it on its frontier?

    Other scenarios chart something else than correct churn.
    """
    on_frontier = {id(r) for method in result.by_method for r in result.pareto(method)}
    charted = [(r, *result.charted(r)) for r in result.settings if r.runs]
    return [
        {
            "method": r.setting.name,
            "setting": r.setting.text,
            "accuracy": round(100 * accuracy, 4),
            result.subject.scenario.charted: round(100 * churn, 4),
            "frontier": id(r) in on_frontier,
        }
        for r, accuracy, churn in charted
        if not np.isnan(churn)
    ]


def frontier(result: Result) -> alt.LayerChart:
    """Accuracy against correct churn, a dotted frontier for each method; best is top left.

    It opens without the much less accurate settings; scroll or drag for those.
    """
    # Control on top: all else is held against it.
    rows = sorted(frontier_data(result), key=lambda row: row["method"] == "control")
    scenario = result.subject.scenario
    x, y = _zoom(rows, scenario.charted)
    methods = [name for name in result.by_method if any(r["method"] == name for r in rows)]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.X(
            f"{scenario.charted}:Q",
            title=f"{scenario.charted_words}, %",
            scale=alt.Scale(domain=x),
        ),
        alt.Y("accuracy:Q", title="accuracy, %", scale=alt.Scale(domain=y)),
        alt.Color(
            "method:N",
            scale=alt.Scale(domain=methods, range=list(colours(methods).values())),
            sort=methods,
        ),
    )
    tooltip = ["method:N", "setting:N", "accuracy:Q", f"{scenario.charted}:Q"]
    points = base.mark_circle(size=60, opacity=0.7, clip=True).encode(tooltip=tooltip)
    lines = base.transform_filter("datum.frontier").mark_line(
        strokeDash=[3, 3], interpolate="step-after", clip=True
    )
    chart: alt.LayerChart = (lines + points).properties(**SIZE).interactive()
    return chart


def _zoom(rows: list[dict[str, Any]], charted: str) -> tuple[list[float], list[float]]:
    """Domains of the axes: control and all settings but the much less accurate, with a margin.

    A few hopeless settings would otherwise press all others into a corner. Much less is a point
    below the median, and three times as far below it as the best is above it.
    """
    accuracies = [row["accuracy"] for row in rows]
    median = np.median(accuracies)
    least = median - max(1, 3 * (max(accuracies) - median))
    near = [row for row in rows if row["accuracy"] >= least or row["method"] == "control"]
    domains = []
    for key in (charted, "accuracy"):
        values = [row[key] for row in near]
        margin = 0.05 * (max(values) - min(values)) or 0.1
        domains.append([min(values) - margin, max(values) + margin])
    return domains[0], domains[1]


def curve_data(
    result: Result, method: str, parameter: str, others: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Test accuracy and churn along one parameter; the others as given, or as in the choice."""
    fixed = result.choose()[method].setting.parameters if others is None else others
    rows = []
    for r in result.by_method[method]:
        own = r.setting.parameters
        if r.summary and all(own.get(p) == fixed[p] for p in fixed if p != parameter):
            accuracy = r.summary["test"].accuracy
            errors = {
                "accuracy": accuracy.sd / np.sqrt(accuracy.count),
                "churn": churn_standard_error(r.predictions["test"]),
            }
            for metric, standard_error in errors.items():
                mean, error = 100 * getattr(r.summary["test"], metric).mean, 100 * standard_error
                row = {"metric": metric, parameter: own.get(parameter), "mean": round(mean, 4)}
                if not np.isnan(error):  # of churn, two runs give none
                    row |= {"low": round(mean - error, 4), "high": round(mean + error, 4)}
                rows.append(row)
    return rows


def curve(
    result: Result,
    method: str,
    parameter: str,
    others: dict[str, Any] | None = None,
    beside: dict[str, list[dict[str, Any]]] | None = None,
) -> alt.FacetChart:
    """Accuracy and churn along one parameter, with bands of one standard error.

    `beside`: rows like those of `curve_data`, by who else measured them.
    """
    measured = {"us": curve_data(result, method, parameter, others), **(beside or {})}
    rows = [{**row, "by": name} for name, own in measured.items() for row in own]
    values = sorted({row[parameter] for row in rows})
    colour = alt.Color(
        "by:N",
        title="measured by",
        scale=alt.Scale(domain=list(measured), range=["#4c78a8", "#888888"]),
        legend=alt.Legend(symbolOpacity=1) if beside else None,
    )
    base = alt.Chart().encode(
        alt.X(
            f"{parameter}:Q",
            scale=alt.Scale(type="log" if _spans_powers(values) else "linear", nice=False),
            axis=alt.Axis(
                values=values,
                format="~g",
                labelOverlap="greedy",
                labelSeparation=4,
                labelFlush=False,  # a label stands under its point
            ),
        ),
        colour,
    )
    band = base.mark_area(opacity=0.25).encode(alt.Y("low:Q", title="%"), alt.Y2("high:Q"))
    line = base.mark_line(point=True).encode(alt.Y("mean:Q", scale=alt.Scale(zero=False)))
    data = alt.InlineData(values=rows)
    shown = {p: f"{v:g}" if _is_number(v) else str(v) for p, v in (others or {}).items()}
    at = [f"({', '.join(f'{p}={v}' for p, v in shown.items())})"] if others else []
    chart: alt.FacetChart = (
        alt.layer(band, line, data=data)
        .properties(width=220, height=180)
        .facet(column=alt.Column("metric:N", title=" ".join([f"{method}: {parameter}", *at])))
        .resolve_scale(y="independent")
    )
    return chart


def _spans_powers(values: list[float]) -> bool:
    """Whether values are counts of such different size that a logarithmic axis suits them."""
    if not values or not all(isinstance(value, int) and value > 0 for value in values):
        return False
    return max(values) > 10 * min(values)


def curves(result: Result) -> dict[str, alt.FacetChart]:
    """A curve for every parameter, a number, that was varied around a method's chosen setting."""
    found = {}
    for method in result.choose():
        for parameter in result.by_method[method][0].setting.parameters:
            values = {row[parameter] for row in curve_data(result, method, parameter)}
            if len(values) > 2 and all(_is_number(value) for value in values):
                found[f"{method} {parameter}"] = curve(result, method, parameter)
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def all_charts(result: Result) -> dict[str, alt.TopLevelMixin]:
    """Every chart of a result, by a name that suits a file."""
    along = {f"along_{name.replace(' ', '_')}": chart for name, chart in curves(result).items()}
    own = result.subject.scenario.charts(result)
    named = {title.lower().replace(" ", "_"): chart for title, chart in own.items()}
    return {**({"frontier": frontier(result)} if frontier_data(result) else {}), **named, **along}
