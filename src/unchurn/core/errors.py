"""The one exception that means: the caller's input is wrong, and here is what to change."""

from collections.abc import Iterable
from typing import Any


class InputError(ValueError):
    """Bad input, said in one line that names the problem and the fix.

    The command line prints it and exits with code 2; any other exception is a bug of ours.
    """


def field_problem(error: Any, kind: str, allowed: Iterable[str]) -> str:
    """One field's problem in a few words, from what pydantic says of it."""
    field = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"there is no {kind} {field!r}: there are {', '.join(allowed)}"
    if error["type"] == "missing":
        return f"{field} is missing"
    return f"{field}: {error['msg'][0].lower()}{error['msg'][1:]}, not {error['input']!r}"
