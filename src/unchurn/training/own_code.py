"""The user's own networks, methods and functions by their content: told apart when edited."""

from __future__ import annotations

import hashlib
import inspect
import io
from collections import ChainMap
from contextlib import suppress
from functools import partial
from types import CodeType
from typing import Any, ClassVar

import cloudpickle


def code_identity(own: Any) -> str:
    """The name of own code, and a hash of all that makes it what it is.

    That is the object itself (closures, arguments of a partial, attributes) and the file that its
    code is in; not what that file imports.
    """
    digest = hashlib.sha256(_Canonical.bytes_of(own))
    while isinstance(own, partial):
        own = own.func
    code = own if inspect.isroutine(own) or inspect.isclass(own) else type(own)
    with suppress(OSError, TypeError):  # code typed into a notebook is in the object already
        digest.update(inspect.getsource(inspect.getmodule(code) or code).encode())
    return f"{getattr(code, '__qualname__', 'own')}:{digest.hexdigest()}"


class _Canonical(cloudpickle.Pickler):  # type: ignore[misc]
    """Own code as bytes that are the same in every process; never to be read back."""

    @classmethod
    def bytes_of(cls, own: Any) -> bytes:
        """What makes an object what it is."""
        file = io.BytesIO()
        cls(file).dump(own)
        return file.getvalue()

    @staticmethod
    def _code(code: CodeType) -> tuple[type, tuple[Any]]:
        """What code does: not where it stands, nor the order of a set in it, which is random."""
        constants = [
            sorted(map(repr, c)) if isinstance(c, frozenset) else c for c in code.co_consts
        ]
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        return list, ([code.co_code, code.co_exceptiontable, constants, names, counts],)

    dispatch_table: ClassVar = ChainMap({CodeType: _code}, cloudpickle.Pickler.dispatch_table)
