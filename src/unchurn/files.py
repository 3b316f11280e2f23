"""Arrays and tables from and to files: .npy, .npz, .csv, .parquet. Nothing is ever unpickled."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unchurn.arrays import Array, IntArray, as_classes, as_labels
from unchurn.errors import InputError

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".npy", ".npz", ".csv", ".parquet")
NOT_LOGITS = ("id", "index", "row", "label", "labels", "target")  # columns of a table of logits


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` if the block ends well."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)  # the only way to ask for it; mkstemp ignores it and gives 0600
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def check_suffix(path: Path) -> str:
    """The file's ending, if it is one that we read and write."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the name must end in {', '.join(SUFFIXES)}")
    return path.suffix.lower()


def check_output(path: Path) -> None:
    """Refuse an output that could not be written, before the work that makes it."""
    check_suffix(path)
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {path.parent}")


def read_table(path: Path) -> pl.DataFrame:
    """Read a .csv (with or without a header of names) or .parquet file."""
    import polars as pl

    try:
        if path.suffix.lower() == ".parquet":
            return pl.read_parquet(path)
        # Every row decides a column's type, not just the first hundred.
        return pl.read_csv(path, has_header=_has_header(path), infer_schema_length=None)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {_first_line(error)}") from error


def read_columns(path: Path, wanted: Sequence[str]) -> tuple[Array, tuple[str, ...] | None]:
    """Read a file's array, and the names of its columns where it has any.

    Of an archive or a table with several parts, the one called by a `wanted` name is taken; without
    such a name a table is taken whole.
    """
    suffix = check_suffix(path)
    if suffix in (".npy", ".npz"):
        return _read_numpy(path, wanted), None
    table = read_table(path)
    if (name := next((name for name in wanted if name in table.columns), None)) is not None:
        table = table.select(name)
    gaps = [column.name for column in table if column.null_count()]
    if gaps:
        raise InputError(f"{path}: missing values in {', '.join(gaps)}")
    array = table[:, 0].to_numpy() if table.width == 1 else table.to_numpy()
    return array, tuple(table.columns)


@dataclass(frozen=True)
class LabelledLogits:
    """(n, L) logits, n class numbers, and the L classes' names."""

    logits: Array
    labels: IntArray
    classes: tuple[str, ...]


def read_logits_and_labels(logits_path: Path, labels_path: Path) -> LabelledLogits:
    """Read both files and settle which column each label stands for.

    Integer labels are column numbers. Other labels are looked up among the logits' column names,
    or, where these do not hold them, numbered in sorted order, one for each column.
    """
    logits, names = read_columns(logits_path, ["logits"])
    if odd := [name for name in names or () if name.lower() in NOT_LOGITS]:
        raise InputError(f"{logits_path}: column {odd[0]!r} does not look like logits: drop it")
    if logits.ndim == 1:
        logits = logits[:, None]
    if logits.ndim != 2 or logits.dtype.kind not in "fiu":
        raise InputError(
            f"{logits_path}: logits must be a table of numbers, (n, L), "
            f"not {logits.shape} of {logits.dtype}"
        )
    raw, columns = read_columns(labels_path, ["label", "labels"])
    if raw.ndim == 2 and raw.shape[1] == 1:
        raw = raw[:, 0]
    if raw.ndim != 1:
        which = f" ({', '.join(columns)}): call the one to use label" if columns else ""
        raise InputError(f"{labels_path}: labels must be one column, not {raw.shape}{which}")
    try:
        labels = as_labels(raw, "labels")
        n_classes = max(logits.shape[1], 2)  # a single column is the margin of a binary model
        if labels.dtype.kind == "U":
            classes = _classes_of(labels, names, n_classes)
            numbers = {name: number for number, name in enumerate(classes)}
            labels = np.array([numbers[label] for label in labels.tolist()])
        else:
            classes = tuple(str(number) for number in range(n_classes))
        return LabelledLogits(logits, as_classes(labels, n_classes, n=len(logits)), classes)
    except InputError as error:
        raise InputError(f"{labels_path}: {error}") from error


def write_columns(path: Path, array: Array, names: Sequence[str]) -> None:
    """Write an (n, L) array whose columns have names; .npy alone has no room for them."""
    import polars as pl

    suffix = check_suffix(path)
    with atomic_write(path) as temporary:
        if suffix in (".npy", ".npz"):
            with temporary.open("wb") as file:
                if suffix == ".npy":
                    np.save(file, array, allow_pickle=False)
                else:
                    np.savez(file, targets=array, classes=np.array(names))
        else:
            table = pl.DataFrame(array, schema=list(names))
            if suffix == ".csv":
                table.write_csv(temporary)
            else:
                table.write_parquet(temporary)


def _read_numpy(path: Path, wanted: Sequence[str]) -> Array:
    """Read .npy, or one array of .npz."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return loaded
        with loaded:
            names = loaded.files
            if len(names) != 1:
                found = [name for name in wanted if name in names]
                if not found:
                    raise InputError(
                        f"{path}: holds {', '.join(names) or 'no array'}; "
                        f"call the one to use {' or '.join(wanted)}"
                    )
                names = found
            array: Array = loaded[names[0]]
            return array
    except InputError:
        raise
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a NumPy file of plain numbers or strings") from error


def _has_header(path: Path) -> bool:
    """Whether the first line names the columns: it does unless every cell is a number."""
    with path.open("rb") as file:
        cells = file.readline().decode("utf-8", "replace").strip().split(",")
    try:
        [float(cell.strip('"')) for cell in cells]
    except ValueError:
        return True
    return False


def _first_line(error: Exception) -> str:
    """The first line of a library's message: ours are one line long."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _classes_of(labels: Array, names: tuple[str, ...] | None, n_classes: int) -> tuple[str, ...]:
    """The classes in column order."""
    found = sorted(set(labels.tolist()))
    if names is not None and len(names) == n_classes and set(found) <= set(names):
        return names
    if len(found) != n_classes:
        raise InputError(
            f"{len(found)} distinct labels for {n_classes} classes of logits: give integer labels, "
            "column numbers from 0, or a table of logits whose columns are named like the labels"
        )
    return tuple(found)
