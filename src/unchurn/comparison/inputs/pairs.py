"""Two models' predictions side by side: joined by id, classes numbered, labels beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unchurn.comparison.inputs.casting import as_text, fits_int64
from unchurn.comparison.inputs.classes import UNLABELLED, against_rest, number, without_unused
from unchurn.comparison.inputs.ids import find
from unchurn.comparison.inputs.predictions import ID, LABEL, PROBABILITY, REST, Labels, Predictions
from unchurn.comparison.inputs.sources import PREDICTION
from unchurn.comparison.rowblocks import count, take
from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

Rows = tuple[IntArray | None, IntArray | None]  # of base and candidate; None: all as they stand


@dataclass(frozen=True)
class Probabilities:
    """A model's probabilities in the order of the examples; `[rows]` gives (rows, classes).

    They are looked up when they are asked for: of millions of rows no second copy is made.
    """

    columns: tuple[npt.NDArray[np.float64], ...]
    rows: IntArray | None  # of the columns; None: as they stand
    has_gaps: bool  # rows of NaN

    def __getitem__(self, at: slice | IntArray) -> npt.NDArray[np.float64]:
        rows = at if self.rows is None else self.rows[at]
        if isinstance(rows, slice):
            return np.stack([column[rows] for column in self.columns], axis=1)
        found = np.empty((len(self.columns), len(rows)))
        for column, out in zip(self.columns, found, strict=True):
            np.take(column, rows, out=out, mode="clip")
        return found.T


@dataclass(frozen=True)
class Paired:
    """The examples that both models predicted; predictions and labels are numbers of `classes`."""

    ids: pl.Series
    classes: tuple[str, ...]
    base: IntArray
    candidate: IntArray
    labels: IntArray | None  # UNLABELLED where there is none
    probabilities: tuple[Probabilities, Probabilities] | None
    columns: tuple[str, ...]  # the classes of the probabilities' columns; of two, the positive last
    one_class: str | None  # that predictions tell from all others, where they tell no more
    slices: dict[str, pl.Series]
    clusters: IntArray | None
    excluded: dict[str, int]  # rows left out, by reason
    notes: tuple[str, ...]

    @property
    def n(self) -> int:
        """How many examples there are."""
        return len(self.base)


def pair(
    base: Predictions,
    candidate: Predictions,
    labels: Labels | None = None,
    slices: tuple[str, ...] = (),
    cluster: str | None = None,
    one_class: str | None = None,
) -> Paired:
    """Join two models' predictions by id; rows that only one has are left out and counted.

    With `one_class`, predictions tell it from all others and no more.
    """
    _check_places(base, candidate)
    excluded = {**base.excluded, **candidate.excluded}
    rows = _rows(base.table[ID], candidate.table[ID])
    n = len(base.table if rows[0] is None else rows[0])
    for model, other in ((base, candidate), (candidate, base)):
        if only := model.table.height - n - _shared(other.without, model.table[ID]):
            excluded[f"only in {model.name}"] = only
    if n == 0:
        one, two = (model.table[ID][0] for model in (base, candidate))
        raise InputError(
            f"{base.name} and {candidate.name} have no id in common: {one!r} is the first of one, "
            f"{two!r} of the other"
        )
    ids = _at(base.table[ID], rows[0])
    classes, numbers, notes = _numbered(base, candidate, rows, ids, labels)
    one_class = one_class or _only_class(base) or _only_class(candidate)
    if one_class is not None:
        classes, numbers = _against_rest(classes, numbers, one_class)
    _check_classes(classes, numbers, base, candidate, notes)
    if len(numbers) > 2 and (gone := n - int(count(numbers[2], len(classes)).sum())):
        notes.append(f"{gone:,} examples have no true label: they count for churn alone")
    positive = base.positive or candidate.positive
    shared = tuple(c for c in base.classes if c in candidate.classes)
    if len(shared) == 2 and positive in shared:
        shared = tuple(sorted(shared, key=lambda c: c == positive))
    if set(base.classes) ^ set(candidate.classes) and shared:
        notes.append("the two have probabilities of different classes: their movement is not shown")
        shared = ()
    return Paired(
        ids=ids,
        classes=classes,
        base=numbers[0],
        candidate=numbers[1],
        labels=numbers[2] if len(numbers) > 2 else None,
        probabilities=_probabilities(base, candidate, rows, shared),
        columns=shared,
        one_class=one_class,
        slices={name: _group(base, candidate, rows, name, "slice") for name in slices},
        clusters=None if cluster is None else _clusters(base, candidate, rows, cluster),
        excluded=excluded,
        notes=tuple(notes),
    )


def _check_places(one: Predictions | Labels, two: Predictions | Labels) -> None:
    """Rows without ids are told by their place: then both have as many."""
    if (one.n_rows is None) != (two.n_rows is None):
        has, lacks = (one, two) if one.n_rows is None else (two, one)
        raise InputError(
            f"{has.name} has ids and {lacks.name} has none: name its column with --id, or remove it"
        )
    if one.n_rows != two.n_rows:
        raise InputError(
            f"{one.name} has {one.n_rows:,} rows, {two.name} {two.n_rows:,}, and there are no ids "
            "to join them by"
        )


def _same_ids(left: pl.Series, right: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Ids of one type on both sides: whole numbers if both are, else text."""
    import polars as pl

    if left.dtype == right.dtype:
        return left, right
    if fits_int64(left.dtype) and fits_int64(right.dtype):
        return left.cast(pl.Int64), right.cast(pl.Int64)
    return left.cast(pl.String), right.cast(pl.String)


def _rows(left: pl.Series, right: pl.Series) -> Rows:
    """The rows of both tables whose ids are in both, in the order of the first."""
    found = find(*_same_ids(left, right))
    if found is None or (found >= 0).all():
        return None, found
    kept = np.flatnonzero(found >= 0)
    return kept, found[kept]


def _shared(some: pl.Series, ids: pl.Series) -> int:
    """How many of some ids are among others."""
    found = find(*_same_ids(some, ids)) if len(some) else np.empty(0, int)
    return len(some) if found is None else int((found >= 0).sum())


def _at(column: pl.Series, rows: IntArray | None) -> pl.Series:
    return column if rows is None else column.gather(rows)


def _numbered(
    base: Predictions, candidate: Predictions, rows: Rows, ids: pl.Series, labels: Labels | None
) -> tuple[tuple[str, ...], list[IntArray], list[str]]:
    """The classes in order; predictions, and true labels if any, as their numbers; notes.

    Columns are numbered as they stand and brought into order as numbers: a byte each, not eight.
    """
    columns, places = [base.table[PREDICTION], candidate.table[PREDICTION]], [*rows]
    if labels is not None:
        _check_places(base, labels)
        columns.append(labels.table[LABEL])
        places.append(find(*_same_ids(ids, labels.table[ID])))
    else:
        sides = [(m.table, at) for m, at in zip((base, candidate), rows, strict=True)]
        columns += [table[LABEL] for table, _ in sides if LABEL in table.columns]
        places += [at for table, at in sides if LABEL in table.columns]
    classes, numbers = number(columns)
    numbers = [_in_order(n, at) for n, at in zip(numbers, places, strict=True)]
    notes = []
    if len(numbers) == 4:
        numbers[2:] = [_agreed(numbers[2], numbers[3], classes, ids)]
    if len(numbers) == 3 and (numbers[2] == UNLABELLED).all():
        if labels is not None:
            raise InputError(f"{labels.name} has the label of no example that the models have")
        del numbers[2]
        notes.append("the column of true labels is empty")
    classes, numbers = without_unused(classes, numbers)
    return tuple(str(c) for c in classes), numbers, notes


def _only_class(model: Predictions) -> str | None:
    """The class whose probability is all that a model tells."""
    is_one = len(model.classes) == 2 and model.classes[0] == REST + model.classes[1]
    return model.classes[1] if is_one else None


def _against_rest(
    classes: tuple[str, ...], numbers: list[IntArray], one: str
) -> tuple[tuple[str, ...], list[IntArray]]:
    """Predictions and labels as one class and all others."""
    known = numbers[2][numbers[2] >= 0] if len(numbers) > 2 else np.empty(0, int)
    there = [classes[i] for i in np.unique(known)]
    if there and one not in there:
        raise InputError(f"no true label is {one!r}, the positive class: {', '.join(there)}")
    return (REST + one, one), against_rest(classes, numbers, one)


def _in_order(numbers: IntArray, at: IntArray | None) -> IntArray:
    """Numbers in the order of the examples; of a row that is not there, UNLABELLED."""
    if at is None:
        return numbers
    found = take(numbers, at)
    if (absent := at < 0).any():
        found[absent] = UNLABELLED
    return found


def _agreed(one: IntArray, two: IntArray, classes: pl.Series, ids: pl.Series) -> IntArray:
    """The true labels beside both models, which must be the same; either may have gaps."""
    if np.array_equal(one, two):
        return one
    differ = (one != two) & (one >= 0) & (two >= 0)
    if differ.any():
        row = int(differ.argmax())
        raise InputError(
            f"the true labels beside the two models differ in {int(differ.sum()):,} rows, such "
            f"as id {ids[row]!r}: {classes[int(one[row])]!r} and {classes[int(two[row])]!r}"
        )
    return np.where(one < 0, two, one)


def _check_classes(
    classes: tuple[str, ...],
    numbers: list[IntArray],
    base: Predictions,
    candidate: Predictions,
    notes: list[str],
) -> None:
    """Say which classes only one side knows; numbers against names are an error."""
    known = [count(n, len(classes)) > 0 for n in numbers]
    names = np.array(classes)
    sides = [(base.name, candidate.name), *([("the models", "the labels")] * (len(known) > 2))]
    for (one, two), (a, b) in zip(
        sides, [(known[0], known[1]), (known[0] | known[1], known[-1])], strict=False
    ):
        unlike = _are_numbers(names[a]) != _are_numbers(names[b]) or two == "the labels"
        if unlike and not (a & b).any():
            raise InputError(
                f"{one} and {two} have no class in common: {', '.join(names[a][:5])} and "
                f"{', '.join(names[b][:5])}"
            )
        for who, only in ((one, a & ~b), (two, b & ~a)):
            if only.any() and len(known) > 1:
                shown = ", ".join(names[only][:5]) + (" …" if only.sum() > 5 else "")
                notes.append(f"classes only in {who}: {shown}")


def _are_numbers(names: npt.NDArray[np.str_]) -> bool:
    return all(name.lstrip("-").isdigit() for name in names)


def _probabilities(
    base: Predictions, candidate: Predictions, rows: Rows, classes: tuple[str, ...]
) -> tuple[Probabilities, Probabilities] | None:
    if not classes:
        return None
    one, two = (
        Probabilities(
            tuple(column.to_numpy() for column in columns),
            at,
            has_gaps=any(column.null_count() for column in columns),
        )
        for model, at in zip((base, candidate), rows, strict=True)
        for columns in [[model.table[f"{PROBABILITY}{c}"] for c in classes]]
    )
    return one, two


def _group(
    base: Predictions, candidate: Predictions, rows: Rows, name: str, kind: str
) -> pl.Series:
    """A column of either file, as text."""
    for model, at in zip((base, candidate), rows, strict=True):
        if name in model.table.columns:
            return _at(as_text(model.table[name], model.name, f"{kind}s"), at).alias(name)
    option = f"--{kind}{'s' * (kind == 'slice')}"
    raise InputError(f"no column {name!r} for {option} in either file{columns_of(base, candidate)}")


def columns_of(*models: Predictions) -> str:
    """The columns that there are, for an error; an array has none."""
    names = dict.fromkeys(c for model in models for c in model.columns if "\0" not in c)
    return f"; there are {', '.join(names)}" if names else ""


def _clusters(base: Predictions, candidate: Predictions, rows: Rows, name: str) -> IntArray:
    return numbered_clusters(_group(base, candidate, rows, name, "cluster"))


def numbered_clusters(column: pl.Series) -> IntArray:
    """Clusters as numbers; those without a name are one."""
    return column.fill_null("").rank("dense").to_numpy().astype(np.int64) - 1
