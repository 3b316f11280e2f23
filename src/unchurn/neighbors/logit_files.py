"""The files of `unchurn smooth`: read logits and labels, write soft targets.

Files are NumPy's .npy and .npz, or tables. Nothing is ever unpickled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unchurn.core.arrays import Array, IntArray, as_classes, as_labels
from unchurn.core.errors import InputError
from unchurn.core.files import atomic_write, check_place, reading
from unchurn.core.numpy_files import check_claims, check_text, save_array
from unchurn.core.tables import NAMELESS, TextForm, check_ending, read_table, text_among_numbers

NUMPY = (".npy", ".npz")
SUFFIXES = (*NUMPY, ".csv", ".parquet")  # of output files
# Columns that are in a table of logits by mistake; the one without a name is pandas' index.
NOT_LOGITS = ("", "unnamed: 0", "id", "index", "row", "label", "labels", "target")


@dataclass(frozen=True)
class LabelledLogits:
    """(n, L) logits, n class numbers, and the names of the L classes."""

    logits: Array
    labels: IntArray
    classes: tuple[str, ...]


def read_logits_and_labels(
    logits_path: Path, labels_path: Path, form: TextForm | None = None
) -> LabelledLogits:
    """Read both files and find the column of logits that each label means.

    Integer labels are column numbers. Other labels are looked up among the names of the columns of
    logits. If these do not contain them, labels are numbered in sorted order, one for each column.
    """
    logits, names = _read_logits(logits_path, form)
    raw = _read_labels(labels_path, len(logits), form)
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
    """Write an (n, L) array with named columns; a .npy file cannot hold the names."""
    import polars as pl

    suffix = check_suffix(path)
    with atomic_write(path) as temporary:
        if suffix == ".npy":
            save_array(temporary, array)
        elif suffix == ".npz":
            with temporary.open("wb") as file:
                np.savez(file, targets=array, classes=np.array(names))
        else:
            table = pl.DataFrame(array, schema=list(names))
            if suffix == ".csv":
                table.write_csv(temporary)
            else:
                table.write_parquet(temporary)


def read_columns(
    path: Path, wanted: Sequence[str], form: TextForm | None = None
) -> tuple[Array, tuple[str, ...] | None]:
    """Read a file's array, and the names of its columns if it has any.

    From an archive or a table with several parts, the part with a `wanted` name is read. A table
    without such a column is read whole.
    """
    if check_ending(path, NUMPY) in NUMPY:
        return _read_numpy(path, wanted), None
    table = read_table(path, form)
    if (name := next((name for name in wanted if name in table.columns), None)) is not None:
        table = table.select(name)
    for column in table:
        if column.null_count():
            raise InputError(f"{path}: missing values in {column.name}")
        if (row := text_among_numbers(column)) is not None:
            raise InputError(f"{path}: {column.name} has {column[row]!r} in row {row}")
    with reading(path, "a table of numbers or labels"):  # some types have no NumPy equivalent
        array = table[:, 0].to_numpy() if table.width == 1 else table.to_numpy()
    return array, tuple(table.columns)


def _read_logits(path: Path, form: TextForm | None) -> tuple[Array, tuple[str, ...] | None]:
    """(n, L) finite logits, and the names of their columns if the file has any."""
    logits, names = read_columns(path, ["logits"], form)
    if odd := [name for name in names or () if name.lower() in NOT_LOGITS]:
        raise InputError(f"{path}: column {odd[0]!r} does not look like logits: drop it")
    if logits.ndim == 1:
        logits = logits[:, None]
    if logits.ndim != 2 or logits.dtype.kind not in "fiu":
        raise InputError(
            f"{path}: logits must be a table of numbers, (n, L), "
            f"not {logits.shape} of {logits.dtype}"
        )
    if names == (f"{NAMELESS}0",) and logits[0, 0] == 0:
        raise InputError(f"{path}: is the 0 in its first line a name? Name the column")
    finite = np.isfinite(logits).all(axis=1)
    if not finite.all():
        raise InputError(f"{path}: row {finite.argmin()} holds NaN or infinity")
    return logits, names


def _read_labels(path: Path, n_logits: int, form: TextForm | None) -> Array:
    """The column of labels, as in the file."""
    labels, names = read_columns(path, ["label", "labels"], form)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        which = f" ({', '.join(names)}): call the one to use label" if names else ""
        raise InputError(f"{path}: labels must be one column, not {labels.shape}{which}")
    if names == (f"{NAMELESS}0",) and len(labels) == n_logits + 1:
        raise InputError(
            f"{path}: one label more than rows of logits: name the column in the first line"
        )
    return labels


def look_like_probabilities(logits: Array) -> bool:
    """Whether all values are between 0 and 1 and every row sums to 1: then they are not logits."""
    if logits.shape[1] < 2 or logits.min() < 0 or logits.max() > 1:
        return False
    return bool(np.allclose(logits.sum(axis=1), 1, atol=1e-2))


def check_output(path: Path, others: Iterable[Path] = ()) -> None:
    """Refuse an output that could not be written, before the work is done."""
    check_suffix(path)
    check_place(path, others)


def check_suffix(path: Path) -> str:
    """The file's ending; InputError if it is none of SUFFIXES."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the name must end in {', '.join(SUFFIXES)}")
    return path.suffix.lower()


def _read_numpy(path: Path, wanted: Sequence[str]) -> Array:
    """Read .npy, or one array of .npz."""
    with reading(path, "a NumPy file"):
        check_claims(path)
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return check_text(loaded, "it")
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
            if not isinstance(array, np.ndarray):  # NumPy returns other members as bytes
                raise InputError(f"{path}: {names[0]} is not an array")
            return check_text(array, names[0])


def _classes_of(labels: Array, names: tuple[str, ...] | None, n_classes: int) -> tuple[str, ...]:
    """The names of the classes, in column order."""
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
