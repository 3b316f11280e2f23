"""`InputError`: the exception for wrong input, whose message says what to change."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

NO_NAME = "(one without a name)"  # such as the index that pandas writes


class InputError(ValueError):
    """Bad input; the message is one line that names the problem and the fix.

    The command line prints it and exits with code 2; any other exception is a bug in unchurn.
    """


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Begin errors on bad values by what they are of, instead of X, or before anything else.

    >>> with naming("X_test"):
    ...     raise InputError("no column 'a'")
    Traceback (most recent call last):
    unchurn.core.errors.InputError: X_test: no column 'a'
    >>> with naming("X_test"):
    ...     raise InputError("X has no rows")
    Traceback (most recent call last):
    unchurn.core.errors.InputError: X_test has no rows
    """
    try:
        yield
    except ValueError as error:
        text = str(error)
        if text.startswith(("X ", "Input X ")):  # further lines are scikit-learn's advice
            rest = text.partition("\n")[0].removeprefix("Input ").removeprefix("X ")
            raise InputError(f"{what} {rest}") from error
        raise InputError(f"{what}: {' '.join(text.split())}") from error


def unknown(kind: str, name: Any, there: Iterable[Any], *, where: str = "") -> str:
    """A message that there is no such name, with the one that is likely meant and all there are.

    >>> unknown("method", "saf_ema", ["control", "ema", "safe_ema"])
    "no method 'saf_ema' (did you mean 'safe_ema'?): there are control, ema, safe_ema"
    >>> unknown("column", "Y", ["x", "y"])
    "no column 'Y' (did you mean 'y'?): there are x, y"
    >>> unknown("column", 3, ["a", 0])
    'no column 3: there are a, 0'
    """
    from difflib import get_close_matches  # imported only if something is wrong

    known = [str(one) for one in there]
    by_letters = {one.casefold(): one for one in known}
    near = get_close_matches(str(name).casefold(), by_letters, n=1)
    hint = f" (did you mean {by_letters[near[0]]!r}?)" if near else ""
    listed = ", ".join(one or NO_NAME for one in known)
    return f"no {kind} {name!r}{where}{hint}: there are {listed or 'none'}"


def field_problem(error: Any, kind: str, allowed: Iterable[str]) -> str:
    """One field's problem in a few words, from pydantic's error."""
    field = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return unknown(kind, field, allowed)
    if error["type"] == "missing":
        return f"{field} is missing"
    return f"{field}: {error['msg'][0].lower()}{error['msg'][1:]}, not {error['input']!r}"
