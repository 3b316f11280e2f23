"""Choose the initial view of the chart of churn and accuracy: its axes, and the settings inside."""

from __future__ import annotations

import math
from itertools import compress
from typing import Any

import numpy as np

REACH = 1  # a bar may stretch the axes by at most this multiple of the median bar's length
EDGE = 0.025  # share of an axis: about half a point's size, on a phone
Rows = list[dict[str, Any]]


def axis_domains(rows: Rows, churn: str) -> tuple[list[float], list[float]]:
    """Domains of the two axes, which hold the settings worth showing and their bars.

    The axis of churn begins at zero unless all values are far from it, and slightly below zero if a
    point at zero would be cut in half.
    """
    near, domains = list(compress(rows, are_worth_showing(rows, churn))), []
    for key in (churn, "accuracy"):
        with_bars = [row for row in near if f"{key}_low" in row]
        bars = [(row[f"{key}_low"], row[key], row[f"{key}_high"]) for row in with_bars]
        most = REACH * float(np.median([high - low for low, _, high in bars])) if bars else 0.0
        values = [row[key] for row in near]
        for start, value, end in bars:
            values += [max(start, value - most), min(end, value + most)]
        margin = 0.06 * (max(values) - min(values)) or 0.1
        low, high = min(values) - margin, max(values) + margin
        if key == churn and low < high / 2:
            low = -EDGE * high if min(row[key] for row in near) < EDGE * high else 0.0
        domains.append([round(low, 4), round(high, 4)])
    return domains[0], domains[1]


def are_worth_showing(rows: Rows, churn: str) -> list[bool]:
    """Whether each setting is in view when a chart opens; hopeless ones mostly are not.

    Of the hopeless, readers look for those on the frontier, the chosen one with the lowest churn,
    and those whose loss of accuracy against control may be chance.
    """
    near = _are_near(rows)
    control = max((row["accuracy"] for row in rows if row["method"] == "control"), default=math.inf)
    least = min((row[churn] for row in rows if row.get("chosen")), default=-math.inf)

    def is_looked_for(row: dict[str, Any]) -> bool:
        is_least = row.get("chosen") and row[churn] == least
        may_be_chance = row.get("accuracy_high", -math.inf) >= control
        return bool(is_least or row.get("frontier") or may_be_chance)

    each = zip(rows, near, strict=True)
    return [is_near or is_looked_for(row) for row, is_near in each]


def not_hopeless(rows: Rows) -> Rows:
    """Control, and all settings that are not much less accurate than the others."""
    return list(compress(rows, _are_near(rows)))


def _are_near(rows: Rows) -> list[bool]:
    """Which settings are not much less accurate than the others; control always counts as near.

    A few hopeless settings would squeeze all others into a corner. A setting is hopeless if it is
    more than one point below the median, and more than three times as far below it as the best is
    above it.
    """
    accuracies = [row["accuracy"] for row in rows]
    median = np.median(accuracies)
    least = median - max(1, 3 * (max(accuracies) - median))
    return [row["accuracy"] >= least or row["method"] == "control" for row in rows]
