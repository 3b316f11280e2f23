"""Shorten names to a width, and keep them distinct."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def places(words: str) -> int:
    """Width of text in a terminal: wide (East Asian) characters take two places, accents none."""
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in words
    )


def shortened(names: Sequence[str], size: int) -> list[str]:
    """Names of at most `size` places, with an ellipsis for the part that is cut.

    The end is cut, unless names would become equal: they may share a beginning, as paths do.

    >>> shortened(["team=north-west-1", "team=north-west-2", "team=all"], 11)
    ['team=…est-1', 'team=…est-2', 'team=all']
    """
    room = max(size - 1, 0)
    cut = list(names)
    for head in (room, room // 2, room // 4, 0):
        cut = [_cut(name, size, head) for name in names]
        if len(set(cut)) == len(set(names)):
            break
    return cut


def _cut(name: str, size: int, head: int) -> str:
    """A name cut to `size` places: its first `head` places, an ellipsis, and as much of its end."""
    if places(name) <= size:
        return name
    start, end = name, name
    while places(start) > head:
        start = start[:-1]
    while places(end) > max(size - 1 - head, 0):
        end = end[1:]
    return f"{start}…{end}"
