"""`unchurn data`: list the datasets, and download them."""

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
    help="List the paper's datasets, and download those that are not here yet.",
    cls=Group,
    epilog=examples("data"),
)


@app.command("list", cls=Command, epilog=examples("list"))
def list_() -> None:
    """List every dataset: its size, the files it needs, and whether they are here."""
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
            help="Names of the datasets.", metavar="NAME…", autocompletion=one_of(DATASETS)
        ),
    ],
) -> None:
    """Download and verify a dataset's files into the cache; resumes a broken download."""
    from unchurn.datasets import source
    from unchurn.datasets.find import needs_none, obtain

    for known in [source(name) for name in names]:  # checks all names before any download
        if needs_none(known):
            typer.echo(f"{known.name}: needs no files")
            continue
        for file in known.files:
            (path,), notes = obtain([file], None)
            typer.echo(f"{known.name}: {path}")
            for note in notes:
                typer.echo(f"note: {note}")


def _needs(source: Source) -> str:
    """The number and size of the files."""
    if source.is_embedded or not source.files:
        return "nothing"
    n, size = len(source.files), sum(file.size for file in source.files)
    return f"{n} file{'s' if n > 1 else ''}, {size / 1e6:,.{0 if size >= 1e6 else 1}f} MB"
