"""Detect a class that has two names: its rows would count as flips, or as wrong."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from unchurn.comparison.inputs.classes import UNLABELLED, but_for_writing, count
from unchurn.comparison.read import Inputs
from unchurn.core.arrays import IntArray

ENOUGH = 20  # rows in common: two similar classes that are rare may coincide by chance
STRIKING = 3  # standard deviations from chance that are no accident
SHOWN = 3  # pairs of names


@dataclass(frozen=True)
class _Side:
    """A model, or the labels: what it says of each example, and the classes that it knows."""

    name: str
    said: IntArray
    knows: frozenset[str]


def doubt_writing(given: Inputs) -> str | None:
    """Warn of classes that differ only in writing, as `a` and `A`, if no side knows both."""
    alike: dict[str, list[str]] = {}
    for name in given.paired.classes:
        alike.setdefault(but_for_writing(name), []).append(name)
    several = [names for names in alike.values() if len(names) > 1]
    if not several:
        return None
    sides = _sides(given)
    odd = [
        both
        for names in several
        for both in combinations(names, 2)
        if not any(side.knows.issuperset(both) for side in sides)
    ]
    if not odd:
        return None
    shown = ", ".join(_told_apart(*both) for both in odd[:SHOWN])
    return (
        "classes differ only in case, spaces, hyphens or form of letters, and so count as "
        f"different ones: {shown}. Write them alike in all files"
    )


def doubt_names(given: Inputs) -> str | None:
    """Warn that a class of one side and a class of another seem to be the same, with two names.

    Neither side knows the other's name, and most rows of each are of the other, more than by
    chance. A new class is not doubted: the side without it has no extra name of its own. Nor are
    two classes that the third side, such as the labels, knows both of.
    """
    sides = _sides(given)
    found: dict[frozenset[str], str] = {}  # by both names: the models come before the labels
    for one, two in combinations(sides, 2):
        third = frozenset[str]().union(*(s.knows for s in sides if s is not one and s is not two))
        for mine, yours, n in _renamed(given.paired.classes, one, two):
            both = frozenset((mine, yours))
            if not both <= third:
                words = f"{one.name} has {mine!r} and no {yours!r} where {two.name} has {yours!r}"
                found.setdefault(both, f"{words} and no {mine!r}, in {n:,} rows")
    if not found:
        return None
    shown = "; ".join([*found.values()][:SHOWN])
    return f"{shown}: are they one class by two names? Then rename it in one of the files"


def _renamed(classes: tuple[str, ...], one: _Side, two: _Side) -> Iterator[tuple[str, str, int]]:
    """Classes of two sides that may be the same, and the number of rows that are of both."""
    ours, theirs = (
        np.array([name in only for name in classes] + [False])  # the last is for UNLABELLED
        for only in (one.knows - two.knows, two.knows - one.knows)
    )
    if not (ours.any() and theirs.any()):
        return
    size = len(classes)
    known = (one.said != UNLABELLED) & (two.said != UNLABELLED)
    of_one, of_two = count(one.said[known], size), count(two.said[known], size)
    at = ours[one.said] & theirs[two.said]
    pairs, counts = np.unique(
        one.said[at].astype(np.int64) * size + two.said[at], return_counts=True
    )
    for pair, n in zip(pairs.tolist(), counts.tolist(), strict=True):
        a, b = divmod(pair, size)
        is_most = 2 * n > max(of_one[a], of_two[b])
        if n < ENOUGH or not is_most or but_for_writing(classes[a]) == but_for_writing(classes[b]):
            continue  # `doubt_writing` reports names that differ only in writing
        if _is_beyond_chance(n, int(of_one[a]), int(of_two[b]), int(of_one.sum())):
            yield classes[a], classes[b], n


def _is_beyond_chance(both: int, one: int, two: int, n: int) -> bool:
    """Whether more rows are of both classes than if each were drawn independently."""
    chance = one * two / n
    spread = math.sqrt(chance * (n - one) / n * (n - two) / (n - 1))
    return both - chance > STRIKING * spread


def _sides(given: Inputs) -> list[_Side]:
    """Both models and the labels; a model also knows the classes that it has probabilities of."""
    paired = given.paired

    def side(name: str, said: IntArray, *scored: str) -> _Side:
        there = count(said, len(paired.classes)) > 0
        names = (c for c, is_there in zip(paired.classes, there, strict=True) if is_there)
        return _Side(name, said, frozenset([*names, *scored]))

    sides = [
        side(given.base.name, paired.base, *given.base.probabilities),
        side(given.candidate.name, paired.candidate, *given.candidate.probabilities),
    ]
    if paired.labels is not None:
        name = "the label column" if given.labels is None else given.labels.name
        sides.append(side(name, paired.labels))
    return sides


def _told_apart(one: str, two: str) -> str:
    """Two names in words; if they look the same, with their letters escaped."""
    look_alike = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", two)
    return " and ".join(ascii(name) if look_alike else repr(name) for name in (one, two))
