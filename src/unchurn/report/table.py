"""`Table`: numbers beside their text, so that formats render it and pages sort it by number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Column:
    """A heading, and how its cells are set."""

    heading: str
    is_text: bool = False  # set to the left; numbers stand to the right
    may_shorten: bool = False  # a narrow terminal may cut its cells
    may_go: int = 0  # a narrow terminal goes without it, the higher the sooner; 0: never
    is_foreign: bool = False  # a heading with text of the user's data


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What is shown, and the number or text that it stands for."""

    text: str
    value: float | str | None = None  # what it is sorted by, and what JSON has
    spread: str = ""  # a deviation behind it: a narrow terminal goes without after SPREADS columns
    is_best: bool = False
    is_foreign: bool = False  # text of the user's data, which a format must not take for its own

    @property
    def whole(self) -> str:
        """The text with its spread."""
        return f"{self.text} {self.spread}" if self.spread else self.text


@dataclass(frozen=True, kw_only=True)
class Note:
    """A line below a table: of some of its columns, or saying what the mark of the best means."""

    text: str
    of: tuple[str, ...] = ()  # headings: where none of them is shown, nor is the note
    explains_mark: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns and rows; the last cell of a short row, a reason, stands for all that it lacks."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[Note, ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings, in order."""
        return tuple(column.heading for column in self.columns)
