"""Anything that holds a table, opened: the names of its columns first, then those needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from unchurn.core.arrays import as_array
from unchurn.core.errors import InputError
from unchurn.core.files import read_table, reading
from unchurn.core.numpy_files import check_claims, check_text

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".csv", ".parquet", ".jsonl", ".ndjson", ".npz")
ARRAY = "the array"  # what the only column of an array of labels is called
PROBABILITIES = "probabilities_"  # how the columns of an array of probabilities begin
Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class Source:
    """An opened table: `names` are its columns, `read` gives those that are needed."""

    name: str  # what errors call it
    names: tuple[str, ...]
    held: pl.DataFrame | Path  # the table, or the Parquet file to read columns from
    is_array: bool = False  # of labels: one column, without a name of its own

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """The columns of these names; of a Parquet file no other is read."""
        held = self.held
        table = _read_parquet(held, columns) if isinstance(held, Path) else held.select(columns)
        if table.height == 0:
            raise InputError(f"{self.name}: has no rows")
        return table

    def in_words(self) -> str:
        """Which columns there are, for an error."""
        return "it is an array" if self.is_array else f"there are {', '.join(self.names)}"


def open_source(source: Any, name: str) -> Source:
    """Open a file's path, a Polars or pandas frame, labels (n,) or probabilities (n, classes)."""
    import polars as pl

    if isinstance(source, str | Path):
        path = Path(source)
        if path.suffix.lower() == ".parquet":
            names = _guarded(path, lambda: tuple(pl.read_parquet_schema(path)))
            return Source(name=name, names=names, held=path)
        table = _read(path)
    elif isinstance(source, pl.DataFrame):
        table = source
    elif hasattr(source, "columns") and hasattr(source, "iloc"):  # a pandas frame
        table = pl.DataFrame({str(c): as_series(source[c]) for c in source.columns})
    else:
        table = _of_array(source, name)
    names = tuple(table.columns)
    return Source(name=name, names=names, held=table, is_array=names == (ARRAY,))


def _of_array(source: Any, name: str) -> pl.DataFrame:
    """Labels as one column, probabilities as a column for each class."""
    import polars as pl

    array = as_array(source, name)
    if array.ndim == 1:
        return pl.DataFrame({ARRAY: as_series(source)})
    if array.ndim == 2 and array.dtype.kind == "f":
        return pl.DataFrame({f"{PROBABILITIES}{i}": array[:, i] for i in range(array.shape[1])})
    raise InputError(
        f"{name}: must be labels (n,) or probabilities (n, classes), not {array.shape}"
    )


def as_series(values: Any) -> pl.Series:
    """A list, an array or a pandas Series as a Polars series; NaN among other things is a gap."""
    import polars as pl

    array = as_array(values, "an array")
    if array.ndim != 1:
        raise InputError(f"one value per example is needed, not an array of shape {array.shape}")
    if array.dtype.kind != "O":
        return pl.Series(array, strict=False)
    return pl.Series([None if _is_gap(value) else value for value in array], strict=False)


def _is_gap(value: Any) -> bool:
    """Whether it is None, NaN, or what pandas has for them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def _read_parquet(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Some columns of a file."""
    import polars as pl

    return _guarded(path, lambda: pl.read_parquet(path, columns=list(columns), glob=False))


def _guarded(path: Path, read: Callable[[], Found]) -> Found:
    """What `read` gives; a damaged file is an error of one line."""
    import polars as pl

    with reading(path, "a file of predictions"):
        try:
            return read()
        except pl.exceptions.PanicException as error:  # no Exception: Rust gave up
            raise InputError(f"{path}: damaged") from error


def _read(path: Path) -> pl.DataFrame:
    """A table from a file of any of the kinds."""
    import polars as pl

    suffix = path.suffix.lower()
    if suffix not in SUFFIXES and not path.is_dir():
        raise InputError(f"{path}: the name must end in {', '.join(SUFFIXES)}")
    with reading(path, "a file of predictions"):
        if suffix in (".jsonl", ".ndjson"):
            if path.stat().st_size == 0:
                raise InputError(f"{path}: is empty")
            with path.open("rb") as file:  # a path would be taken for a pattern
                return pl.read_ndjson(file, infer_schema_length=None)
        if suffix == ".npz":
            return _read_npz(path)
        return _stripped(read_table(path))


def _stripped(table: pl.DataFrame) -> pl.DataFrame:
    """Names and text without the spaces that some put behind a CSV's commas."""
    import polars as pl

    names = [name.strip() for name in table.columns]
    if names == table.columns or len(set(names)) < len(names):
        return table
    table.columns = names
    return table.with_columns(pl.col(pl.String).str.strip_chars())


def _read_npz(path: Path) -> pl.DataFrame:
    """Arrays of one dimension as columns; of two, a column per class, named by `classes`."""
    import polars as pl

    columns: dict[str, Any] = {}
    check_claims(path)
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        classes = None
        if "classes" in arrays:
            classes = [str(c) for c in check_text(arrays["classes"], "classes")]
        for name in arrays.files:
            array = check_text(arrays[name], name)
            if name == "classes":
                continue
            if array.ndim == 2:
                names = classes or [str(i) for i in range(array.shape[1])]
                if len(names) != array.shape[1]:
                    raise InputError(
                        f"{path}: {len(names)} classes for {array.shape[1]} columns of {name}"
                    )
                prefix = name if name.endswith("_") else f"{name}_"
                columns |= {f"{prefix}{c}": array[:, i] for i, c in enumerate(names)}
            elif array.ndim == 1:
                columns[name] = as_series(array)
            else:
                raise InputError(f"{path}: {name} has {array.ndim} dimensions; 1 or 2 are allowed")
    sizes = {len(column) for column in columns.values()}
    if len(sizes) > 1:
        raise InputError(f"{path}: arrays of different lengths: {sorted(sizes)}")
    return pl.DataFrame(columns)
