"""Render a `Table` as text, Markdown, LaTeX, CSV, JSON or HTML; FORMATS names the functions."""

from __future__ import annotations

import csv
import html as html_text
import io
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable

from unchurn.core.errors import InputError, unknown
from unchurn.core.files import safe_cell
from unchurn.report.names import places, shortened
from unchurn.report.table import Cell, Note, Table

GAP = "  "  # between the columns of text
SHORTEST = 12  # letters of a column that is shortened
SPREADS = 2  # columns with a higher `may_go` are dropped before the spreads, others after them
NO_WIDTH = "&#8203;"  # a zero-width space, as HTML
# Text that a forge turns into a link; a zero-width space after the match prevents it.
LINKED = re.compile(
    r"@(?=\w)|#(?=\w)|\bGH-(?=\d)|\b(?:https?|ftp):(?=//)|\bmailto:|\bxmpp:|\bwww\.", re.IGNORECASE
)


def render(table: Table, form: str) -> str:
    """Render a table in the named format."""
    if form not in FORMATS:
        raise InputError(unknown("format of table", form, FORMATS))
    return FORMATS[form](table)


def text(table: Table, width: int | None = None) -> str:
    """Aligned columns, the best marked by an asterisk.

    To fit into `width`, columns with a high `may_go` are dropped, then spreads, then others.
    """
    shown = list(range(len(table.columns)))
    with_spread = any(cell.spread for row in table.rows for cell in row)
    left_out: list[str] = []
    sizes = _sizes(table, shown, with_spread)
    while width is not None and _total(sizes) > width:
        first = max(shown, key=lambda i: (table.columns[i].may_go, i))
        if with_spread and table.columns[first].may_go <= SPREADS:
            with_spread = False
            left_out.append("sd")
        elif table.columns[first].may_go <= SPREADS and _can_shorten(table, shown, sizes, width):
            break
        elif table.columns[first].may_go:
            shown.remove(first)
            left_out.append(table.columns[first].heading)
        else:
            break
        sizes = _sizes(table, shown, with_spread)
    rows = [[*table.headings]]
    rows += [[_in_text(cell, with_spread) for cell in row] for row in table.rows]
    for i, size in zip(shown, sizes, strict=True):
        if table.columns[i].may_shorten:
            there = [row for row in rows if i < len(row)]
            for row, words in zip(there, shortened([row[i] for row in there], size), strict=True):
                row[i] = words
    lines = [_line(table, shown, sizes, row) for row in rows]
    notes = list(_notes(table, "Asterisk", left_out))
    if left_out:
        notes.append(f"Not shown for want of width: {', '.join(left_out)}.")
    wrapped = [textwrap.fill(note, width) if width else note for note in notes]
    return "\n".join([*lines, *(["", *wrapped] if wrapped else [])]) + "\n"


def markdown(table: Table) -> str:
    """A Markdown table; text from the user's data is shown literally, even `<b>` or `a|b`."""
    headings = [_text_in_markdown(c.heading, c.is_foreign) for c in table.columns]
    lines = ["| " + " | ".join(headings) + " |"]
    lines.append("|" + "".join(" --- |" if c.is_text else " ---: |" for c in table.columns))
    for row in table.rows:
        cells = [f"**{_in_markdown(c)}**" if c.is_best else _in_markdown(c) for c in row]
        lines.append("| " + " | ".join(cells + [""] * (len(table.columns) - len(row))) + " |")
    notes = [f"{html_text.escape(note, quote=False)}  " for note in _notes(table, "Bold")]
    return "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"


def latex(table: Table) -> str:
    """A LaTeX tabular (booktabs)."""
    kinds = "".join("l" if column.is_text else "r" for column in table.columns)
    lines = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule"]
    lines += [" & ".join(map(_in_latex, table.headings)) + r" \\", r"\midrule"]
    for row in table.rows:
        cells = [_in_latex(c.whole) for c in row]
        cells = [rf"\textbf{{{t}}}" if c.is_best else t for t, c in zip(cells, row, strict=True)]
        lines.append(" & ".join(cells + [""] * (len(table.columns) - len(row))) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if notes := [f"{_in_latex(note)}\\\\" for note in _notes(table, "Bold")]:
        lines += ["", r"{\footnotesize", *notes, "}"]
    return "\n".join(lines) + "\n"


def csv_(table: Table) -> str:
    """Comma-separated values, without notes, safe from spreadsheet formulas."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([safe_cell(c.heading) if c.is_foreign else c.heading for c in table.columns])
    for row in table.rows:
        cells = [safe_cell(c.whole) if c.is_foreign else c.whole for c in row]
        writer.writerow(cells + [""] * (len(table.columns) - len(row)))
    return file.getvalue()


def json_(table: Table) -> str:
    """A JSON object: "rows" of values, not text, by heading, and "notes"; NaN is null.

    A short row has null for missing cells, and a "reason".
    """
    notes = [note.text for note in table.notes if not note.explains_mark]
    rows = [_object(table.headings, row) for row in table.rows]
    return json.dumps({"rows": rows, "notes": notes}, indent=1, allow_nan=False) + "\n"


def html(table: Table, name: str = "table") -> str:
    """A sortable table element, everything escaped; `base.html` has its style and its script."""
    heads = [
        f'<th scope="col"{_class(c.is_text and "text")}>'
        + (f'<button type="button">{html_text.escape(c.heading)}</button>' if c.heading else "")
        + "</th>"
        for c in table.columns
    ]
    lines = [f'<table id="{html_text.escape(name)}" class="sortable">']
    lines += [f"<thead><tr>{''.join(heads)}</tr></thead>", "<tbody>"]
    for row in table.rows:
        cells = [_in_html(cell, table, i, len(row)) for i, cell in enumerate(row)]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</tbody>", "</table>"])


FORMATS: dict[str, Callable[[Table], str]] = {
    "text": text,
    "markdown": markdown,
    "latex": latex,
    "csv": csv_,
    "json": json_,
    "html": html,
}


def in_markdown(words: str) -> str:
    """Escape text from the user's data so that Markdown shows it literally, without links.

    A forge links `@name`, `#1` and bare URLs even if they are escaped; only a zero-width space in
    between prevents it.
    """
    words = re.sub(r"&(?=#?\w+;)", "&amp;", " ".join(visible(words).split()))  # `&lt;` is no `<`
    words = words.replace("<", "&lt;").replace(">", "&gt;")
    words = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", words)
    words = LINKED.sub(lambda found: found[0] + NO_WIDTH, words)
    return re.sub(r"#(?!8203;)", r"\#", words)


def visible(words: str) -> str:
    """Text on one line, with a space for every unprintable character."""
    return "".join(c if c.isprintable() else " " for c in words)


def notes_of(table: Table, left_out: Iterable[str] = ()) -> list[str]:
    """A table's notes for a page, where the best is bold; `left_out` are columns not shown."""
    return list(_notes(table, "Bold", left_out))


def _notes(table: Table, mark: str, left_out: Iterable[str] = ()) -> Iterable[str]:
    """The notes of a table, without those on columns that are all left out."""
    gone = set(left_out)

    def is_shown(note: Note) -> bool:
        return not note.of or not set(note.of) <= gone

    return (f"{mark}: {n.text}" if n.explains_mark else n.text for n in table.notes if is_shown(n))


def _sizes(table: Table, shown: list[int], with_spread: bool) -> list[int]:
    """Widths of the columns; short rows do not count."""
    full = [row for row in table.rows if len(row) == len(table.columns)]
    return [
        max(
            [
                places(table.columns[i].heading),
                *(places(_in_text(row[i], with_spread)) for row in full),
            ]
        )
        for i in shown
    ]


def _can_shorten(table: Table, shown: list[int], sizes: list[int], width: int) -> bool:
    """Shorten columns to fit, changing `sizes`, the last first; whether that is possible."""
    too_much = _total(sizes) - width
    may = [at for at, column in enumerate(shown) if table.columns[column].may_shorten]
    if sum(max(sizes[at] - SHORTEST, 0) for at in may) < too_much:
        return False
    for at in reversed(may):
        cut = min(max(sizes[at] - SHORTEST, 0), too_much)
        sizes[at] -= cut
        too_much -= cut
    return True


def _total(sizes: list[int]) -> int:
    return sum(sizes) + len(GAP) * (len(sizes) - 1)


def _line(table: Table, shown: list[int], sizes: list[int], cells: list[str]) -> str:
    """One line of text; the last cell of a short row is not cut."""
    padded = []
    for i, size in zip(shown, sizes, strict=True):
        if i < len(cells):
            space = " " * max(size - places(cells[i]), 0)
            padded.append(cells[i] + space if table.columns[i].is_text else space + cells[i])
    return GAP.join(padded).rstrip()


def _in_text(cell: Cell, with_spread: bool) -> str:
    """A cell on one line."""
    return visible(f"{'*' if cell.is_best else ''}{cell.whole if with_spread else cell.text}")


def _in_markdown(cell: Cell) -> str:
    return _text_in_markdown(cell.whole, cell.is_foreign)


def _text_in_markdown(words: str, is_foreign: bool) -> str:
    return in_markdown(words) if is_foreign else words.replace("|", "\\|")


def _in_latex(words: str) -> str:
    """Text with the special characters of LaTeX escaped or dropped."""
    words = re.sub(r"[\\^~]", " ", words)
    words = re.sub(r"([&%$#_{}])", r"\\\1", words)
    return words.replace("−", "$-$").replace("–", "--")


def _object(headings: tuple[str, ...], row: tuple[Cell, ...]) -> dict[str, float | str | None]:
    """A row as a JSON object."""
    if len(row) == len(headings):
        return {h: _plain(cell) for h, cell in zip(headings, row, strict=True)}
    *cells, reason = row
    filled: list[float | str | None] = [_plain(cell) for cell in cells]
    filled += [None] * (len(headings) - len(cells))
    return {**dict(zip(headings, filled, strict=True)), "reason": reason.text}


def _plain(cell: Cell) -> float | str | None:
    """A cell's value for JSON, which has neither NaN nor infinity."""
    if cell.value is None:
        return cell.text or None
    return cell.value if isinstance(cell.value, str) or math.isfinite(cell.value) else None


def _in_html(cell: Cell, table: Table, column: int, n: int) -> str:
    """A table cell with its value for sorting; the last of a short row spans the rest."""
    is_rest = column == n - 1 and n < len(table.columns)
    span = f' colspan="{len(table.columns) - column}"' if is_rest else ""
    is_known = cell.value is not None and cell.value == cell.value  # NaN alone is not itself
    value = f' data-value="{html_text.escape(str(cell.value))}"' if is_known else ""
    spread = f' <span class="sd">{html_text.escape(cell.spread)}</span>' if cell.spread else ""
    kind = _class(
        cell.is_best and "best", table.columns[column].is_text and "text", is_rest and "rest"
    )
    words = html_text.escape(cell.text)
    if table.columns[column].is_text and not cell.is_foreign:
        words = words.replace("+", "+<wbr>")  # a name of many parts has no space to break at
    return f"<td{kind}{span}{value}>{words}{spread}</td>"


def _class(*names: str | bool) -> str:
    given = " ".join(name for name in names if isinstance(name, str))
    return f' class="{given}"' if given else ""
