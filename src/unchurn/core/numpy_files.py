"""Read and write NumPy files safely: headers are checked, and write errors name their cause.

NumPy allocates the memory that a header claims before it reads, and a small archive may claim
gigabytes. Nothing is ever unpickled.
"""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from unchurn.core.arrays import Array, is_unicode
from unchurn.core.errors import InputError

DEFLATE = 1032  # times its own size: no gzip or zip file holds more
MAGIC = b"\x93NUMPY"


class _Writer:
    """A file of which NumPy sees only `write`."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write


def save_array(path: Path, array: Array) -> None:
    """Write a .npy file.

    NumPy would write into a real file without Python's `write`, and report a full disk only as so
    many bytes "requested and written".
    """
    with path.open("wb") as file:
        np.save(_Writer(file), array, allow_pickle=False)


def load_array(path: Path) -> Array:
    """The array of a .npy file."""
    check_claims(path)
    array = np.load(path, allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise ValueError("an archive, not one array")
    return array


def load_arrays(path: Path) -> dict[str, Array]:
    """The arrays of an .npz file by name."""
    check_claims(path)
    loaded = np.load(path, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        raise ValueError("one array, not an archive")
    with loaded:
        arrays = {name: loaded[name] for name in loaded.files}
    if odd := [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]:
        raise ValueError(f"{odd[0]} is not an array")  # other members come as bytes
    return arrays


def check_claims(path: Path) -> None:
    """Refuse a .npy or .npz file that claims more than it can hold; other files pass.

    It raises ValueError, as NumPy does for a damaged file: `core.files.reading` names the file.
    Python objects, which would have to be unpickled, are refused by InputError with the fix.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        magic = file.read(len(MAGIC))
        file.seek(0)
        if magic == MAGIC:
            _check_header(file, size, path, "its header")
        elif magic[:2] == b"PK":
            _check_archive(file, size, path)


def check_text(array: Array, name: str) -> Array:
    """Return the array; ValueError if it is text that is not Unicode, as after damage."""
    if not is_unicode(array):
        raise ValueError(f"{name} holds text beyond Unicode")
    return array


def _check_archive(file: IO[bytes], size: int, path: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        for member in members:
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{member.filename} is compressed as NumPy never does")
        claimed = sum(member.file_size for member in members)
        if claimed > DEFLATE * size:
            raise ValueError(f"claims {claimed:,} bytes, more than {size:,} can hold")
        for member in members:
            with archive.open(member) as inner:
                if inner.read(len(MAGIC)) == MAGIC:
                    inner.seek(0)
                    _check_header(inner, member.file_size, path, member.filename)


def _check_header(file: IO[bytes], size: int, path: Path, name: str) -> None:
    """Check a header's shape and type against the number of bytes that follow it."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else (
        np.lib.format.read_array_header_2_0
    )  # fmt: skip
    shape, _, dtype = read(file)
    if dtype.hasobject:
        array = name.removesuffix(".npy") if name.endswith(".npy") else "the array"
        raise InputError(
            f"{path}: {array} holds Python objects, which are never read: save it as text, "
            ".astype(str), or as numbers"
        )
    claimed = math.prod(shape) * max(dtype.itemsize, 1)  # text of no length takes no bytes at all
    if claimed > size - file.tell():
        raise ValueError(
            f"{name} claims {claimed:,} bytes of array where {max(size - file.tell(), 0):,} are"
        )
