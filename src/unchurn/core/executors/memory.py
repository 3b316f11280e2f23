"""Share values between processes of this machine: their arrays are in one file, which all map.

The file is in memory if there is room, in a folder that is removed with its process. Pickles are
sent through a connection, never read from a file.
"""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

from unchurn.core.errors import InputError
from unchurn.core.leftovers import clear_dead, own_name

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 (of Linux; elsewhere there is none)
LEAST_MEMORY = 2_000_000_000  # bytes of it, for arrays to be put there
ALIGNED = 64  # bytes, as arrays are elsewhere


@dataclass(frozen=True)
class Parcel:
    """A pickled value and the file of its arrays, from which another process restores it."""

    pickled: bytes
    file: Path | None  # None if there are no arrays
    places: tuple[tuple[int, int], ...]  # start and end of each array in the file, in bytes

    def value(self) -> Any:
        """The value; its arrays are read-only."""
        if self.file is None:
            return pickle.loads(self.pickled)  # noqa: S301
        mapped = np.memmap(self.file, np.uint8, mode="r")
        return pickle.loads(self.pickled, buffers=[mapped[a:b] for a, b in self.places])  # noqa: S301


def pack(value: Any, folder: Path) -> Parcel:
    """Pickle a value, with its arrays in a file in a folder."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    if not any(array.nbytes for array in arrays):
        return Parcel(cloudpickle.dumps(value), None, ())
    places = []
    descriptor, name = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for array in arrays:
                file.write(bytes(-file.tell() % ALIGNED))
                places.append((file.tell(), file.tell() + array.nbytes))
                file.write(array)
    except OSError as error:
        Path(name).unlink()
        raise InputError(
            f"cannot put data for worker processes into {folder}: {error.strerror}; "
            "JOBLIB_TEMP_FOLDER may name a folder that has room"
        ) from error
    return Parcel(pickled, Path(name), tuple(places))


class Shared:
    """The handle of a value for many calls: the value itself here, a parcel in workers.

    Nothing is written before a worker needs it; the file is removed with the handle.
    """

    def __init__(self, value: Any = None, parcel: Parcel | None = None) -> None:
        self._value, self._parcel = value, parcel
        self._goes_with_us()

    @property
    def value(self) -> Any:
        """The value."""
        return self._value if self._parcel is None else self._parcel.value()

    @property
    def parcel(self) -> Parcel:
        """The parcel that a worker is given instead."""
        if self._parcel is None:
            self._parcel, self._value = pack(self._value, memory()), None
            self._goes_with_us()
        return self._parcel

    def _goes_with_us(self) -> None:
        if self._parcel is not None and self._parcel.file is not None:
            weakref.finalize(self, self._parcel.file.unlink, missing_ok=True)


def _places() -> list[Path]:
    """Folders for shared arrays, the best first: in memory, if there is room, as joblib does."""
    places = [Path(tempfile.gettempdir())]
    if SHARED_MEMORY.is_dir():
        roomy = shutil.disk_usage(SHARED_MEMORY).total >= LEAST_MEMORY
        places.insert(0 if roomy else 1, SHARED_MEMORY)
    if own := os.environ.get("JOBLIB_TEMP_FOLDER"):
        places.insert(0, Path(own))
    return places


def memory() -> Path:
    """The folder of this process for arrays that its workers share; removed at its end."""
    folder = _own_folder()
    folder.mkdir(mode=0o700, exist_ok=True)  # workers that lost the connection may have removed it
    return folder


@cache
def _own_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix=own_name(), dir=_places()[0]))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def clear_memory() -> None:
    """Remove the shared arrays of dead processes."""
    for place in _places():
        clear_dead(place)
