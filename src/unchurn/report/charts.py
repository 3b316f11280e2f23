"""Save charts as SVG or PNG files, offline."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unchurn.core.files import atomic_write

if TYPE_CHECKING:
    import altair as alt


def save(chart: alt.TopLevelMixin, path: Path) -> None:
    """Write a chart as .svg or .png; equal charts give equal bytes."""
    with atomic_write(path) as temporary:
        form: Any = path.suffix.removeprefix(".")
        chart.save(str(temporary), format=form, scale_factor=2)
        if form == "svg":
            temporary.write_text(_renumbered(temporary.read_text("utf-8")), "utf-8")


def _renumbered(svg: str) -> str:
    """Number ids from 1: Vega counts them over all charts of a process, so bytes would differ."""
    numbers: dict[str, int] = {}

    def renumber(found: re.Match[str]) -> str:
        return f"{found[1]}{found[2]}{numbers.setdefault(found[2] + found[3], len(numbers) + 1)}"

    return re.sub(r'(id="|url\(#)(clip|gradient_)(\d+)', renumber, svg)
