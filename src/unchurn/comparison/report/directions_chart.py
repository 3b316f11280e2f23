"""The chart of flips from class to class: bars for two classes, a heat map for more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from unchurn.comparison.report.chart_parts import BELOW, BESIDE, COLOURS, LABELS, Drawn, shown_names

if TYPE_CHECKING:
    from unchurn.comparison.result import Comparison

N_CLASSES = 20  # more are not legible
AROUND = 16  # letters of a class beside the heat map
N_NUMBERS = 10  # classes up to which every cell of the heat map has its number
LEGIBLE = 0.12  # of the longest bar: shorter parts have no room for their number


def directions(comparison: Comparison) -> Drawn | None:
    """The chart of flips from class to class; None if nothing flips."""
    if not comparison.outcomes.flipped.any():
        return None
    title = "From which class to which"
    if len(comparison.paired.classes) == 2:
        return title, "How many predictions flipped each way.", _two_ways(comparison)
    caption = "How many predictions flipped from base's class to the candidate's."
    chosen, n_classes = _flipping(comparison), len(comparison.classes)
    if n_classes > N_CLASSES:
        caption += f" The most frequent, among {len(chosen)} of {n_classes:,} classes."
    return title, caption, _heat_map(comparison, chosen)


def _flipping(comparison: Comparison) -> list[int]:
    """The classes that flip; if too many, those of the most frequent pairs that fit.

    Pairs, because the classes with the most flips need not flip into each other.
    """
    paired, flipped = comparison.paired, comparison.outcomes.flipped
    n = len(paired.classes)
    pairs = n * paired.base[flipped].astype(np.int64) + paired.candidate[flipped]
    found, counts = np.unique(pairs, return_counts=True)
    chosen: set[int] = set()
    for pair in found[np.argsort(-counts, kind="stable")]:
        with_pair = chosen | {int(pair) // n, int(pair) % n}
        if len(with_pair) > N_CLASSES:
            break
        chosen = with_pair
    return sorted(chosen, key=lambda at: _natural(paired.classes[at]))


def _natural(name: str) -> list[tuple[str, int]]:
    """A name's parts, by which topic_2 comes before topic_10."""
    parts = re.findall(r"([^0-9]*)([0-9]*)", name)
    return [(text, int(digits[:18] or -1)) for text, digits in parts]


def _two_ways(comparison: Comparison) -> Any:
    """A bar for each direction, divided into bad, good and unlabelled flips."""
    outcomes, names = comparison.outcomes, shown_names(comparison.paired.classes, BESIDE // 2)
    ways = [f"{names[0]} → {names[1]}", f"{names[1]} → {names[0]}"]
    kinds = {"bad flips": outcomes.bad, "good flips": outcomes.good}
    kinds["unlabelled"] = outcomes.flipped & ~outcomes.labelled
    rows: list[dict[str, Any]] = [
        {"way": ways[one], "kind": kind, "flips": int(count)}
        for one in (0, 1)
        for kind, mask in kinds.items()
        if (count := np.count_nonzero(mask & (comparison.paired.base == one)))
    ]
    there = [kind for kind in kinds if any(row["kind"] == kind for row in rows)]
    scale = alt.Scale(domain=there, range=[COLOURS[kind] for kind in there])
    legend = None if there == ["unlabelled"] else BELOW
    ticks = min(6, max(row["flips"] for row in rows))  # no half flips
    for way in ways:  # each count is in the middle of its part of the bar
        end = 0
        for row in (one for one in rows if one["way"] == way):
            end += row["flips"]
            row |= {"start": end - row["flips"], "end": end, "middle": end - row["flips"] / 2}
            row["count"] = f"{row['flips']:,}"
    widest = max(row["end"] for row in rows)
    legible = [row for row in rows if row["flips"] > LEGIBLE * widest]
    base = alt.Chart(alt.InlineData(values=rows), height=80).encode(
        alt.Y("way:N", title=None, axis=LABELS).scale(domain=ways)
    )
    bars = base.mark_bar().encode(
        alt.X("start:Q", title="flips", axis=alt.Axis(tickCount=ticks, format=",d")),
        alt.X2("end:Q"),
        alt.Color("kind:N", scale=scale, legend=legend),
        tooltip=["way:N", "kind:N", "flips:Q"],
    )
    counts = (
        alt.Chart(alt.InlineData(values=legible))
        .mark_text(color="white")
        .encode(alt.X("middle:Q"), alt.Y("way:N"), alt.Text("count:N"))
    )
    return bars + counts


def _heat_map(comparison: Comparison, chosen: list[int]) -> Any:
    """Flips from (rows) and to (columns) the chosen classes."""
    paired, size = comparison.paired, len(chosen)
    place = np.full(len(paired.classes), -1)
    place[chosen] = np.arange(size)
    flipped = comparison.outcomes.flipped
    before, after = place[paired.base[flipped]], place[paired.candidate[flipped]]
    both = (before >= 0) & (after >= 0)
    counts = np.bincount(size * before[both] + after[both], minlength=size * size)
    whole = shown_names(paired.classes[i] for i in chosen)
    names = shown_names(whole, AROUND)
    rows = [
        {"from": names[row], "to": names[column], "flips": int(counts[size * row + column])}
        | {"base": whole[row], "candidate": whole[column]}
        for row, column in (divmod(int(cell), size) for cell in np.flatnonzero(counts))
    ]
    axis: dict[str, Any] = {"labelLimit": 110, "domain": False, "ticks": False}
    angle = 0 if sum(map(len, names)) < 30 else -45  # short names fit unrotated even on a phone
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.X("to:N", title="candidate", axis=alt.Axis(labelAngle=angle, **axis)).scale(
            domain=names
        ),
        alt.Y("from:N", title="base", axis=alt.Axis(**axis)).scale(domain=names),
        tooltip=["base:N", "candidate:N", "flips:Q"],
    )
    # Strength as opacity: it reads alike on white and on black.
    scale = alt.Scale(range=["rgba(78, 121, 167, 0.08)", "rgba(78, 121, 167, 0.8)"], domainMin=0)
    legend = None if size <= N_NUMBERS else alt.Legend(orient="bottom", tickMinStep=1)
    cells = base.mark_rect().encode(alt.Color("flips:Q", scale=scale, legend=legend))
    layers = [cells, base.mark_text().encode(text="flips:Q")] if size <= N_NUMBERS else [cells]
    return alt.layer(*layers, height=size * (36 if legend is None else 20))
