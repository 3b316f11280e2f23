"""Charts of a result, for pages (interactive) and files (SVG, PNG): curves along a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from unchurn.metrics.over_runs import churn_standard_error
from unchurn.study.report.frontier import frontier

if TYPE_CHECKING:
    from unchurn.study.results.result import Result


def curve_data(
    result: Result, method: str, parameter: str, others: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Test accuracy and churn along one parameter; the others as given, or as was chosen."""
    fixed = result.chosen[method].setting.parameters if others is None else others
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
                if not np.isnan(error):  # two runs give none for churn
                    row |= {"low": round(mean - error, 4), "high": round(mean + error, 4)}
                rows.append(row)
    return rows


def curve(
    result: Result,
    method: str,
    parameter: str,
    others: dict[str, Any] | None = None,
    beside: dict[str, list[dict[str, Any]]] | None = None,
    *,
    narrow: bool = False,
) -> alt.FacetChart:
    """Accuracy and churn along one parameter, with bands of one standard error.

    `beside` has rows like those of `curve_data` that others measured, by their names. `narrow` puts
    one chart below the other, for a phone.
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
    title = " ".join([f"{method}: {parameter}", *at])
    side: Any = alt.Row("metric:N", title=title) if narrow else alt.Column("metric:N", title=title)
    chart: alt.FacetChart = (
        alt.layer(band, line, data=data)
        .properties(width=220, height=180)
        .facet(**{"row" if narrow else "column": side})
        .resolve_scale(y="independent")
    )
    return chart


def _spans_powers(values: list[float]) -> bool:
    """Whether values are positive integers that span more than a factor of ten (log axis)."""
    if not values or not all(isinstance(value, int) and value > 0 for value in values):
        return False
    return max(values) > 10 * min(values)


def curves(result: Result, *, narrow: bool = False) -> dict[str, alt.FacetChart]:
    """A curve for every numeric parameter that was varied around a method's chosen setting."""
    found = {}
    for method in result.chosen:
        for parameter in result.by_method[method][0].setting.parameters:
            values = {row[parameter] for row in curve_data(result, method, parameter)}
            if len(values) > 2 and all(_is_number(value) for value in values):
                found[f"{method} {parameter}"] = curve(result, method, parameter, narrow=narrow)
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def all_charts(result: Result) -> dict[str, alt.TopLevelMixin]:
    """Every chart of a result, by a name suitable for a file."""
    along = {f"along_{name.replace(' ', '_')}": chart for name, chart in curves(result).items()}
    own = result.subject.scenario.charts(result)
    named = {title.lower().replace(" ", "_"): chart for title, chart in own.items()}
    return {**({"frontier": frontier(result)} if result.frontier_rows else {}), **named, **along}
