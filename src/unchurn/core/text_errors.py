"""What is wrong with a table of text that cannot be read: the line, and what to do about it."""

from __future__ import annotations

import csv
from collections.abc import Iterable


def odd_line(lines: Iterable[str], delimiter: str, n_columns: int) -> str | None:
    """The first line with more columns than there are names, or whose quote is never closed."""
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
