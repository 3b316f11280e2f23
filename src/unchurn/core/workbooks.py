"""Read workbooks (.xlsx) in a separate process with little memory.

A small workbook may unpack to gigabytes, or have a cell at the far end of the sheet, so that its
reader allocates all cells before it. The system then refuses memory, and only that process ends.

Run as a program (`python -m unchurn.core.workbooks FILE FOLDER`), this module writes the sheet into
a folder; `read_workbook` runs it and reads the sheet from there.
"""

from __future__ import annotations

import os
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unchurn.core.errors import InputError
from unchurn.core.extras import what_is_missing
from unchurn.core.frames import refuse_twice
from unchurn.core.isolated import run_apart, work_apart
from unchurn.core.leftovers import temporary_folder

if TYPE_CHECKING:
    import polars as pl

WORKBOOKS = (".xlsx", ".xlsm")
OTHER_WORKBOOKS = (".xls", ".xlsb", ".ods")
KIND = "an Excel workbook"
READER = "fastexcel"
PACKED = 200  # allowed ratio of unpacked to packed size: XML has ten to fifty
SMALL = 16 << 20  # bytes that any workbook may unpack to
MEMORY, MEMORY_FOR_A_BYTE = 1 << 30, 64  # of the process: at least, and per byte of the file
OLD = b"\xd0\xcf\x11\xe0"  # first bytes of workbooks before .xlsx, and of those with a password
EXACT = 2**53  # from here on a cell's number, which is a float, may have lost digits
NAMELESS = "__UNNAMED__"  # followed by a number: the reader's name of a nameless column
TABLE = "table.arrow"


def read_workbook(path: Path) -> pl.DataFrame:
    """Read the only sheet that is not empty; any failure is an InputError.

    Its first row names the columns, unless all of its cells are numbers. As in a CSV file, the
    first nameless column is called "" and the others "_duplicated_0" and so on.
    """
    import polars as pl

    if find_spec(READER) is None:
        absent = ModuleNotFoundError(name=READER)
        raise InputError(str(what_is_missing(absent, f"{path}: a workbook")))
    _check_claims(path)
    with temporary_folder() as folder:
        run_apart("unchurn.core.workbooks", str(path), str(folder), kind=KIND)
        with (folder / TABLE).open("rb") as file:  # read, not mapped: it is gone before it is used
            return pl.read_ipc(file)


def _check_claims(path: Path) -> None:
    """Refuse a workbook that claims to hold more than any real one of its size."""
    size = path.stat().st_size
    try:
        with zipfile.ZipFile(path) as archive:
            claimed = sum(member.file_size for member in archive.infolist())
    except zipfile.BadZipFile as error:
        with path.open("rb") as file:
            is_old = file.read(len(OLD)) == OLD
        if is_old:
            raise InputError(f"{path}: has a password, or is an old .xls: save it anew") from error
        raise InputError(f"{path}: damaged, or not {KIND}") from error
    if claimed > max(PACKED * size, SMALL):
        raise InputError(f"{path}: claims {claimed:,} bytes, more than {size:,} can hold")


def _copy_sheet(path: str, folder: str) -> None:
    """Read a workbook's sheet and write it into a folder."""
    _limit_memory(MEMORY + MEMORY_FOR_A_BYTE * Path(path).stat().st_size)
    table = _read_sheet(path, has_header=True)
    if _are_numbers(table.columns):
        table = _read_sheet(path, has_header=False)
    elif _seem_renumbered(table.columns):
        refuse_twice(_first_row(path))
    _as_in_a_csv(table).write_ipc(Path(folder) / TABLE)


def _limit_memory(size: int) -> None:
    """Limit the memory of this process, if the system can."""
    os.environ["POLARS_MAX_THREADS"] = "1"  # each takes memory, and the reader uses only one
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (size, size))  # not reserved, unused addresses


def _read_sheet(path: str, *, has_header: bool, **options: Any) -> pl.DataFrame:
    """The only sheet that is not empty; InputError if there is none, or several."""
    import polars as pl

    sheets = pl.read_excel(
        path, engine="calamine", sheet_id=0, has_header=has_header, infer_schema_length=None,
        drop_empty_rows=False, drop_empty_cols=False, raise_if_empty=False,
        read_options=options,
    )  # fmt: skip
    filled = {name: sheet for name, sheet in sheets.items() if sheet.width}
    if len(filled) > 1:
        named = ", ".join(filled)
        raise InputError(f"several of its sheets hold something ({named}): leave one, or save CSV")
    if not filled:
        raise InputError("none of its sheets holds anything")
    return next(iter(filled.values()))


def _as_in_a_csv(table: pl.DataFrame) -> pl.DataFrame:
    """Name nameless columns as in a CSV file, and make large integers floats, as they were."""
    import polars as pl

    nameless = [name for name in table.columns if name.startswith(NAMELESS)]
    names = ["", *(f"_duplicated_{number}" for number in range(len(nameless)))]
    table = table.rename(dict(zip(nameless, names, strict=False)))
    whole = [column for column in table if column.dtype.is_integer()]
    rounded = [column.name for column in whole if (column.abs() >= EXACT).any()]
    return table.with_columns(pl.col(rounded).cast(pl.Float64))


def _seem_renumbered(names: list[str]) -> bool:
    """Whether the reader may have renamed a column: it calls the second `label` `label_1`."""
    return any(name.rpartition("_")[0] in names for name in names)


def _first_row(path: str) -> list[str]:
    """The names of the columns as they are written; those of nameless ones are empty."""
    row = _read_sheet(path, has_header=False, n_rows=1, dtypes="string").row(0)
    return [name or "" for name in row]


def _are_numbers(names: list[str]) -> bool:
    """Whether a first row is all numbers, other than pandas' 0, 1, 2 … for nameless columns."""
    try:
        [float(name) for name in names]  # the second 0.5 is called 0.5_1, which is a number, too
    except ValueError:
        return False
    return names != [str(number) for number in range(len(names))]


if __name__ == "__main__":
    work_apart(_copy_sheet, KIND)
