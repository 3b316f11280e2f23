"""How arguments are parsed where Typer has no way of its own."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import typer
from typer.core import TyperCommand


class FilesAfter(TyperCommand):
    """A command whose --retrains takes all files that follow it, up to the next option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Write the option before each of them, as the parser wants it."""
        before = list(takewhile(lambda word: word != "--retrains", args))
        files = list(takewhile(lambda word: not word.startswith("--"), args[len(before) + 1 :]))
        if len(files) > 1:
            after = args[len(before) + 1 + len(files) :]
            spread = [word for file in files for word in ("--retrains", file)]
            args = [*before, *spread, *after]
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            if len(files) < 2 or "Missing argument" not in error.format_message():
                raise
            reason = "all files after --retrains are retrainings: put the two to compare before it."
            raise typer.BadParameter(reason, ctx) from error
