"""The console on which commands print."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def make_console() -> Console:
    """A console that prints text as it is: nothing in it is markup, and no line is broken."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
