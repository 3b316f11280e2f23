"""Shared parts of a comparison's charts: colours, axes, and names short enough to fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import altair as alt

from unchurn.report.names import shortened

# Colours that can be told apart on white and on black.
COLOURS = {
    "churn": "#4e79a7", "bad flips": "#e15759", "good flips": "#59a14f",
    "wrong → wrong": "#f28e2b", "unlabelled": "#8c8c8c",
}  # fmt: skip
PLAIN, MARKED = "#8c8c8c", "#e15759"
LONGEST = 60  # letters of a name
BESIDE = 24  # letters of a name beside an axis
LABELS = alt.Axis(labelLimit=170)  # pixels of BESIDE letters: Vega would cut off their end
BELOW = alt.Legend(orient="bottom", title=None, symbolOpacity=1)
TICKS = alt.Axis(tickCount=6)  # more would not fit a phone
Drawn = tuple[str, str, Any]  # title, how to read it, chart


def as_percent(value: float) -> float:
    """A fraction in percent, rounded for charts."""
    return round(100 * value, 4)


def shown_names(texts: Iterable[str], longest: int = LONGEST) -> list[str]:
    """Names shortened to fit, and kept distinct."""
    seen: Counter[str] = Counter()
    names = []
    for name in shortened([*texts], longest):
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names
