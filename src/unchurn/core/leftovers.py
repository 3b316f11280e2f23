"""Temporary files named by host and PID, so that a later process can delete those of dead ones.

A folder may be shared by several machines, and whether another machine's process still lives cannot
be known: so names have the host, and only this host's are deleted.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "unchurn-"
MOST = 2**31 - 1  # no process has a higher number
BETWEEN = "@"  # a machine's name may have dashes and digits, never this


def own_name(prefix: str = PREFIX) -> str:
    """How the names of this process's temporary files begin."""
    return f"{prefix}{platform.node()}{BETWEEN}{os.getpid()}{BETWEEN}"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is removed in the end; if this process is killed, a later one removes it."""
    clear_dead(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=own_name()) as folder:
        yield Path(folder)


def clear_dead(folder: Path, prefix: str = PREFIX) -> set[int]:
    """Remove the temporary files of this machine's dead processes; return their PIDs.

    Files with other names than `own_name` gives, or of another user, stay.
    """
    cleared: set[int] = set()
    begin = f"{prefix}{platform.node()}{BETWEEN}"
    try:
        with os.scandir(folder) as entries:
            found = [Path(entry.path) for entry in entries if entry.name.startswith(begin)]
    except OSError:  # no such folder, or not readable
        return cleared
    for path in found:
        owner, end, _ = path.name.removeprefix(begin).partition(BETWEEN)
        if end and _is_dead(owner) and _is_ours(path):
            remove(path)
            cleared.add(int(owner))
    return cleared


def remove(path: Path) -> None:
    """Remove a file, a folder with its content, or a link (never its target)."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_ours(path: Path) -> bool:
    try:
        return not hasattr(os, "getuid") or path.lstat().st_uid == os.getuid()
    except OSError:  # another process was faster
        return False


def _is_dead(process: str) -> bool:
    """Whether a text is the PID of a process that has ended."""
    if not (process.isascii() and process.isdecimal() and len(process) <= len(str(MOST))):
        return False
    if not 0 < int(process) <= MOST or os.name == "nt":  # where os.kill(pid, 0) sends Ctrl-C
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:  # it lives, and is another user's
        return False
    try:  # a zombie, which has ended but not been waited for, is dead, too
        state = Path(f"/proc/{int(process)}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):  # no Linux, or just gone
        return False
    return state in ("Z", "X")
