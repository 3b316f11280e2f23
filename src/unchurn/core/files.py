"""Arrays and tables from and to files: .npy, .npz, .csv, .parquet. Nothing is ever unpickled."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unchurn.core.arrays import Array, IntArray, as_classes, as_labels
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".npy", ".npz", ".csv", ".parquet")
NAMELESS = "column "  # and a number: the columns of a table without a header
# Columns that stand in a table of logits by mistake; the nameless one is pandas' index.
NOT_LOGITS = ("", "unnamed: 0", "id", "index", "row", "label", "labels", "target")


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` if the block ends well.

    A link stays one: what it points to is replaced. A pipe or a device is written to.
    """
    is_special = _is_special(path)
    path = path if is_special else path.resolve()
    folder = None if is_special else path.parent
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if is_special:
            with temporary.open("rb") as source, path.open("wb") as target:
                shutil.copyfileobj(source, target)
            return
        umask = os.umask(0)  # the only way to ask for it; mkstemp ignores it and gives 0600
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Remove a file, if it is there; a link to it, a pipe and a device stay."""
    if not _is_special(path):
        path.resolve().unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    """Whether it is there, and neither a file nor a folder: a pipe, a device."""
    return path.exists() and not (path.is_file() or path.is_dir())


def safe_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula; a number stays one."""
    if not text.startswith(("=", "+", "-", "@", "\t", "\r")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def check_suffix(path: Path) -> str:
    """The file's ending, if it is one that we read and write."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the name must end in {', '.join(SUFFIXES)}")
    return path.suffix.lower()


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into one line that names the file.

    Readers raise a different type for every kind of damage; a file that is not there or not ours
    to read keeps its own error.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a folder")
    try:
        yield
    except (FileNotFoundError, PermissionError):
        raise
    except InputError as error:
        if str(path) in str(error):
            raise
        raise InputError(f"{path}: {error}") from error
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if "If you trust the file" in reason:  # NumPy's advice on what is no file of its own
            reason = "nothing in it can be read"
        raise InputError(f"{path}: damaged, or not {kind}: {reason}") from error


def check_output(path: Path, others: Iterable[Path] = ()) -> None:
    """Refuse an output that could not be written, before the work that makes it."""
    check_suffix(path)
    check_place(path, others)


def check_place(path: Path, others: Iterable[Path] = ()) -> None:
    """Refuse a place where nothing can be written, or that is one of a command's other files."""
    if path.resolve() in {other.resolve() for other in others}:
        raise InputError(f"cannot write {path}: it is another file of this command")
    if _is_special(path):
        return
    folder = path.resolve().parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {folder}")
    if path.is_dir() or not os.access(folder, os.W_OK):
        reason = "it is a folder" if path.is_dir() else f"{folder} is read-only"
        raise InputError(f"cannot write {path}: {reason}")


def read_table(path: Path) -> pl.DataFrame:
    """Read a .csv (with or without a header of names) or .parquet file."""
    import polars as pl

    with reading(path, "a table"):
        try:
            if path.suffix.lower() == ".parquet":
                return pl.read_parquet(path, glob=False)
            # Every row decides a column's type, not just the first hundred.
            header = _has_header(path)
            table = pl.read_csv(path, has_header=header, infer_schema_length=None, glob=False)
            if not header:
                table.columns = [f"{NAMELESS}{number}" for number in range(table.width)]
            return table
        except pl.exceptions.PanicException as error:  # no Exception: Rust gave up
            raise InputError(f"{path}: damaged") from error


def text_among_numbers(column: pl.Series) -> int | None:
    """The first row of text in a column that is otherwise mostly numbers: a gap written as NA."""
    import polars as pl

    if column.dtype != pl.String:
        return None
    odd = ~column.cast(pl.Float64, strict=False).is_finite().fill_null(value=False)
    return odd.arg_max() if 0 < odd.sum() < len(column) / 2 else None


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
    for column in table:
        if column.null_count():
            raise InputError(f"{path}: missing values in {column.name}")
        if (row := text_among_numbers(column)) is not None:
            raise InputError(f"{path}: {column.name} has {column[row]!r} in row {row}")
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
    if names == (f"{NAMELESS}0",) and logits[0, 0] == 0:
        raise InputError(f"{logits_path}: is the 0 in its first line a name? Name the column")
    finite = np.isfinite(logits).all(axis=1)
    if not finite.all():
        raise InputError(f"{logits_path}: row {finite.argmin()} holds NaN or infinity")
    raw, columns = read_columns(labels_path, ["label", "labels"])
    if raw.ndim == 2 and raw.shape[1] == 1:
        raw = raw[:, 0]
    if raw.ndim != 1:
        which = f" ({', '.join(columns)}): call the one to use label" if columns else ""
        raise InputError(f"{labels_path}: labels must be one column, not {raw.shape}{which}")
    if columns == (f"{NAMELESS}0",) and len(raw) == len(logits) + 1:
        raise InputError(
            f"{labels_path}: one label more than rows of logits: name the column in the first line"
        )
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
    try:
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
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"cannot write {path} (is the disk full?): {error}") from error


def _read_numpy(path: Path, wanted: Sequence[str]) -> Array:
    """Read .npy, or one array of .npz."""
    with reading(path, "a NumPy file"):
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


def _has_header(path: Path) -> bool:
    """Whether the first line names the columns: it does unless every cell is a number.

    Several cells that just count 0, 1, 2, … are the header that pandas writes for nameless columns.
    """
    with path.open("rb") as file:
        line = file.readline().decode("utf-8-sig", "replace").strip()
    cells = [cell.strip().strip('"') for cell in line.split(",")]
    if not line:
        raise InputError(f"{path}: its first line is empty")
    try:
        [float(cell) for cell in cells]
    except ValueError:
        return True
    return len(cells) > 1 and cells == [str(number) for number in range(len(cells))]


def _classes_of(labels: Array, names: tuple[str, ...] | None, n_classes: int) -> tuple[str, ...]:
    """The classes in column order."""
    found = sorted(set(labels.tolist()))
    if names is not None and len(names) == n_classes and set(found) & set(names):
        if odd := [label for label in found if label not in names]:
            raise InputError(f"{odd[0]!r} is no column of the logits: {', '.join(names)}")
        return names
    if len(found) != n_classes:
        raise InputError(
            f"{len(found)} distinct labels for {n_classes} classes of logits: give integer labels, "
            "column numbers from 0, or a table of logits whose columns are named like the labels"
        )
    return tuple(found)
