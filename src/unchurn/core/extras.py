"""Optional modules, and the extra of unchurn that installs each."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

EXTRAS = {
    "torch": "train",
    "safetensors": "train",
    "numba": "knn",
    "faiss": "faiss",
    "altair": "charts",
    "vl_convert": "charts",
    "jinja2": "charts",
    "ray": "ray",
    "fastexcel": "excel",
}


def what_is_missing(error: BaseException, user: str) -> str | None:
    """A message on which module `user` needs and how to install it; None if no extra has it.

    >>> what_is_missing(ModuleNotFoundError(name="torch"), "StableClassifier")
    "StableClassifier needs torch: pip install 'unchurn[train]'"
    """
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    if name not in EXTRAS:
        return None
    return f"{user} needs {name}: pip install 'unchurn[{EXTRAS[name]}]'"


def missing_modules(extras: Collection[str]) -> list[str]:
    """The modules of some extras that are not installed; none of them is imported."""
    return [name for name, extra in EXTRAS.items() if extra in extras and not _is_there(name)]


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@contextmanager
def needed_by(user: str) -> Iterator[None]:
    """A context in which the error for a missing module of an extra says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if missing := what_is_missing(error, user):
            raise ModuleNotFoundError(missing, name=error.name) from error
        raise
