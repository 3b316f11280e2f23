"""`unchurn data`: which datasets there are, which are here, and fetching the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from unchurn.cli.completion import DATASETS, one_of
from unchurn.cli.help import Command, Group
from unchurn.cli.manual import examples

if TYPE_CHECKING:
    from unchurn.datasets import Source

app = typer.Typer(
    name="data",
    help="The paper's datasets: which are here, and fetching the rest.",
    cls=Group,
    epilog=examples("data"),
)


@app.command("list", cls=Command, epilog=examples("list"))
def list_() -> None:
    """Show every dataset: its size, what it needs, and whether that is here."""
    from rich.table import Table

    from unchurn.cli.console import make_console
    from unchurn.datasets import DATASETS
    from unchurn.datasets.find import cache_dir, data_folder, whereabouts

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading in ("name", "classes", "train", "test", "needs", "here"):
        numeric = heading in ("classes", "train", "test")
        table.add_column(heading, justify="right" if numeric else "left", no_wrap=True)
    for source in DATASETS.values():
        counts = (f"{count:,}" for count in (source.n_classes, source.n_train, source.n_test))
        table.add_row(source.name, *counts, _needs(source), whereabouts(source))
    console = make_console()
    console.print(table)
    console.print()
    folder = data_folder(None)
    console.print(f"data folder  {folder or 'none (set UNCHURN_DATA to use your own files)'}")
    console.print(f"cache        {cache_dir()}")


@app.command(cls=Command, epilog=examples("fetch"))
def fetch(
    names: Annotated[
        list[str],
        typer.Argument(
            help="Datasets to fetch, by name.", metavar="NAME…", autocompletion=one_of(DATASETS)
        ),
    ],
) -> None:
    """Download a dataset's files into the cache, verified; a broken download goes on later."""
    from unchurn.datasets import source
    from unchurn.datasets.find import needs_none, obtain

    for known in [source(name) for name in names]:  # all names are checked before any download
        if needs_none(known):
            typer.echo(f"{known.name}: needs no files")
            continue
        for file in known.files:
            (path,), notes = obtain([file], None)
            typer.echo(f"{known.name}: {path}")
            for note in notes:
                typer.echo(f"note: {note}")


def _needs(source: Source) -> str:
    """How many files of what size."""
    if source.is_embedded or not source.files:
        return "nothing"
    n, size = len(source.files), sum(file.size for file in source.files)
    return f"{n} file{'s' if n > 1 else ''}, {size / 1e6:,.{0 if size >= 1e6 else 1}f} MB"
