"""Read Arrow files (.feather, .arrow), after a trial in a separate process.

On a damaged file that claims too much memory, Rust aborts the process, which cannot be prevented
from inside. Run as a program (`python -m unchurn.core.arrow_files FILE`), this module only tries to
read a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unchurn.core.isolated import run_apart, work_apart

if TYPE_CHECKING:
    import polars as pl

ARROW = (".feather", ".arrow", ".ipc")
KIND = "an Arrow file"


def read_arrow(path: Path) -> pl.DataFrame:
    """Read a .feather (version 2, which is Arrow's own) or .arrow file."""
    with path.open("rb"):  # a missing or unreadable file keeps its own error
        pass
    run_apart("unchurn.core.arrow_files", str(path), kind=KIND)
    return _read(str(path))


def _read(path: str) -> pl.DataFrame:
    import polars as pl

    with Path(path).open("rb") as file:
        is_stream = not file.read(6).startswith((b"ARROW1", b"FEA1"))
        file.seek(0)
        return pl.read_ipc_stream(file.read()) if is_stream else pl.read_ipc(file)


def _try(path: str) -> None:
    _read(path)


if __name__ == "__main__":
    work_apart(_try, KIND)
