"""Write a comparison's HTML page, self-contained: verdict, numbers, charts, flips."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from unchurn.comparison.report import tables, words
from unchurn.comparison.report.charts import charts
from unchurn.comparison.report.limits_chart import limits_chart
from unchurn.comparison.result import KINDS, Comparison, flipped
from unchurn.core.files import check_place
from unchurn.core.version import __version__
from unchurn.report import formats
from unchurn.report.html import write_page
from unchurn.report.table import Cell, Column, Table

# The page holds no more than these, however many examples were compared.
N_FLIPS = 1000
N_SLICES = 200
N_CLASSES = 200
LONGEST = 200  # letters of a cell: an id may be a whole document


def write_comparison(
    comparison: Comparison, path: Path, banner: words.Banner | None = None
) -> None:
    """Write the page; it loads nothing from the network, and everything in it is escaped."""
    check_place(path)
    names = list(comparison.taken)[:2]
    slices, classes = tables.slices(comparison, N_SLICES), tables.classes(comparison, N_CLASSES)
    write_page(
        path,
        Path(__file__).with_name("comparison.html"),
        [*_limits(banner), *charts(comparison)],
        name=f"{names[0]} → {names[-1]}",
        verdict=banner and _verdict(banner),
        warnings=comparison.warnings,
        sentences=words.sentences(comparison),
        measures=tables.measures(comparison),
        tables=[_sortable("Slices", slices), _sortable("Classes", classes)],
        flips=_flips(comparison),
        remarks=words.remarks(comparison),
        version=__version__,
    )


def _limits(banner: words.Banner | None) -> list[dict[str, Any]]:
    """The chart of a verdict, if there is one."""
    drawn = None if banner is None else limits_chart(banner)
    return [] if drawn is None else [drawn]


def _verdict(banner: words.Banner) -> dict[str, Any]:
    """The decision, and its checks: those against promotion, and those passed."""
    return {
        "decision": banner.decision,
        "meaning": banner.meaning,
        "checks": banner.in_the_way,
        "passed": banner.passed,
    }


def _sortable(title: str, table: Table) -> dict[str, Any]:
    """A table with its title and notes."""
    return {
        "title": title,
        "n": len(table.rows),
        "html": formats.html(_cut(table), title.lower()),
        "notes": formats.notes_of(table),
    }


def _flips(comparison: Comparison) -> dict[str, Any]:
    """A table of at most N_FLIPS flipped examples, and the kinds to filter it by."""
    frame = flipped(comparison, N_FLIPS)
    is_number = {column.name: column.dtype.is_numeric() for column in frame}
    # Without probabilities, a slice may be called "confidence".
    shown = {"confidence": "candidate's confidence"} if comparison.paired.probabilities else {}
    columns = tuple(
        Column(
            heading=shown.get(name, name),
            is_text=not is_number[name] or name == "id",
            is_foreign=True,
        )
        for name in frame.columns
    )
    rows = tuple(
        tuple(_flip_cell(name, row[name], is_number[name]) for name in frame.columns)
        for row in frame.iter_rows(named=True)
    )
    kinds = set(frame["kind"]) if "kind" in frame.columns else set()
    return {
        "n": frame.height,
        "total": int(comparison.outcomes.flipped.sum()),
        "html": formats.html(_cut(Table(columns=columns, rows=rows)), "flips"),
        "kinds": [kind for kind in KINDS if kind in kinds],
        "kind_at": frame.columns.index("kind") if kinds else None,
    }


def _flip_cell(column: str, value: Any, is_number: bool) -> Cell:
    """A cell of the table of flips."""
    if value is None:
        return Cell(text="–")
    text = f"{value:.4f}" if column == "confidence" else str(value)
    return Cell(text=text, value=value if is_number else None, is_foreign=True)


def _cut(table: Table) -> Table:
    """The table with long cells cut."""
    rows = tuple(
        tuple(
            cell if len(cell.text) <= LONGEST else replace(cell, text=cell.text[:LONGEST] + "…")
            for cell in row
        )
        for row in table.rows
    )
    return replace(table, rows=rows)
