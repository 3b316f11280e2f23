"""Two models' predictions side by side: joined by id, classes numbered, labels beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unchurn.arrays import IntArray
from unchurn.errors import InputError
from unchurn.frames import PREDICTION
from unchurn.predictions import ID, LABEL, PROBABILITY, Labels, Predictions, first

if TYPE_CHECKING:
    import polars as pl

CANDIDATE = "\0candidate"  # behind a column's name
UNLABELLED = -1


@dataclass(frozen=True)
class Paired:
    """The examples that both models predicted; predictions and labels are numbers of `classes`."""

    ids: pl.Series
    classes: tuple[str, ...]
    base: IntArray
    candidate: IntArray
    labels: IntArray | None  # UNLABELLED where there is none
    probabilities: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None  # (n, columns)
    columns: tuple[str, ...]  # the classes of the probabilities' columns
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
) -> Paired:
    """Join two models' predictions by id; rows that only one has are left out and counted."""
    _check_places(base, candidate)
    excluded = {**base.excluded, **candidate.excluded}
    left, right = _same_ids(base.table, candidate.table)
    right = right.rename({c: c + CANDIDATE for c in right.columns if c != ID})
    both = _join(left, right)
    for model, table in ((base, left), (candidate, right)):
        if only := table.height - both.height:
            excluded[f"only in {model.name}"] = only
    if both.height == 0:
        raise InputError(f"{base.name} and {candidate.name} have no id in common")
    truth, notes = _truth(both, base, labels)
    columns = [both[PREDICTION], both[PREDICTION + CANDIDATE], *([] if truth is None else [truth])]
    classes, numbers = _numbered(columns)
    _check_classes(classes, numbers, base, candidate, notes)
    if truth is not None and (gone := int((numbers[2] == UNLABELLED).sum())):
        notes.append(f"{gone:,} examples have no true label: they count for churn alone")
    shared = tuple(c for c in base.classes if c in candidate.classes)
    if set(base.classes) ^ set(candidate.classes) and shared:
        notes.append("the two have probabilities of different classes: their movement is not shown")
        shared = ()
    return Paired(
        ids=both[ID],
        classes=classes,
        base=numbers[0],
        candidate=numbers[1],
        labels=None if truth is None else numbers[2],
        probabilities=_probabilities(both, shared),
        columns=shared,
        slices={name: _group(both, name, "slice") for name in slices},
        clusters=None if cluster is None else _clusters(both, cluster),
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


def _same_ids(left: pl.DataFrame, right: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Ids of one type on both sides: whole numbers if both are, else text."""
    import polars as pl

    kinds = [table[ID].dtype for table in (left, right)]
    if kinds[0] == kinds[1]:
        return left, right
    kind = pl.Int64 if all(k.is_integer() for k in kinds) else pl.String
    return left.with_columns(pl.col(ID).cast(kind)), right.with_columns(pl.col(ID).cast(kind))


def _join(left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    """Rows of both, in the order of the first; no search where the ids already stand alike."""
    import polars as pl

    if left[ID].equals(right[ID]):
        return pl.concat([left, right.drop(ID)], how="horizontal")
    return left.join(right, on=ID, how="inner", maintain_order="left")


def _truth(
    both: pl.DataFrame, base: Predictions, labels: Labels | None
) -> tuple[pl.Series | None, list[str]]:
    """The true labels, from a table of their own or beside either model's predictions."""
    if labels is not None:
        _check_places(base, labels)
        ids, table = _same_ids(both.select(ID), labels.table)
        if ids[ID].equals(table[ID]):
            return table[LABEL], []
        found = ids.join(table, on=ID, how="left", maintain_order="left")[LABEL]
        if found.null_count() == len(found):
            raise InputError(f"{labels.name} has the label of no id that the models have")
        return found, []
    sides = [both[c] for c in (LABEL, LABEL + CANDIDATE) if c in both.columns]
    if len(sides) == 2:
        one, two = _alike(sides)
        differ = (one != two).fill_null(value=False)
        if differ.any():
            row = first(differ)
            raise InputError(
                f"the true labels beside the two models differ in {int(differ.sum()):,} rows, such "
                f"as id {both[ID][row]!r}: {one[row]!r} and {two[row]!r}"
            )
        return one.zip_with(one.is_not_null(), two), []
    if sides and sides[0].null_count() == len(sides[0]):
        return None, ["the column of true labels is empty"]
    return (sides[0], []) if sides else (None, [])


def _alike(columns: list[pl.Series]) -> list[pl.Series]:
    """Labels of one type: whole numbers if all are, else text."""
    import polars as pl

    if all(column.dtype == pl.Int64 for column in columns):
        return columns
    return [column.cast(pl.String) for column in columns]


def _numbered(columns: list[pl.Series]) -> tuple[tuple[str, ...], list[IntArray]]:
    """The classes in order, and each column as their numbers; a missing label is UNLABELLED."""
    import polars as pl

    columns = _alike(columns)
    classes = pl.concat([c.unique() for c in columns]).unique().drop_nulls().sort()
    kind = np.min_scalar_type(-max(len(classes), 2))
    numbers: list[IntArray] = []
    for column in columns:
        if classes.dtype == pl.Int64:
            values = column.fill_null(classes[0]).to_numpy()
            number = np.searchsorted(classes.to_numpy(), values).astype(kind)
        else:
            coded = column.cast(pl.Enum(classes)).to_physical().fill_null(0)
            number = coded.to_numpy().astype(kind)
        if column.null_count():
            number[column.is_null().to_numpy()] = UNLABELLED
        numbers.append(number)
    return tuple(str(c) for c in classes), numbers


def _check_classes(
    classes: tuple[str, ...],
    numbers: list[IntArray],
    base: Predictions,
    candidate: Predictions,
    notes: list[str],
) -> None:
    """Say which classes only one side knows; numbers against names are an error."""
    known = [np.bincount(n[n >= 0], minlength=len(classes)) > 0 for n in numbers]
    names = np.array(classes)
    sides = [(base.name, candidate.name), *([("the models", "the labels")] * (len(known) > 2))]
    for (one, two), (a, b) in zip(
        sides, [(known[0], known[1]), (known[0] | known[1], known[-1])], strict=False
    ):
        if not (a & b).any() and _are_numbers(names[a]) != _are_numbers(names[b]):
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
    both: pl.DataFrame, classes: tuple[str, ...]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
    if not classes:
        return None
    names = [f"{PROBABILITY}{c}" for c in classes]
    one, two = both.select(names), both.select([n + CANDIDATE for n in names])
    return one.to_numpy(), two.to_numpy()


def _group(both: pl.DataFrame, name: str, kind: str) -> pl.Series:
    """A column of either file."""
    for column in (name, name + CANDIDATE):
        if column in both.columns:
            return both[column].alias(name)
    raise InputError(f"no column {name!r} for --{kind}{'s' * (kind == 'slice')} in either file")


def _clusters(both: pl.DataFrame, name: str) -> IntArray:
    """Clusters as numbers; one without a name is a cluster of its own kind."""
    import polars as pl

    column = _group(both, name, "cluster")
    return column.cast(pl.String).fill_null("").rank("dense").to_numpy().astype(np.int64) - 1
