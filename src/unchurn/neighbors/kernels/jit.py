"""Compile the kernels: once per machine, cached on disk, running without Python's global lock."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered and fused, and NaN is ruled out: only for kernels that propose candidates,
# never for those that decide.
ROUGH = frozenset({"contract", "reassoc", "nsz", "nnan"})


def exact(function: F) -> F:
    """Compile with every operation as written."""
    return _compile(function, fastmath=False)


def rough(function: F) -> F:
    """Compile for speed: operations may be reordered and fused."""
    return _compile(function, fastmath=set(ROUGH))


def exact_inline(function: F) -> F:
    """Like `exact`, but inlined into callers: passing arrays costs more than the work itself."""
    return _compile(function, fastmath=False, inline="always")


def rough_inline(function: F) -> F:
    """Like `rough`, but inlined into callers, whose rules apply: in an exact one it is exact."""
    return _compile(function, fastmath=set(ROUGH), inline="always")


def _compile(function: F, **options: Any) -> F:
    """Compile; cache in NUMBA_CACHE_DIR if set, else beside the source or in the user's folder."""
    try:
        compiled: Any = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # no folder can be written to: compile in every process
        compiled = njit(nogil=True, **options)(function)
    else:
        # Numba trusts its cache until the function's own file changes, although the kernels call
        # each other across files. Here, a change in any of them ends that trust.
        with suppress(AttributeError):  # a Numba that caches differently, or is switched off
            file = compiled._cache._cache_file
            file._source_stamp = stamp = _stamp(Path(function.__code__.co_filename).parent)
            # Numba checks the version before it unpickles anything: unpickling an old cache would
            # fail if a type has been renamed since.
            file._version = (file._version, stamp)
    kernel: F = compiled
    return kernel


@cache
def _stamp(folder: Path) -> bytes:
    """A hash of every file in that folder and in this one: they share types and constants."""
    files = {*folder.glob("*.py"), *Path(__file__).parent.glob("*.py")}
    return sha256(b"".join(path.read_bytes() for path in sorted(files))).digest()
