"""One self-contained HTML page of a comparison: the verdict, the numbers, charts, the flips."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from unchurn import __version__
from unchurn.comparison import words
from unchurn.comparison.charts import charts
from unchurn.comparison.flips import KINDS, flipped
from unchurn.core.files import check_place
from unchurn.report.html import write_page

if TYPE_CHECKING:
    from unchurn.comparison.compare import Comparison
    from unchurn.gate.decide import Verdict

# However many examples were compared, the page holds no more than these.
N_FLIPS = 1000
N_SLICES = 200
N_CLASSES = 200
LONGEST = 200  # letters of a cell: an id may be a whole document
MEANING = {
    "promote": "The candidate may replace the base.",
    "hold": "The data leave it open whether the candidate keeps to every limit.",
    "reject": "The candidate breaks a limit.",
}


def write_comparison(comparison: Comparison, path: Path, verdict: Verdict | None = None) -> None:
    """Write the page; it asks nothing of the network, and everything in it is escaped."""
    check_place(path)
    names = list(comparison.taken)[:2]
    slices, classes = words.slices(comparison, N_SLICES), words.classes(comparison, N_CLASSES)
    write_page(
        path,
        Path(__file__).with_name("comparison.html"),
        charts(comparison),
        name=f"{names[0]} → {names[-1]}",
        verdict=verdict and _verdict(verdict),
        sentences=[words.headline(comparison), words.floor_sentence(comparison)],
        measures=words.measures(comparison),
        tables=[
            _table("Slices", "slices", slices, len(comparison.slices)),
            _table("Classes", "classes", classes, len(comparison.classes)),
        ],
        flips=_flips(comparison),
        remarks=words.remarks(comparison),
        version=__version__,
    )


def _verdict(verdict: Verdict) -> dict[str, Any]:
    """The decision and its checks: those that stand in the way first."""
    order = ("reject", "hold", "promote")
    checks = sorted(verdict.checks, key=lambda check: order.index(check.decision))
    passed = [check for check in checks if check.decision == "promote"]
    return {
        "decision": verdict.decision,
        "meaning": MEANING[verdict.decision],
        "checks": checks[: len(checks) - len(passed)],
        "passed": passed,
    }


def _table(title: str, name: str, rows: words.Table, total: int) -> dict[str, Any]:
    """Headings and cells, each with what it is sorted by."""
    body = [[(_cut(text), _number(text)) for text in row] for row in rows[1:]]
    shown = f"The first {len(body):,} of {total:,}." if total > len(body) else ""
    return {"title": title, "id": name, "headings": rows[:1], "rows": body, "shown": shown}


def _flips(comparison: Comparison) -> dict[str, Any]:
    """The flipped examples, as far as they have room; what to filter them by."""
    table = flipped(comparison, N_FLIPS)
    total = int(comparison.outcomes.flipped.sum())
    kinds = set(table["kind"]) if "kind" in table.columns else set()
    columns = [
        [
            (_shown(column.name, value), value if column.dtype.is_numeric() else None)
            for value in column
        ]
        for column in table
    ]
    return {
        "headings": table.columns,
        "numeric": [column.dtype.is_numeric() and column.name != "id" for column in table],
        "rows": list(zip(*columns, strict=True)),
        "kinds": [kind for kind in KINDS if kind in kinds],
        "kind_at": table.columns.index("kind") if kinds else None,
        "total": total,
    }


def _shown(column: str, value: Any) -> str:
    """A cell's text."""
    if value is None:
        return "–"
    return f"{value:.4f}" if column == "confidence" else _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _number(text: str) -> float | None:
    """What a number in words is sorted by: 1,234 or 5.12%."""
    try:
        return float(text.replace(",", "").removesuffix("%"))
    except ValueError:
        return None
