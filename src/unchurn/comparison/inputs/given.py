"""Refuse inputs that are no table, or have two columns of one name, before they are opened."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.core.frames import refuse_twice

FORMS = "a file's path, a frame, labels (n,) or probabilities (n, classes)"


def check_given(source: Any, name: str) -> None:
    """Refuse what holds no rows itself, and a pandas frame with two columns of one name."""
    if callable(getattr(source, "read", None)):  # a pandas frame may have a column of that name
        raise InputError(f"{name}: is an open file: give its path, or the frame that it holds")
    if callable(getattr(source, "collect", None)):
        raise InputError(f"{name}: is a LazyFrame: collect() it first")
    if isinstance(source, Mapping | Set | Iterator):
        raise InputError(f"{name}: must be {FORMS}, not a {type(source).__name__}")
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        check_once([str(column) for column in source.columns], name)


def is_arrow(source: Any) -> bool:
    """Whether it is a table of pyarrow, recognised without importing pyarrow."""
    return hasattr(source, "column_names") and callable(getattr(source, "to_batches", None))


def check_once(names: Sequence[str], name: str) -> None:
    """Refuse a table that has two columns of one name."""
    try:
        refuse_twice(names)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def check_keys(beginning: bytes, name: str) -> None:
    """Refuse JSON whose first row has a key twice: other rows will have it twice, too."""
    text = beginning.decode("utf-8-sig", "replace").lstrip("[ \t\r\n")

    def check(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        check_once([key for key, _ in pairs], name)
        return dict(pairs)

    try:
        json.JSONDecoder(object_pairs_hook=check).raw_decode(text)
    except json.JSONDecodeError:  # cut off by `beginning`, or damaged, which is reported later
        return


def wrong_shape(array: Array) -> str:
    """A message on what an array must be, and what is wrong with its shape or type."""
    if array.ndim == 2 and array.dtype.kind in "iub":
        return (
            f"whole numbers are taken for labels, one per example, and there are {array.shape}: of "
            "one-hot rows give argmax(axis=1), of probabilities floats"
        )
    if array.ndim == 0:
        return f"must be {FORMS}, not a single value"
    return f"must be labels (n,) or probabilities (n, classes), not {array.shape} {array.dtype}"
