"""`Source`: an opened file, frame or array; column names first, then only the columns needed."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn.comparison.inputs.given import (
    check_given,
    check_keys,
    check_once,
    is_arrow,
    wrong_shape,
)
from unchurn.core.arrays import as_array
from unchurn.core.errors import NO_NAME, InputError, unknown
from unchurn.core.frames import as_frame, as_series, is_frame
from unchurn.core.numpy_files import check_claims, load_array
from unchurn.core.tables import (
    BEGINNING,
    TEXT,
    TextForm,
    TextTable,
    check_ending,
    ending,
    guarded,
    open_text,
    read_table,
)

if TYPE_CHECKING:
    import polars as pl

OTHER_KINDS = (".json", ".jsonl", ".ndjson", ".npz", ".npy")  # besides those of tables
ARRAY = "the array"  # what the only column of an array of labels is called
PROBABILITIES = "probabilities_"  # how the columns of an array of probabilities begin
N_AT_ONCE = 8  # columns in memory at a time while a file is searched


class NoRowsError(InputError):
    """A table has columns, but no row."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """An opened table: `names` are its columns, `read` gives those that are needed."""

    name: str  # in errors
    names: tuple[str, ...]
    held: pl.DataFrame | TextTable | Path  # the table, or the Parquet file to read columns from
    is_array: bool = False  # of labels: one nameless column
    made: Mapping[str, Callable[[], pl.Series]] = field(default_factory=dict)  # derived columns
    renamed: Mapping[str, str] = field(default_factory=dict)  # original names of renamed columns

    @property
    def is_text(self) -> bool:
        """Whether it is a text file, whose columns have no types."""
        return isinstance(self.held, TextTable)

    def read(self, columns: Sequence[str], numbers: Iterable[str] = ()) -> pl.DataFrame:
        """Read only these columns; from a text file, all but `numbers` as text."""
        held, numeric = self.held, set(numbers)
        own = [column for column in columns if column not in self.made]
        if isinstance(held, TextTable):
            written = self.names[: len(held.names)]  # derived columns come last
            table = _read_text(held, written, own, numeric)
        elif isinstance(held, Path):
            table = _read_parquet(held, own)
        else:
            table = held.select(own)
        made = [self.made[column]() for column in columns if column in self.made]
        if made:
            table = (table.with_columns(made) if own else table.hstack(made)).select(columns)
        if table.height == 0:
            raise NoRowsError(f"{self.name}: has no rows")
        return table

    def columns(self, names: Sequence[str]) -> Iterator[pl.Series]:
        """Columns one by one, read N_AT_ONCE at a time so that a large file fits into memory."""
        for start in range(0, len(names), N_AT_ONCE):
            yield from self.read(names[start : start + N_AT_ONCE])

    def no_column(self, name: str) -> InputError:
        """The error that there is no column of this name."""
        if self.is_array:
            return InputError(f"{self.name}: no column {name!r}: it is an array")
        return InputError(f"{self.name}: {unknown('column', name, self.names)}")

    def in_words(self) -> str:
        """Which columns there are, for an error."""
        if self.is_array:
            return "it is an array"
        return f"there are {', '.join(name or NO_NAME for name in self.names)}"


def open_source(source: Any, name: str, form: TextForm | None = None) -> Source:
    """Open a file's path, a Polars or pandas frame, labels (n,) or probabilities (n, classes).

    A Source is returned as it is.
    """
    if isinstance(source, Source):
        return source
    if isinstance(source, str | Path):
        return _open_file(Path(source), name, form)
    check_given(source, name)
    if is_arrow(source):
        import polars as pl

        return _of_table(pl.DataFrame(pl.from_arrow(source)), name)
    return _of_table(as_frame(source) if is_frame(source) else _of_array(source, name), name)


def _of_table(table: pl.DataFrame, name: str) -> Source:
    """A source for a table in memory."""
    names = tuple(table.columns)
    return Source(name=name, names=names, held=table, is_array=names == (ARRAY,))


def _open_file(path: Path, name: str, form: TextForm | None) -> Source:
    """Open a file of any supported kind."""
    import polars as pl

    kind = check_ending(path, OTHER_KINDS)
    if kind == ".parquet":
        with path.open("rb") as file:  # of a path, Polars takes [ and * for patterns
            names = tuple(guarded(path, lambda: pl.read_parquet_schema(file)))
        return Source(name=name, names=names, held=path)
    if kind in TEXT:
        text = open_text(path, form)
        check_once(text.header, name)
        return Source(name=name, names=_stripped(text.names), held=text)
    table = guarded(path, lambda: _read(path))
    return _of_table(table, name)


def _of_array(source: Any, name: str) -> pl.DataFrame:
    """Labels as one column, probabilities as a column for each class."""
    import polars as pl

    array = as_array(source, name)
    if array.ndim == 1:
        return pl.DataFrame({ARRAY: as_series(source)})
    if array.ndim == 2 and array.dtype.kind == "f":
        return pl.DataFrame({f"{PROBABILITIES}{i}": array[:, i] for i in range(array.shape[1])})
    raise InputError(f"{name}: {wrong_shape(array)}")


def _read_parquet(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Read some columns of a Parquet file."""
    import polars as pl

    return guarded(path, lambda: pl.read_parquet(path, columns=list(columns), glob=False))


def _read(path: Path) -> pl.DataFrame:
    """Read a whole table: JSON, a NumPy file, Arrow or a workbook."""
    import polars as pl

    kind = ending(path)
    if kind == ".npz":
        return _read_npz(path)
    if kind == ".npy":
        return _of_array(load_array(path), str(path))
    if kind not in OTHER_KINDS:
        return read_table(path)
    if path.stat().st_size == 0:
        raise InputError(f"{path}: is empty")
    with path.open("rb") as file:  # a path would be taken for a pattern
        check_keys(file.read(BEGINNING), str(path))
        file.seek(0)
        if kind != ".json":
            return pl.read_ndjson(file, infer_schema_length=None)
        content = file.read().removeprefix(codecs.BOM_UTF8).strip()
    if not content.startswith(b"["):
        raise InputError(
            f"{path}: is no list of rows: pandas writes one by to_json(orient='records')"
        )
    if not content.removeprefix(b"[").removesuffix(b"]").strip():
        raise InputError(f"{path}: has no rows")
    return pl.read_json(content, infer_schema_length=None)


def _read_text(
    text: TextTable, names: Sequence[str], columns: Sequence[str], numbers: set[str]
) -> pl.DataFrame:
    """Read some columns of a text; if names had spaces around them, values are stripped, too."""
    import polars as pl

    own = dict(zip(names, text.names, strict=True))
    table = text.read([own[c] for c in columns], [own[c] for c in columns if c in numbers])
    table.columns = list(columns)
    if text.names == tuple(names):
        return table
    return table.with_columns(pl.col(pl.String).str.strip_chars())


def _stripped(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names without spaces around them, such as after a CSV's commas, if they stay distinct."""
    stripped = tuple(name.strip() for name in names)
    return names if len(set(stripped)) < len(names) else stripped


def _read_npz(path: Path) -> pl.DataFrame:
    """Arrays of one dimension as columns; of two dimensions as a column per class in `classes`."""
    import polars as pl

    columns: dict[str, Any] = {}
    check_claims(path)
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        classes = None
        if "classes" in arrays:
            classes = [str(c) for c in as_series(arrays["classes"])]
        for name in arrays.files:
            array = arrays[name]
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
