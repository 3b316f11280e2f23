"""`Store`: finished runs on disk, each complete or absent.

A run is a folder named by the hash of its identity. It is written under another name and renamed
when complete, so that a kill at any moment leaves no half-written run; its arrays are checked
against their checksums when read, so that a damaged run is noticed and made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.core.leftovers import clear_dead, own_name, remove
from unchurn.core.numpy_files import load_array, save_array

RECORD = "record.json"
KEY = re.compile("[0-9a-f]{32}")  # the name of a run's folder
UNFINISHED = ".unfinished-"  # followed by the machine and the process


@dataclass(frozen=True)
class TrainedRun:
    """A finished run: a record of how it was made, and its arrays by name."""

    record: dict[str, Any]
    arrays: dict[str, Array]


class Store:
    """A folder of runs, which several processes may share; `open` creates it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "runs"

    def open(self) -> None:
        """Create the folder, check that it is writable, and remove leftovers of dead processes."""
        folder = self.folder.parent
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            raise InputError(f"cannot write to {folder}: {error.strerror}") from error
        clear_dead(self.folder, UNFINISHED)

    def put(self, identity: Mapping[str, Any], record: Mapping[str, Any], **arrays: Array) -> None:
        """Write a run: `identity` decides its result and name, `record` says how it was made."""
        target = self.folder / key_of(identity)
        try:
            temporary = Path(tempfile.mkdtemp(dir=self.folder, prefix=own_name(UNFINISHED)))
        except OSError as error:
            raise InputError(f"cannot keep a run in {self.folder}: {error.strerror}") from error
        try:
            checksums = {}
            for name, array in arrays.items():
                save_array(temporary / f"{name}.npy", array)
                checksums[name] = _checksum(temporary / f"{name}.npy")
            content = {"identity": identity, "record": record, "sha256": checksums}
            text = json.dumps({**content, "checksum": _digest(content)}, indent=1, sort_keys=True)
            (temporary / RECORD).write_text(text + "\n")
            temporary.chmod(0o755)
            temporary.rename(target)
        except OSError as error:
            if not target.exists():  # it does if another process just finished the same run
                reason = error.strerror or error
                raise InputError(f"cannot keep a run in {self.folder}: {reason}") from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def get(self, identity: Mapping[str, Any]) -> TrainedRun | None:
        """Read a run; None if it is not there, DamagedError if it is damaged."""
        folder = self.folder / key_of(identity)
        if not os.path.lexists(folder):
            return None
        try:
            if folder.is_symlink():  # its target is not ours to trust or repair
                raise DamagedError(f"{folder}: is a link, not a run")
            content = json.loads(_plain_file(folder / RECORD).read_text("utf-8"))
            if content.pop("checksum") != _digest(content):
                raise DamagedError(f"{folder / RECORD}: its checksum is not the one recorded")
            if key_of(content["identity"]) != folder.name:
                raise DamagedError(f"{folder}: holds another run")
            arrays = {}
            for name, checksum in content["sha256"].items():
                path = _plain_file(folder / f"{name}.npy")
                if _checksum(path) != checksum:
                    raise DamagedError(f"{path}: its checksum is not the one recorded")
                arrays[name] = _check_array(path, load_array(path))
            return TrainedRun(content["record"], arrays)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DamagedError(f"{folder}: {error.strerror}") from error
        except (DamagedError, OSError):
            raise
        except Exception as error:  # readers raise a type of their own for every kind of damage
            raise DamagedError(f"{folder}: {error}") from error

    def has(self, identity: Mapping[str, Any]) -> bool:
        """Whether a run is there, damaged or not."""
        return os.path.lexists(self.folder / key_of(identity))

    def has_any(self) -> bool:
        """Whether there is a run of ours: other programs, too, call a folder `runs`."""
        return any(KEY.fullmatch(path.parent.name) for path in self.folder.glob(f"*/{RECORD}"))

    def drop(self, identity: Mapping[str, Any]) -> None:
        """Delete a run, such as a damaged one; of a link, only the link itself."""
        remove(self.folder / key_of(identity))


class DamagedError(Exception):
    """A run on disk is not as it was written."""


def key_of(identity: Mapping[str, Any]) -> str:
    """The name of a run: a hash of what decides its result; see `KEY`."""
    return _digest(identity)[:32]


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _plain_file(path: Path) -> Path:
    """The path, if it is a regular file: reading a pipe or a device might never end."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise DamagedError(f"{path}: is not a plain file")
    return path


def _check_array(path: Path, array: Array) -> Array:
    """Refuse arrays that no training stores: not numbers, or not finite."""
    if array.dtype.kind not in "fiu":
        raise DamagedError(f"{path}: holds {array.dtype}, not numbers")
    if not np.isfinite(array).all():
        raise DamagedError(f"{path}: holds NaN or infinity")
    return array
