"""Read and write tables: text in many forms, Parquet, Arrow, workbooks; errors name the fix."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from unchurn.core.arrow_files import ARROW, read_arrow
from unchurn.core.errors import InputError
from unchurn.core.files import atomic_write, reading
from unchurn.core.frames import refuse_twice
from unchurn.core.text_errors import odd_line
from unchurn.core.workbooks import OTHER_WORKBOOKS, WORKBOOKS, read_workbook

if TYPE_CHECKING:
    import polars as pl

NAMELESS = "column "  # followed by a number: the columns of a table without a header
DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}  # by the ending of a file's name
TEXT = tuple(ending + packed for ending in DELIMITERS for packed in ("", ".gz"))
TABLES = (*TEXT, ".parquet", *ARROW, *WORKBOOKS)  # all that `read_table` reads
# Those of TABLES that errors mention.
USUAL = (".csv", ".tsv", ".csv.gz", ".parquet", ".feather", ".arrow", ".xlsx")
# Byte-order marks and their encodings; UTF-32's comes first, as it begins like UTF-16's.
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
WRITTEN = (".parquet", ".csv", ".jsonl")  # all that `write_table` writes
ID_NAME = re.compile(r"(^|[ _-])[iI][dD]$|[a-z]I[dD]$")  # usual names of columns of ids
BEGINNING = 1 << 16  # bytes of a text from which its form is inferred
Found = TypeVar("Found")


@dataclass(frozen=True, kw_only=True)
class TextForm:
    """How a text table is written; None is inferred from the file's name and first bytes."""

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '"\r\n'
        ):
            raise InputError(
                f"delimiter= must be one character, such as ; or a tab, not {self.delimiter!r}"
            )
        if self.decimal not in (None, ".", ","):
            raise InputError(f"decimal= must be . or , and not {self.decimal!r}")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError as error:
                raise InputError(
                    f"no encoding {self.encoding!r}: there are utf-8, utf-16, latin-1, cp1252 …"
                ) from error


def ending(path: Path) -> str:
    """The ending of a file's name: `.csv`, or `.csv.gz` if it is compressed."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] == ".gz":
        return "".join(suffixes)
    return suffixes[-1] if suffixes else ""


def check_ending(path: Path, others: tuple[str, ...] = ()) -> str:
    """The ending of a file's name, if it is a table's or one of `others`; else InputError."""
    kind = ending(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder")
    if kind in OTHER_WORKBOOKS:
        raise InputError(f"{path}: is a workbook: save it as .xlsx, or the sheet as CSV")
    if kind not in (*TABLES, *others):
        raise InputError(f"{path}: the name must end in {', '.join((*USUAL, *others))}")
    return kind


def stem(path: Path) -> str:
    """A file's name without its ending."""
    return path.name[: len(path.name) - len(ending(path))]


@dataclass(frozen=True, kw_only=True)
class TextTable:
    """An opened text table: `names` are its columns, `read` gives those that are needed."""

    path: Path
    content: bytes | None  # in UTF-8, if the file is compressed or has another encoding
    names: tuple[str, ...]
    own_names: tuple[str, ...]  # their names in Polars
    has_header: bool
    delimiter: str
    decimal: str

    def read(
        self, columns: Sequence[str] | None = None, numbers: Collection[str] | None = None
    ) -> pl.DataFrame:
        """Read these columns, or all: `numbers` as floats, the others as text, such as 007.

        If a column in `numbers` holds anything else, all are read as text. If `numbers` is None,
        all rows of a column decide its type.
        """
        import polars as pl

        wanted = list(self.names if columns is None else columns)
        own = dict(zip(self.names, self.own_names, strict=True))

        def read(floats: Collection[str]) -> pl.DataFrame:
            return pl.read_csv(
                self.path if self.content is None else self.content,
                has_header=self.has_header,
                columns=[own[name] for name in wanted],
                schema_overrides={own[name]: pl.Float64 for name in floats},
                separator=self.delimiter,
                # If commas separate columns, a number with a comma is in quotes, and so text.
                decimal_comma=self.decimal == "," != self.delimiter,
                infer_schema=numbers is None,
                infer_schema_length=None,
                glob=False,
            )

        def read_floats_or_text() -> pl.DataFrame:
            try:
                return read(numbers or ())
            except pl.exceptions.ComputeError:  # NA among numbers
                return read_text()

        def read_text() -> pl.DataFrame:
            try:
                return read(())
            except pl.exceptions.ComputeError as error:
                if (problem := odd_line(self._lines(), self.delimiter, len(self.names))) is None:
                    raise
                raise InputError(f"{self.path}: {problem}") from error

        table = guarded(self.path, read_floats_or_text)
        table = table.select(own[name] for name in wanted)
        table.columns = wanted
        if self.decimal == ",":  # Polars applies it to numbers only
            number = pl.col(pl.String).str.replace(r"^(-?[0-9]+),([0-9]+)$", "${1}.${2}")
            table = table.with_columns(number)
        return table

    @property
    def header(self) -> list[str]:
        """The names as the file has them: Polars renames the second of two equal names."""
        return next(csv.reader(self._lines(), delimiter=self.delimiter)) if self.has_header else []

    def _lines(self) -> Iterator[str]:
        """The lines of the text, with their ends."""
        raw = self.path.open("rb") if self.content is None else io.BytesIO(self.content)
        with io.TextIOWrapper(raw, "utf-8-sig", errors="replace", newline="") as lines:
            yield from lines


def open_text(path: Path, form: TextForm | None = None) -> TextTable:
    """Open a .csv or .tsv file, perhaps compressed, with or without a header of names."""
    import polars as pl

    form = form or TextForm()
    with reading(path, "a table"):
        content = _in_utf8(path, form)
        if content is None:
            with path.open("rb") as file:
                beginning = file.read(BEGINNING)
        else:
            beginning = content[:BEGINNING]
        lines = beginning.decode("utf-8-sig", "replace").splitlines()
        first, second = [*lines, "", ""][:2]
        if not first.strip():
            raise InputError(f"{path}: {'its first line is' if beginning.strip() else 'is'} empty")
        delimiter = _delimiter(path, first, second, form)
        decimal = form.decimal or "."
        has_header = _is_header(first, delimiter, decimal)

    def names() -> list[str]:
        return pl.read_csv(
            path if content is None else content, has_header=has_header, separator=delimiter,
            n_rows=0 if has_header else 1, infer_schema=False, glob=False,
        ).columns  # fmt: skip

    own = tuple(guarded(path, names))
    return TextTable(
        path=path,
        content=content,
        names=own if has_header else tuple(f"{NAMELESS}{number}" for number in range(len(own))),
        own_names=own,
        has_header=has_header,
        delimiter=delimiter,
        decimal=decimal,
    )


def read_table(path: Path, form: TextForm | None = None) -> pl.DataFrame:
    """Read a whole table: text, Parquet, Arrow or a workbook, by the ending of its name."""
    import polars as pl

    kind = check_ending(path)
    if kind == ".parquet":
        return guarded(path, lambda: pl.read_parquet(path, glob=False))
    if kind in ARROW:
        return guarded(path, lambda: read_arrow(path))
    if kind in WORKBOOKS:
        return guarded(path, lambda: read_workbook(path))
    text = open_text(path, form)
    refuse_twice(text.header)
    return text.read()


def check_written(path: Path) -> str:
    """The ending of a file's name, if `write_table` can write it; else InputError."""
    if (kind := ending(path)) not in WRITTEN:
        raise InputError(f"{path}: the name must end in {', '.join(WRITTEN)}")
    return kind


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table by the ending of the file's name: all of it, or the old file stays."""
    kind = check_written(path)
    with atomic_write(path) as temporary:
        if kind == ".parquet":
            table.write_parquet(temporary)
        elif kind == ".csv":
            table.write_csv(temporary)
        else:
            table.write_ndjson(temporary)


def guarded(path: Path, read: Callable[[], Found]) -> Found:
    """Call `read`; a damaged file or another encoding is an InputError of one line."""
    import polars as pl

    with reading(path, "a table"):
        try:
            return read()
        except pl.exceptions.PanicException as error:  # a panic in Rust
            raise InputError(f"{path}: damaged") from error
        except pl.exceptions.ComputeError as error:
            if "utf-8" in str(error).lower():
                raise InputError(
                    f"{path}: is not UTF-8: give encoding= latin-1, cp1252 or what it is in"
                ) from error
            raise


def text_among_numbers(column: pl.Series) -> int | None:
    """The first row with text such as NA, or a gap, in text that is mostly numbers; else None."""
    import polars as pl

    if column.dtype != pl.String:
        return None
    odd = ~column.cast(pl.Float64, strict=False).is_finite().fill_null(value=False)
    return odd.arg_max() if 0 < odd.sum() < len(column) / 2 else None


def _in_utf8(path: Path, form: TextForm) -> bytes | None:
    """A text's content in UTF-8; None if the file itself is in UTF-8 and not compressed."""
    is_packed = ending(path).endswith(".gz")
    with path.open("rb") as file:
        start = file.read(4)
    if is_packed:
        with gzip.open(path) as packed:
            start = packed.read(4)
    marked = next((MARKS[mark] for mark in MARKS if start.startswith(mark)), None)
    encoding = form.encoding or marked
    is_utf8 = encoding is None or codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii")
    if is_utf8 and not is_packed:
        if b"\0" in start[:2]:
            raise InputError(f"{path}: is not UTF-8: give encoding= utf-16-le or utf-16-be")
        return None
    content = gzip.decompress(path.read_bytes()) if is_packed else path.read_bytes()
    if is_utf8:
        return content
    try:
        return content.decode(str(encoding)).encode("utf-8")
    except UnicodeError as error:
        raise InputError(f"{path}: is not {encoding}: give encoding= what it is in") from error


def _delimiter(path: Path, first: str, second: str, form: TextForm) -> str:
    """The delimiter: the given one, or another that fits if this file does not contain it.

    If none was given, a text of one column that another delimiter would split is refused.
    """
    usual = DELIMITERS.get(ending(path).removesuffix(".gz"), ",")
    delimiter = form.delimiter or usual
    if delimiter in first:
        return delimiter
    for other in (";", "\t", "|", ","):
        names, cells = (next(csv.reader([line], delimiter=other), []) for line in (first, second))
        if len(names) > 1 and len(cells) in (len(names), 0):
            if form.delimiter is not None:
                return other
            shown = "a tab" if other == "\t" else repr(other)
            raise InputError(f"{path}: one column: is the delimiter {shown}? Give delimiter=")
    return delimiter


def _is_header(line: str, delimiter: str, decimal: str) -> bool:
    """Whether the first line is a header: it is unless every cell is a number.

    Several cells 0, 1, 2, … are a header, too: pandas writes it for nameless columns.
    """
    cells = [cell.strip().strip('"') for cell in re.split(re.escape(delimiter), line.strip(" \r"))]
    try:
        [float(cell.replace(decimal, ".")) for cell in cells]
    except ValueError:
        return True
    return len(cells) > 1 and cells == [str(number) for number in range(len(cells))]
