"""The consoles that commands print to."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

IN_A_PIPE = 1000  # columns: wide enough that no line is broken and no table is cut


def make_console() -> Console:
    """A console that prints text as it is, without markup or line breaks of its own."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, markup=False, emoji=False)


def table_width(console: Console) -> int | None:
    """The width for tables: the terminal's, or COLUMNS; None, without limit, in a pipe.

    Rich assumes a width of 80 for a pipe, and would drop columns for no reason.
    """
    is_told = os.environ.get("COLUMNS", "").isdigit()
    return console.width if is_told or console.file.isatty() else None


def make_patient_console() -> Console:
    """A console for tables; a reader that closes the pipe, such as `head`, changes no exit code."""
    from rich.console import Console

    class Patient(Console):
        """Keeps going if its reader has gone."""

        def on_broken_pipe(self) -> None:
            with suppress(SystemExit):
                super().on_broken_pipe()

    made = Patient(highlight=False)
    if table_width(made) is None:
        made.width = IN_A_PIPE
    return made
