"""Explain why a text table cannot be read: the line, and how to fix it."""

from __future__ import annotations

import csv
from collections.abc import Iterable


def odd_line(lines: Iterable[str], delimiter: str, n_columns: int) -> str | None:
    """A message on the first line with too many columns or an unclosed quote; None if none."""
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    start = 1
    try:
        for row in rows:
            if len(row) > n_columns:
                return (
                    f"line {start} has {len(row):,} columns, the first {n_columns:,}: a text that "
                    f"holds {_shown(delimiter)} needs quotes around it"
                )
            start = rows.line_num + 1
    except csv.Error as error:
        # The rest of the file is then one field, which may be larger than any that is read.
        if "unexpected end" in str(error) or "field larger" in str(error):
            return f"the quote that is opened in line {start} is never closed"
    return None


def _shown(delimiter: str) -> str:
    return "a tab" if delimiter == "\t" else delimiter
