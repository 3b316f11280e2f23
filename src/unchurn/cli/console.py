"""The consoles on which commands print."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def make_console() -> Console:
    """A console that prints text as it is: nothing in it is markup, and no line is broken."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, markup=False, emoji=False)


def make_patient_console() -> Console:
    """A console for tables; a reader that has seen enough, such as `head`, changes no verdict."""
    from rich.console import Console

    class Patient(Console):
        """Goes on where its reader has left."""

        def on_broken_pipe(self) -> None:
            with suppress(SystemExit):
                super().on_broken_pipe()

    return Patient(highlight=False)
