"""Ways to spoil a file: its bytes, its text, its values, or what is packed inside of it."""

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from fuzzing.base import table_bytes

# What readers stumble over, as text.
TOKENS = [
    "", "0", "-0", "-1", "1e999", "-1e-999", "nan", "NaN", "inf", "NA", "None", "null", "true",
    "TRUE", "9" * 30, "9" * 5000, "18446744073709551616", "9007199254740993", "16777217", "0.1",
    "1.0", "01", "②", "²", "١", "é", "e\u0301", "\ufeff", "\x00", "\x1b[31m", "\u202e",
    "\u2028", " ", "\t", "\r", '"', "'", ",", ";", "\\", "=1+1", "@x", "<b>", "%s", "{}", "p_",
    "p_①", "p_²", "prediction", "id", "id ", "label", "../x", "/dev/null", "1970-01-01", "0x10",
    "1_000", "[" * 50, "{" * 50, "[" * 3000, "a=" * 300, "\ud7ff", "𝔸", "�", "column 0",
    "Unnamed: 0", "__index_level_0__", "probabilities_0",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**64, -(2**63) - 1, 10**30, 0.5, -0.0,
    1e308, 5e-324, "", "x", "control", "test", [], {}, [[]], [None], {"a": 1}, [1, "a"],
    ["a"] * 50,
]  # fmt: skip
TYPES: list[Any] = [
    pl.Int8, pl.Int64, pl.UInt64, pl.Int128, pl.Float32, pl.Float64, pl.Decimal(38, 2),
    pl.String, pl.Boolean, pl.Categorical, pl.Date, pl.Datetime("us", "UTC"), pl.Duration("ms"),
    pl.Time, pl.Binary, pl.List(pl.Int64), pl.Null, pl.Object,
]  # fmt: skip


def mutate(content: bytes, name: str, rng: random.Random) -> bytes:
    """Spoil a file once, in a way that its kind allows; its bytes in any."""
    ways: list[Callable[[bytes, random.Random], bytes]] = [spoil_bytes]
    suffix = Path(name).suffix
    if suffix in (".csv", ".tsv", ".jsonl", ".json", ".toml", ".txt", ".arff"):
        ways += [spoil_text, spoil_text]
    if suffix == ".json":
        ways += [spoil_json] * 4
    if suffix == ".gz":
        ways += [_within_gzip] * 3
    if suffix in (".npz", ".zip", ".xlsx"):
        ways += [_within_zip] * 3
    if suffix == ".xlsx":
        ways += [_within_zip_text] * 3
    if suffix == ".safetensors":
        ways += [_within_header] * 3
    if suffix in (".npy", ".npz"):
        ways += [_spoil_header if suffix == ".npy" else _within_zip_header]
    if suffix in (".csv", ".tsv", ".parquet", ".jsonl", ".feather"):
        ways += [lambda raw, rng: spoil_table(raw, suffix, rng)] * 3
    return rng.choice(ways)(content, rng)


def spoil_bytes(content: bytes, rng: random.Random) -> bytes:
    """Flip, cut, repeat, insert, blank or reverse some bytes."""
    data = bytearray(content)
    place = rng.randrange(len(data) + 1)
    length = min(rng.choice((1, 1, 2, 4, 8, 64, 512)), len(data) - place)
    match rng.randrange(8):
        case 0 if data:
            for _ in range(rng.choice((1, 1, 1, 3, 10))):
                data[rng.randrange(len(data))] = rng.randrange(256)
        case 1 if data:
            where = rng.randrange(len(data))
            data[where] ^= 1 << rng.randrange(8)
        case 2:
            del data[place:]
        case 3:
            del data[place : place + length]
        case 4:
            data[place:place] = data[place : place + length] * rng.choice((1, 2, 50))
        case 5:
            data[place:place] = rng.choice(TOKENS).encode("utf-8", "surrogatepass")
        case 6:
            number = rng.choice((0, 1, 2**7, 2**8 - 1, 2**15, 2**31 - 1, 2**31, 2**32 - 1))
            data[place : place + 4] = number.to_bytes(4, rng.choice(("little", "big")))
        case _:
            data[place : place + length] = bytes(length)
    return bytes(data)


def spoil_text(content: bytes, rng: random.Random) -> bytes:
    """Replace a word, or repeat, drop or swap lines; or write it all in another encoding."""
    text = content.decode("utf-8", "replace")
    lines = text.split("\n")
    match rng.randrange(7):
        case 0 | 1 | 2:
            row = rng.randrange(len(lines))
            separator = rng.choice((",", " ", '"', "=", ":", "<", ">"))
            cells = lines[row].split(separator)
            cells[rng.randrange(len(cells))] = rng.choice(TOKENS)
            lines[row] = separator.join(cells)
        case 3:
            row = rng.randrange(len(lines))
            lines[row:row] = [lines[row]] * rng.choice((1, 2, 100))
        case 4:
            del lines[rng.randrange(len(lines))]
        case 5:
            rng.shuffle(lines)
        case _:
            encoding = rng.choice(("utf-16", "latin-1", "utf-8-sig", "utf-32", "cp037"))
            return text.encode(encoding, "replace")
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def spoil_json(content: bytes, rng: random.Random) -> bytes:
    """Replace, drop or repeat a value somewhere in a JSON file."""
    try:
        root = json.loads(content)
    except (ValueError, RecursionError):  # spoiled before
        return spoil_text(content, rng)
    if not isinstance(root, dict | list):
        return spoil_text(content, rng)
    places: list[tuple[Any, Any]] = []
    stack = [root]
    while stack:
        outer = stack.pop()
        keys = list(outer) if isinstance(outer, dict) else range(len(outer))
        for key in keys:
            places.append((outer, key))
            if isinstance(outer[key], dict | list):
                stack.append(outer[key])
    if not places:
        return spoil_text(content, rng)
    outer, key = rng.choice(places)
    match rng.randrange(5):
        case 0:
            del outer[key]
        case 1 if isinstance(outer, list):
            outer.insert(key, outer[key])
        case 2:
            outer[key] = rng.choice(TOKENS)
        case _:
            outer[key] = rng.choice(VALUES)
    return json.dumps(root).encode("utf-8", "surrogatepass")


def spoil_table(content: bytes, suffix: str, rng: random.Random) -> bytes:
    """Write a table with a column of another type, name or value."""
    try:
        table = _read(content, suffix)
        column = rng.choice(table.columns)
        match rng.randrange(5):
            case 0 | 1:
                table = table.with_columns(pl.col(column).cast(rng.choice(TYPES), strict=False))
            case 2:
                table = table.rename({column: rng.choice(TOKENS)})
            case 3:
                values = table[column].cast(pl.String, strict=False).to_list()
                values[rng.randrange(len(values))] = rng.choice(TOKENS)
                table = table.with_columns(pl.Series(column, values))
            case _:
                table = rng.choice(
                    (table.clear(), table.drop(column), table.head(1), table.reverse())
                )
        return table_bytes(table, suffix)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, TypeError, OSError,
            IndexError, OverflowError):  # fmt: skip
        return spoil_bytes(content, rng)  # no table any more, or none of these types can be written


def _read(content: bytes, suffix: str) -> pl.DataFrame:
    source = io.BytesIO(content)
    if suffix in (".csv", ".tsv"):
        return pl.read_csv(source, separator="," if suffix == ".csv" else "\t")
    if suffix == ".feather":
        return pl.read_ipc(source)
    return pl.read_parquet(source) if suffix == ".parquet" else pl.read_ndjson(source)


def _within_gzip(content: bytes, rng: random.Random) -> bytes:
    """Spoil what is packed, and pack it anew, so that its checksum is right."""
    try:
        return gzip.compress(spoil_bytes(gzip.decompress(content), rng), 1, mtime=0)
    except Exception:  # it is not packed any more
        return spoil_bytes(content, rng)


def _within_header(content: bytes, rng: random.Random) -> bytes:
    """Spoil what a model's header says of it, as JSON in JSON, and mend the header's length."""
    try:
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        about = header["__metadata__"]["unchurn"]
        header["__metadata__"]["unchurn"] = spoil_json(about.encode(), rng).decode()
        written = json.dumps(header).encode()
        return len(written).to_bytes(8, "little") + written + content[8 + size :]
    except (ValueError, KeyError, TypeError, RecursionError):  # it is no header any more
        return spoil_bytes(content, rng)


def _within_zip(content: bytes, rng: random.Random) -> bytes:
    return _repacked(content, rng, spoil_bytes)


def _within_zip_text(content: bytes, rng: random.Random) -> bytes:
    return _repacked(content, rng, spoil_text)


def _within_zip_header(content: bytes, rng: random.Random) -> bytes:
    return _repacked(content, rng, _spoil_header)


def _repacked(
    content: bytes, rng: random.Random, spoil: Callable[[bytes, random.Random], bytes]
) -> bytes:
    """Spoil, drop or rename one of an archive's members; pack it anew."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = rng.choice(list(members))
        match rng.randrange(6):
            case 0:
                del members[name]
            case 1:
                members[rng.choice(("x.npy", "classes.npy", "labels/test.npy", "é"))] = members[
                    name
                ]
            case _:
                members[name] = spoil(members[name], rng)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, member in members.items():
                archive.writestr(zipfile.ZipInfo(name), member)
        return packed.getvalue()
    except Exception:  # it is no archive any more
        return spoil_bytes(content, rng)


def _spoil_header(content: bytes, rng: random.Random) -> bytes:
    """Have a .npy file say that it is of another type or shape."""
    begin, end = content.find(b"{"), content.find(b"}")
    if begin < 0 or end < begin:
        return spoil_bytes(content, rng)
    descr = rng.choice(("<f8", "<f4", "<i8", "|u1", "|b1", "<U1", "<U0", "|O", "<c16", "<M8[s]",
                        ">i4", "<f2", "|V8", "|S3", "<m8[ns]"))  # fmt: skip
    shape = rng.choice(("()", "(0,)", "(5,)", "(-1,)", "(3, 4)", "(2, 3, 4)", f"({10**12},)",
                        f"({2**63},)", "(1, 1, 1, 1)", "(True,)"))  # fmt: skip
    header = f"{{'descr': '{descr}', 'fortran_order': {rng.random() < 0.2}, 'shape': {shape}, }}"
    room = content.find(b"\n", end) - begin
    return content[:begin] + header.encode().ljust(room)[: max(room, 0)] + content[begin + room :]
