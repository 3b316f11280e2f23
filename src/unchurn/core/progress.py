"""Progress bars on stderr, in a terminal or a notebook, never in logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(
    description: str, total: int, *, done: int = 0, bytes_: bool = False, show: bool = True
) -> Iterator[Callable[[int], None]]:
    """Show a bar with the time left; yield the function that advances it."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    amount = DownloadColumn() if bytes_ else MofNCompleteColumn()
    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), amount, TimeRemainingColumn())
    disable = not (show and (console.is_terminal or console.is_jupyter))
    with Progress(*columns, console=console, disable=disable) as progress:
        task = progress.add_task(description, total=total, completed=done)
        yield lambda n: progress.advance(task, n)
