"""Write files completely or not at all, and make errors of reading name the file."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from unchurn.core.errors import InputError
from unchurn.core.leftovers import clear_dead, own_name

UNWRITTEN = ".unchurn-"  # followed by the process: a file that is being written
# First characters by which a spreadsheet recognises a formula, including full-width ones.
FORMULAS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
WHITE = "".join(map(chr, range(33))) + "\x7f\x85\xa0\u200b\u200c\u200d\u2028\u2029\u2060\ufeff"


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` if the block ends well.

    A link stays one: the file it points to is replaced, and keeps its permissions. A pipe or a
    device is written to. Where writing fails, as on a full disk, an InputError names `path`, and
    the old file stays as it was.
    """
    is_special = _is_special(path)
    place = path if is_special else path.resolve()
    folder = Path(tempfile.gettempdir()) if is_special else place.parent
    _clear_once(folder)
    # Without the file's own name: a long one would become too long.
    temporary = folder / f"{own_name(UNWRITTEN)}{secrets.token_hex(8)}.tmp"
    try:
        mode = place.stat().st_mode & 0o777 if place.exists() else None
        temporary.touch(mode=0o666 if mode is None else 0o600, exist_ok=False)
        yield temporary
        if is_special:
            with temporary.open("rb") as source, place.open("wb") as target:
                shutil.copyfileobj(source, target)
            return
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(place)
    except Exception as error:
        reason = None if isinstance(error, InputError) else _refusal(error, temporary)
        if reason is None:
            raise
        raise InputError(f"cannot write {path}: {reason}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _refusal(error: Exception, temporary: Path) -> str | None:
    """Why the system refused to write, if that is behind an error: libraries may hide it."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if found := re.search(r"\(os error (\d+)\)", str(error)):  # Rust's wording
        return os.strerror(int(found[1]))
    try:  # writing one more block shows it
        with temporary.open("ab") as file:
            file.write(bytes(1 << 16))
    except OSError as again:
        return again.strerror
    return str(error) if isinstance(error, OSError) else None


@cache
def _clear_once(folder: Path) -> None:
    """Remove unfinished files of dead processes from a folder, before its first file is written."""
    clear_dead(folder, UNWRITTEN)


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8: all of it, or the old one stays as it was."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, "utf-8")


def remove(path: Path) -> None:
    """Remove a file, if it exists; a link to it, a pipe and a device stay."""
    if not _is_special(path):
        path.resolve().unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    """Whether a path exists and is neither a file nor a folder, such as a pipe or a device."""
    return path.exists() and not (path.is_file() or path.is_dir())


def safe_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula; a number stays one.

    It is for tables that people open: reports, and the list of flips, whose reader undoes it.
    Tables that programs join by id, as `write_table` writes them, keep their cells: an added quote
    could not be told from one that belongs to the id.
    """
    # With a quote of its own, it would be read as one that was added here: it gets another.
    return f"'{text}" if _is_formula(text.lstrip("'")) else text


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet may take a text for a formula."""
    # Some programs skip spaces, line feeds and invisible marks before they look.
    seen = text.lstrip(WHITE)
    if not seen.startswith(FORMULAS) and not text.startswith(("\t", "\r", "\n")):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn any error on a damaged file into an InputError of one line that names the file.

    Readers raise a different type for every kind of damage. A missing or forbidden file, or one too
    large for memory, keeps its own error.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a folder")
    try:
        yield
    except (FileNotFoundError, PermissionError, MemoryError):
        raise
    except InputError as error:
        if str(path) in str(error):
            raise
        raise InputError(f"{path}: {error}") from error
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if "If you trust the file" in reason:  # NumPy's advice on other kinds of files
            reason = "nothing in it can be read"
        raise InputError(f"{path}: damaged, or not {kind}: {reason}") from error


def check_place(path: Path, others: Iterable[Path] = ()) -> None:
    """Refuse a path that cannot be written, or that is one of a command's other files."""
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
