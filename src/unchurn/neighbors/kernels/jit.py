"""How the kernels are compiled: once per machine, kept on disk, without holding Python's lock."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

# Sums in any order and fused, and no thought of NaN: only for what proposes candidates, never for
# what decides.
ROUGH = frozenset({"contract", "reassoc", "nsz", "nnan"})


def exact(function: F) -> F:
    """Compile with every operation as written."""
    return _compile(function, fastmath=False)


def rough(function: F) -> F:
    """Compile for speed: operations may be reordered and fused."""
    return _compile(function, fastmath=set(ROUGH))


def exact_inline(function: F) -> F:
    """As `exact`, within its callers: to pass arrays costs more than the work itself."""
    return _compile(function, fastmath=False, inline="always")


def rough_inline(function: F) -> F:
    """As `rough`, within its callers and by their rules: in an exact one it is exact."""
    return _compile(function, fastmath=set(ROUGH), inline="always")


def _compile(function: F, **options: Any) -> F:
    """Cache beside the source or, where that is read-only, in NUMBA_CACHE_DIR or the user's own."""
    try:
        compiled: Any = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # no folder to write to at all: compile anew in every process
        compiled = njit(nogil=True, **options)(function)
    else:
        # Numba takes what it kept for valid until the function's own file changes, although the
        # kernels call each other across files: let it be valid until any of them changes.
        with suppress(AttributeError):  # a Numba that keeps it elsewhere, or is switched off
            file = compiled._cache._cache_file
            file._source_stamp = stamp = _stamp(Path(function.__code__.co_filename).parent)
            # The version is looked at first: of another one, nothing is unpickled, which would
            # fail for a type that has another name now.
            file._version = (file._version, stamp)
    kernel: F = compiled
    return kernel


@cache
def _stamp(folder: Path) -> bytes:
    """Of every file there and here: they share types and constants, a change of one is of all."""
    files = {*folder.glob("*.py"), *Path(__file__).parent.glob("*.py")}
    return sha256(b"".join(path.read_bytes() for path in sorted(files))).digest()
