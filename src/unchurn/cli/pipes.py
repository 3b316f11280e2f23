"""Copy `-` and pipes to files: a table is read more than once, and a pipe cannot be."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

import typer

STANDARD_INPUT = ("-", "/dev/stdin")
PREFIX = "unchurn-pipe-"  # of the folder that holds a copy
COPY = re.compile(rf"(?:/[^/\s]+)*/{PREFIX}[^/\s]+/")


def from_pipe(context: typer.Context, value: Path | None) -> Path | None:
    """Copy a pipe to a CSV file that exists while the command runs; other paths stay as they are.

    Errors and answers call the copy by its name.
    """
    if value is None or context.resilient_parsing:
        return value
    is_standard = str(value) in STANDARD_INPUT
    if not is_standard and not value.is_fifo():
        return value
    if is_standard and context.meta.setdefault(__name__, value) is not value:
        context.close()  # deletes the copy: nobody else would at this point
        raise typer.BadParameter("standard input can be read only once: put one into a file")
    folder = Path(context.with_resource(tempfile.TemporaryDirectory(prefix=PREFIX)))
    copy = folder / ("standard input.csv" if is_standard else f"pipe {value.name}.csv")
    with copy.open("wb") as target:
        if is_standard:
            shutil.copyfileobj(sys.stdin.buffer, target)
        else:
            with value.open("rb") as source:
                shutil.copyfileobj(source, target)
    return copy


def without_folders(message: str) -> str:
    """The message, with the copy of a pipe called by its name alone.

    >>> without_folders("/tmp/unchurn-pipe-x1/standard input.csv: is empty")
    'standard input.csv: is empty'
    """
    return COPY.sub("", message)
