"""Identify the user's own networks, methods and functions by content; explain their errors."""

from __future__ import annotations

import hashlib
import inspect
import io
import sys
import sysconfig
from collections import ChainMap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from traceback import walk_tb
from types import CodeType, FunctionType
from typing import Any, ClassVar

import cloudpickle

from unchurn.core.errors import InputError
from unchurn.training.learners.base import DivergedError

# Attributes of a class that do not affect what it does, or that differ between processes.
NOT_CONTENT = {"__module__", "__dict__", "__weakref__", "__doc__", "_abc_impl"}
INSTALLED = tuple(Path(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib"))
OURS = Path(__file__).parents[2]


def code_identity(own: Any) -> str:
    """The name of the user's code, and a hash of its content.

    The content is the object itself (closures, arguments of a partial, attributes) and the files
    that define it and the objects it holds. Their imports and installed libraries are left out.
    """
    pickler, pickled = _Canonical.of(own)
    digest = hashlib.sha256(pickled)
    code = _unwrapped(own)
    first = inspect.getmodule(code)
    with suppress(OSError, TypeError):  # a notebook's code has no file, but is in the object
        digest.update(inspect.getsource(first or code).encode())
    others = {name for name in pickler.modules if first is None or name != first.__name__}
    for name in sorted(name for name in others if _is_own(name)):
        with suppress(OSError, TypeError):
            digest.update(inspect.getsource(sys.modules[name]).encode())
    return f"{getattr(code, '__qualname__', 'own')}:{digest.hexdigest()}"


def own_name(own: Any) -> str:
    """The user's code as `module:name`.

    >>> own_name(partial(own_name, own=1))
    'unchurn.training.learners.own_code:own_name'
    """
    code = _unwrapped(own)
    return f"{code.__module__}:{code.__qualname__}"


@contextmanager
def called(name: str) -> Iterator[None]:
    """Turn an error in the user's code into an InputError that says where it happened."""
    try:
        yield
    except (InputError, DivergedError, MemoryError):  # these are expected and clear
        raise
    except Exception as error:
        what = ": ".join([type(error).__name__, *filter(None, [" ".join(str(error).split())])])
        raise InputError(f"{name} raised {what}{_place(error)}") from error


def _place(error: Exception) -> str:
    """The innermost line of the user's code in an error's trace, as text; empty if none."""
    lines = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    own = [f" ({file}, line {line})" for file, line in lines if _is_own_file(file)]
    return own[-1] if own else ""


def _unwrapped(own: Any) -> Any:
    """The function or class itself, or the class of an object."""
    while isinstance(own, partial):
        own = own.func
    return own if inspect.isroutine(own) or inspect.isclass(own) else type(own)


def _is_own(module: str) -> bool:
    """Whether a module is one of the user's files."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and _is_own_file(file)


def _is_own_file(file: str) -> bool:
    """Whether a file is the user's code: not installed, not Python's, not unchurn's."""
    is_file = not file.startswith("<")
    return is_file and not any(folder in Path(file).parents for folder in (OURS, *INSTALLED))


def _is_importable(own: type) -> bool:
    """Whether another process can import a class by its name; True for built-in classes."""
    module = sys.modules.get(own.__module__)
    if module is None or own.__module__ in ("__main__", "builtins"):
        return own.__module__ == "builtins"
    found: Any = module
    for name in own.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is own


class _Canonical(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles the user's code to bytes that are equal in every process; never read back."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.modules: set[str] = set()  # of all classes and functions that were pickled

    @classmethod
    def of(cls, own: Any) -> tuple[_Canonical, bytes]:
        """The pickler, with the modules it met, and the bytes of an object."""
        file = io.BytesIO()
        pickler = cls(file)
        pickler.dump(own)
        return pickler, file.getvalue()

    def reducer_override(self, own: Any) -> Any:
        """Pickle a class by content: cloudpickle would add a number that is random per process."""
        if isinstance(own, type | FunctionType):
            self.modules.add(own.__module__ or "")
        if not isinstance(own, type) or _is_importable(own):
            return super().reducer_override(own)
        content = {
            name: value
            for name, value in sorted(vars(own).items())
            if name not in NOT_CONTENT and not inspect.isgetsetdescriptor(value)
        }
        # The state comes after the class itself is known: its methods may refer to it.
        return str, (own.__qualname__,), {"bases": own.__bases__, "content": content}

    @staticmethod
    def _code(code: CodeType) -> tuple[type, tuple[Any]]:
        """What code does, without its location and the random order of sets in it."""
        constants = [
            sorted(map(repr, c)) if isinstance(c, frozenset) else c for c in code.co_consts
        ]
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        return list, ([code.co_code, code.co_exceptiontable, constants, names, counts],)

    dispatch_table: ClassVar = ChainMap({CodeType: _code}, cloudpickle.Pickler.dispatch_table)
