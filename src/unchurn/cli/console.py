"""The consoles on which commands print."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

IN_A_PIPE = 1000  # columns: no line is broken, and no table is cut


def make_console() -> Console:
    """A console that prints text as it is: nothing in it is markup, and no line is broken."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, markup=False, emoji=False)


def table_width(console: Console) -> int | None:
    """How wide a table may be: as the terminal, or as COLUMNS says; in a pipe it is whole.

    A pipe has no width: Rich takes 80 for it, and columns would have to go for nothing.
    """
    is_told = os.environ.get("COLUMNS", "").isdigit()
    return console.width if is_told or console.file.isatty() else None


def make_patient_console() -> Console:
    """A console for tables; a reader that has seen enough, such as `head`, changes no verdict."""
    from rich.console import Console

    class Patient(Console):
        """Goes on where its reader has left."""

        def on_broken_pipe(self) -> None:
            with suppress(SystemExit):
                super().on_broken_pipe()

    made = Patient(highlight=False)
    if table_width(made) is None:
        made.width = IN_A_PIPE
    return made
