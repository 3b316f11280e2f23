"""What a target is, how a command is run and held to its promises, and how tables are written."""

import contextlib
import datetime
import gzip
import io
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import typer.main
import xlsxwriter

from unchurn import cli
from unchurn.core.errors import InputError

Files = dict[str, bytes]
ALLOWED = (0, 1, 2, 3)  # done, rejected, bad input, held


class WrongError(Exception):
    """It neither crashed nor refused, and yet what came of it is wrong."""


@dataclass(frozen=True)
class Target:
    """What reads files: `call` is made in a folder that holds them, some of them spoiled."""

    name: str
    files: Files
    call: Callable[[random.Random], object]  # raises InputError or OSError for bad input
    weight: int = 10
    mend: Callable[[Files], Files] = lambda files: files  # such as checksums of what was spoiled


def command(*arguments: str) -> str:
    """Run the command line in this process, hold it to its promises; give what it printed."""
    out, err = io.StringIO(), io.StringIO()
    before, app = sys.argv, cli.app
    sys.argv = ["unchurn", *arguments]
    cli.app = _built()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.argv, cli.app = before, app
    said = err.getvalue()
    if code not in ALLOWED:
        raise WrongError(f"exit code {code}: {_last_frame(said)}")
    if left := [path.name for path in Path().iterdir() if path.name.startswith(".unchurn-")]:
        raise WrongError(f"left behind: {left}")
    if code == 2:
        if not said.startswith("unchurn: ") or said.count("\n") != 1:
            raise WrongError(f"not one line: {said[:200]!r}")
        raise InputError(said)
    return out.getvalue()


@cache
def _built() -> Any:
    """All commands; Typer builds them anew at every call, which takes longer than a case."""
    return typer.main.get_command(cli.app)


def _last_frame(trace: str) -> str:
    """Where a traceback ends and what it says: equal for equal faults."""
    lines = trace.splitlines()
    frames = [
        line.strip() for line in lines if line.strip().startswith("File ") and "unchurn" in line
    ]
    said = [line for line in lines if line and not line.startswith((" ", "unchurn:"))]
    return f"{frames[-1] if frames else ''} {said[-1][:150] if said else ''}"


@contextlib.contextmanager
def elsewhere() -> Iterator[Path]:
    """A folder to make files in, for as long as that takes."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def table_bytes(table: pl.DataFrame, suffix: str) -> bytes:
    """A table as a file of this ending; equal tables are equal bytes."""
    target = io.BytesIO()
    if suffix.endswith(".gz"):
        return gzip.compress(table_bytes(table, suffix.removesuffix(".gz")), mtime=0)
    if suffix in (".csv", ".tsv"):
        table.write_csv(target, separator="," if suffix == ".csv" else "\t")
    elif suffix == ".parquet":
        table.write_parquet(target)
    elif suffix in (".feather", ".arrow"):
        table.write_ipc(target)
    elif suffix == ".xlsx":
        with xlsxwriter.Workbook(target, {"in_memory": True}) as book:
            book.set_properties({"created": datetime.datetime(2000, 1, 1)})
            table.write_excel(book)
    else:
        table.write_ndjson(target)
    return target.getvalue()
