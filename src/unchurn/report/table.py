"""`Table`: numbers beside their text, so that formats render it and pages sort it by number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Column:
    """A heading, and how its cells are shown."""

    heading: str
    is_text: bool = False  # aligned to the left; numbers to the right
    may_shorten: bool = False  # a narrow terminal may cut its cells
    may_go: int = 0  # narrow terminals drop columns from the highest number down; 0 never
    is_foreign: bool = False  # the heading has text of the user's data


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The text of a cell, and the number or text that it stands for."""

    text: str
    value: float | str | None = None  # for sorting, and in JSON
    # Standard deviation in parentheses; narrow terminals drop it when no column with a `may_go`
    # above `formats.SPREADS` is left.
    spread: str = ""
    is_best: bool = False
    is_foreign: bool = False  # text of the user's data, which formats must escape

    @property
    def whole(self) -> str:
        """The text with its spread."""
        return f"{self.text} {self.spread}" if self.spread else self.text


@dataclass(frozen=True, kw_only=True)
class Note:
    """A line below a table, about some of its columns or about the mark of the best."""

    text: str
    of: tuple[str, ...] = ()  # headings; if none of them is shown, the note is dropped
    explains_mark: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns and rows; the last cell of a short row, a reason, stands for the missing ones."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[Note, ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings, in order."""
        return tuple(column.heading for column in self.columns)
