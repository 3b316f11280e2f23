"""Encode classes as small integers, reorder and count them, and check that sides share classes.

Millions of rows are processed in blocks that stay in a core's cache, on all cores.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

UNLABELLED = -1
LABELS = "the labels"  # their name beside those of the models
NARROW = 1 << 15  # integers within a range of this size are numbered without a search
SIZE = 1 << 16  # rows of a block: small enough for the cache, large enough for NumPy's overhead
Found = TypeVar("Found")
IntTable = npt.NDArray[np.int64]
Side = tuple[str, npt.NDArray[np.bool_]]  # a model or the labels, and which classes it knows


@dataclass(frozen=True, kw_only=True)
class Coded:
    """Predictions of two models, and true labels if any, as positions in `classes`."""

    classes: tuple[str, ...]
    base: IntArray
    candidate: IntArray
    labels: IntArray | None  # UNLABELLED for rows without one

    def without_unused(self) -> Coded:
        """Drop classes that no row has: of excluded rows, or between integer classes."""
        used = self.has(self.base) | self.has(self.candidate)
        if self.labels is not None:
            used |= self.has(self.labels)
        if used.all():
            return self
        new = np.append(np.cumsum(used) - 1, UNLABELLED).astype(_narrowest(int(used.sum())))
        classes = tuple(c for c, is_used in zip(self.classes, used, strict=True) if is_used)
        return self._renumbered(classes, new)

    def against_rest(self, one: str, rest: str) -> Coded:
        """Number the class `one` as 1 and all others, together named `rest`, as 0."""
        new = np.array([*(name == one for name in self.classes), UNLABELLED], np.int8)
        return self._renumbered((rest, one), new)

    def has(self, numbers: IntArray) -> npt.NDArray[np.bool_]:
        """Which of the classes are among these numbers."""
        return count(numbers, len(self.classes)) > 0

    def _renumbered(self, classes: tuple[str, ...], new: IntArray) -> Coded:
        """Renumber classes; `new` has the new number of each, the last entry is for UNLABELLED."""
        labels = None if self.labels is None else new[self.labels]
        return Coded(
            classes=classes, base=new[self.base], candidate=new[self.candidate], labels=labels
        )


def check_classes(
    coded: Coded,
    base: str,
    candidate: str,
    score: str | None = None,
    *,
    are_places: bool = False,
    scored: Collection[str] = (),
    hint: str = "",
) -> list[str]:
    """Notes on classes that only one side has; InputError if sides have none in common.

    `are_places` says that numbers may be positions of columns of probabilities. `score` is the
    single column of probabilities, whose class is unknown. `scored` are the classes of which both
    models have probabilities. An error ends with `hint` if nothing else is known of its cause.
    """
    before, after = coded.has(coded.base), coded.has(coded.candidate)
    names = np.array(coded.classes)
    fix = _by_name(names, score) if are_places else ""
    case, must_share = "", False
    if not (before & after).any():
        case = "" if fix else _but_for_case(names[before], names[after])
        must_share = bool(case) or not _may_differ(coded, before, after, scored)
        case = case or ("" if fix else hint)
    notes = _unshared(names, (base, before), (candidate, after), fix + case, must_share=must_share)
    if coded.labels is not None:
        labels = (LABELS, coded.has(coded.labels))
        notes += _unshared(names, ("the models", before | after), labels, fix, must_share=True)
    return [*notes, *_unscored(names[before | after].tolist(), scored)]


def _unscored(predicted: list[str], scored: Collection[str]) -> list[str]:
    """A note that both models have probabilities, but not of any class that is predicted."""
    if not scored or set(predicted) & set(scored):
        return []
    return [
        f"probabilities are of {_few(sorted(scored))}, predictions of {_few(predicted)}: so flips "
        "have no confidence. Call the columns of probabilities by their classes, as "
        f"proba_{predicted[0]}"
    ]


def _few(names: list[str]) -> str:
    """The first of some names."""
    return f"{', '.join(names[:5])}{' …' if len(names) > 5 else ''}"


def _may_differ(
    coded: Coded,
    before: npt.NDArray[np.bool_],
    after: npt.NDArray[np.bool_],
    scored: Collection[str],
) -> bool:
    """Whether two models without a common class may still be of one task.

    They may if one of them always predicts the same class, or if classes of each are among the
    labels or the classes of both models' probabilities.
    """
    names = np.array(coded.classes)
    if _are_numbers(names[before]) != _are_numbers(names[after]):
        return False
    if min(before.sum(), after.sum()) < 2:
        return True
    known = np.isin(names, [*scored])
    if coded.labels is not None:
        known |= coded.has(coded.labels)
    return bool((before & known).any() and (after & known).any())


def but_for_writing(name: str) -> str:
    """A class's name without what people and tools write differently: case, spaces, hyphens.

    A letter with an accent may be one character or two, and a space may be a no-break space.
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\s_-]+", " ", unicodedata.normalize("NFKC", plain))


def _but_for_case(one: npt.NDArray[np.str_], two: npt.NDArray[np.str_]) -> str:
    """A hint for an error if classes differ only in case, spaces or hyphens; else empty."""
    ours, theirs = (
        {but_for_writing(str(name)): str(name) for name in names} for names in (one, two)
    )
    both = [(ours[name], theirs[name]) for name in ours if name in theirs]
    if not both:
        return ""
    such = f"{both[0][0]!r} and {both[0][1]!r}"
    return (
        f". They differ in case, spaces, hyphens or form of letters, as {such}: write classes alike"
    )


def _by_name(names: npt.NDArray[np.str_], score: str | None) -> str:
    """A hint how to name numbered columns of probabilities, if classes have names; else empty."""
    words = [str(name) for name in names if not _are_numbers(np.array([name]))]
    if not words:
        return ""
    if score is not None:
        of = f"{' or '.join(words[:5])}{' …' if len(words) > 5 else ''}"
        return f". Of which class is {score!r}? Give positive= {of}"
    named = [f"proba_{name}" for name in words]
    such = f"{', '.join(named[:2])}{' …' if len(named) > 2 else ''}"
    return (
        f". Call the columns of probabilities by their classes: {such}; or as the classes "
        "themselves, and list them with probabilities="
    )


def _unshared(
    names: npt.NDArray[np.str_], one: Side, two: Side, fix: str, *, must_share: bool
) -> list[str]:
    """Notes on classes that only one of two sides has; an error ends with the hint `fix`."""
    (first, a), (second, b) = one, two
    if must_share and not (a & b).any():
        raise InputError(
            f"{first} and {second} have no class in common: {', '.join(names[a][:5])} and "
            f"{', '.join(names[b][:5])}{fix}"
        )
    return [
        f"classes only {_has(who)} {who}: {_few(names[only].tolist())}"
        for who, only in ((first, a & ~b), (second, b & ~a))
        if only.any()
    ]


def _has(who: str) -> str:
    """How a side has a class: a model may also give it probabilities and never predict it."""
    return "in" if who == LABELS else "predicted by"


def _are_numbers(names: npt.NDArray[np.str_]) -> bool:
    return all(re.fullmatch("-?[0-9]+", name) for name in names)


def number(columns: list[pl.Series]) -> tuple[pl.Series, list[IntArray]]:
    """The sorted values of all columns, and each column as positions in them.

    A missing value is UNLABELLED. If the values are integers in a narrow range, all integers of the
    range count as values.
    """
    import polars as pl

    columns = _alike(columns)
    if columns[0].dtype != pl.Int64:
        values = pl.concat([c.unique() for c in columns]).unique().drop_nulls().sort()
        kind = pl.Enum(values)
        return values, [_narrowed(c.cast(kind).to_physical(), 0, len(values)) for c in columns]
    ends = [int(end) for c in columns for end in (c.min(), c.max()) if end is not None]  # type: ignore[arg-type]
    low, size = min(ends), max(ends) - min(ends) + 1
    if size <= NARROW:
        values = pl.int_range(low, low + size, eager=True)
        return values, [_narrowed(c, low, size) for c in columns]
    values = pl.concat([c.unique() for c in columns]).unique().drop_nulls().sort()
    found = [pl.Series(values.search_sorted(c)) for c in columns]
    found = [f.set(c.is_null(), None) for f, c in zip(found, columns, strict=True)]
    return values, [_narrowed(f, 0, len(values)) for f in found]


def _alike(columns: list[pl.Series]) -> list[pl.Series]:
    """Columns of one type: integers if all are, else text."""
    import polars as pl

    if all(column.dtype == pl.Int64 for column in columns):
        return columns
    return [column.cast(pl.String) for column in columns]


def _narrowed(column: pl.Series, low: int, size: int) -> IntArray:
    """Integers minus the lowest, in as few bytes as possible; a missing one is UNLABELLED."""
    numbers, start = np.empty(len(column), _narrowest(size)), 0
    for chunk in column.fill_null(low).get_chunks():  # by chunk, without a copy
        end = start + len(chunk)
        np.subtract(chunk.to_numpy(), low, out=numbers[start:end], casting="unsafe")
        start = end
    if column.null_count():
        numbers[column.is_null().to_numpy()] = UNLABELLED
    return numbers


def _narrowest(size: int) -> np.dtype[np.signedinteger]:
    """The smallest type for numbers up to size − 1, and UNLABELLED."""
    return np.min_scalar_type(-max(size, 2))


def in_blocks(work: Callable[[slice], Found], n: int) -> list[Found]:
    """Results of `work` for each block of n rows, in threads: NumPy releases Python's lock."""
    import polars as pl

    blocks = [slice(start, min(start + SIZE, n)) for start in range(0, max(n, 1), SIZE)]
    if len(blocks) < 2:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(pl.thread_pool_size()) as pool:  # as many as Polars may use
        return list(pool.map(work, blocks))


def in_order(numbers: npt.NDArray[Any], rows: IntArray | None) -> npt.NDArray[Any]:
    """The numbers in these rows, or all if None; UNLABELLED for a negative row."""
    if rows is None:
        return numbers
    found = np.empty(len(rows), numbers.dtype)

    def one(block: slice) -> None:
        np.take(numbers, rows[block], out=found[block], mode="clip")  # other modes copy twice

    in_blocks(one, len(rows))
    if (absent := rows < 0).any():
        found[absent] = UNLABELLED
    return found


def count(numbers: IntArray, size: int) -> IntTable:
    """How often each number from 0 to size − 1 is there; negative ones are not counted."""
    if size > SIZE:  # a block is too small for a table of its own
        return np.bincount(numbers[numbers >= 0], minlength=size)

    def one(block: slice) -> IntTable:
        return np.bincount(numbers[block].astype(np.intp) + 1, minlength=size + 1)[1:]

    return _total(in_blocks(one, len(numbers)))


def cross(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> IntTable:
    """How often each pair of two numbers is there, as a table; negative rows are not counted."""
    size = (shape[0] + 1) * shape[1]

    def one(block: slice) -> IntTable:
        pairs = (rows[block].astype(np.intp) + 1) * shape[1] + columns[block]
        return np.bincount(pairs, minlength=size)[shape[1] :]

    found = one(slice(None)) if size > SIZE else _total(in_blocks(one, len(rows)))
    return found.reshape(shape)


def _total(tables: list[IntTable]) -> IntTable:
    total: IntTable = np.sum(tables, axis=0, dtype=np.int64)
    return total
