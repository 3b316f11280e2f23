"""Pair two models' predictions by id or position, with classes numbered and labels attached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unchurn.comparison.inputs.casting import as_text
from unchurn.comparison.inputs.classes import (
    UNLABELLED,
    Coded,
    check_classes,
    in_order,
    number,
)
from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.inputs.differing_groups import in_words, n_that_differ
from unchurn.comparison.inputs.ids.lookup import alike, find, n_shared, written_otherwise
from unchurn.comparison.inputs.predictions import (
    Groups,
    Labels,
    Predictions,
    no_column,
    other_column,
)
from unchurn.comparison.inputs.scores import REST
from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Probabilities:
    """A model's probabilities in the order of the examples; `[rows]` gives (rows, classes).

    They are looked up on demand, without a second copy of millions of rows.
    """

    columns: tuple[npt.NDArray[np.float64], ...]
    rows: IntArray | None  # the row of each example in the columns; None if in order
    has_gaps: bool  # rows of NaN

    def __getitem__(self, at: slice | IntArray) -> npt.NDArray[np.float64]:
        rows = at if self.rows is None else self.rows[at]
        if isinstance(rows, slice):
            return np.stack([column[rows] for column in self.columns], axis=1)
        found = np.empty((len(self.columns), len(rows)))
        for column, out in zip(self.columns, found, strict=True):
            np.take(column, rows, out=out, mode="clip")
        return found.T


@dataclass(frozen=True, kw_only=True)
class Paired:
    """The examples that both models predicted; classes are positions in `classes`."""

    ids: pl.Series
    classes: tuple[str, ...]
    base: IntArray
    candidate: IntArray
    labels: IntArray | None  # UNLABELLED for examples without one
    probabilities: tuple[Probabilities, Probabilities] | None  # of base and candidate
    scored_classes: tuple[str, ...]  # of the probabilities; of two, the positive one last
    one_class: str | None  # set if the models only separate this class from the rest
    slices: dict[str, pl.Series]
    clusters: IntArray | None
    n_base: int  # rows that base predicts, with or without the candidate
    excluded: dict[str, int]  # rows left out, by reason
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()  # why the answer may not be what was meant

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.base)

    @property
    def missing(self) -> float:
        """The share of base's rows for which the candidate has no prediction."""
        return (self.n_base - self.n) / self.n_base


@dataclass(frozen=True)
class _Labelled:
    """True labels, and the row of each example among them; None if they are in order."""

    labels: Labels
    rows: IntArray | None

    def at(self, column: pl.Series) -> pl.Series:
        """A column of the labels' table in the order of the examples; null if one is missing."""
        if self.rows is None:
            return column
        longer = column.extend_constant(None, 1)
        return longer.gather(np.where(self.rows < 0, len(column), self.rows))


@dataclass(frozen=True)
class _SharedRows:
    """The compared rows of each model, in base's order; None if all rows, in order."""

    base: IntArray | None
    candidate: IntArray | None


def pair(
    base: Predictions,
    candidate: Predictions,
    labels: Labels | None = None,
    asked: Columns | None = None,
    groups: Groups | None = None,
    one_class: str | None = None,
) -> Paired:
    """Join two models' predictions by id; rows that only one has are left out and counted.

    Slices and clusters are the columns `asked` for and the arrays in `groups`. With `one_class`,
    predictions are reduced to this class and the rest.
    """
    asked = asked or Columns()
    _check_same_rows(base, candidate)
    rows = _shared_rows(base.ids, candidate.ids)
    n = len(base.ids if rows.base is None else rows.base)
    excluded = {**base.excluded, **candidate.excluded}
    for model, other in ((base, candidate), (candidate, base)):
        if only := len(model.ids) - n - n_shared(other.ids_without_prediction, model.ids):
            excluded[f"only in {model.name}"] = only
    if n == 0 and not base.has_ids:
        raise InputError(f"no row has a prediction in both {base.name} and {candidate.name}")
    if n == 0:
        otherwise = written_otherwise(base.ids, candidate.ids, n)
        raise InputError(
            f"{base.name} and {candidate.name} have no id in common: {base.ids[0]!r} is the first "
            f"of one, {candidate.ids[0]!r} of the other{otherwise}"
        )
    ids = _at(base.ids, rows.base)
    labelled = None if labels is None else _labelled(base, labels, ids)
    coded, notes = _coded(base, candidate, rows, ids, labelled)
    notes += [*base.notes, *candidate.notes]
    one_class = one_class or base.only_class or candidate.only_class
    if one_class is not None:
        coded = _against_rest(coded, one_class)
    are_places = any(_go_by_numbers(model) for model in (base, candidate))
    score = base.one_score or candidate.one_score
    notes += check_classes(
        coded,
        base.name,
        candidate.name,
        score,
        are_places=are_places,
        scored=base.probabilities.keys() & candidate.probabilities.keys(),
        hint=other_column(base, candidate),
    )
    scored_classes = _scored_classes(base, candidate)
    if not scored_classes and base.probabilities and candidate.probabilities:
        notes.append("the two have probabilities of different classes: their movement is not shown")
    slices, cluster, differ = _groups(base, candidate, rows, asked, labelled)
    if groups is not None:
        slices |= {name: _of_size(values, name, n) for name, values in groups.slices.items()}
        cluster = cluster if groups.cluster is None else _of_size(groups.cluster, "cluster", n)
    if cluster is not None and cluster.null_count():
        notes.append(f"{cluster.null_count():,} examples have no cluster: they count as one")
    return Paired(
        ids=ids,
        classes=coded.classes,
        base=coded.base,
        candidate=coded.candidate,
        labels=coded.labels,
        probabilities=_probabilities(base, candidate, rows, scored_classes),
        scored_classes=scored_classes,
        one_class=one_class,
        slices=slices,
        clusters=None if cluster is None else number([cluster.fill_null("")])[1][0],
        n_base=len(base.ids),
        excluded=excluded,
        notes=tuple(notes),
        warnings=differ,
    )


def _go_by_numbers(model: Predictions) -> bool:
    """Whether columns of probabilities are named by numbers, which may be positions of classes."""
    return bool(model.probabilities) and all(name.isdecimal() for name in model.probabilities)


def _check_same_rows(one: Predictions | Labels, two: Predictions | Labels) -> None:
    """Refuse two tables if only one has ids, or none has and their numbers of rows differ."""
    first, second = one.n_rows_if_no_ids, two.n_rows_if_no_ids
    if (first is None) != (second is None):
        has, lacks = (one, two) if first is None else (two, one)
        raise InputError(
            f"{has.name} has ids and {lacks.name} has none: name its column with id=, or remove it"
        )
    if first != second:
        raise InputError(
            f"{one.name} has {first:,} rows, {two.name} {second:,}, and there are no ids to join "
            "them by: name a column that both have with id="
        )


def _shared_rows(base: pl.Series, candidate: pl.Series) -> _SharedRows:
    """The rows of both tables whose ids are in both."""
    found = find(*alike(base, candidate))
    if found is None or (found >= 0).all():
        return _SharedRows(None, found)
    kept = np.flatnonzero(found >= 0)
    return _SharedRows(kept, found[kept])


def _labelled(base: Predictions, labels: Labels, ids: pl.Series) -> _Labelled:
    """The labels, with the row of each example."""
    _check_same_rows(base, labels)
    return _Labelled(labels, find(*alike(ids, labels.ids)))


def _at(column: pl.Series, rows: IntArray | None) -> pl.Series:
    return column if rows is None else column.gather(rows)


def _coded(
    base: Predictions,
    candidate: Predictions,
    rows: _SharedRows,
    ids: pl.Series,
    labelled: _Labelled | None,
) -> tuple[Coded, list[str]]:
    """Predictions, and true labels if any, as class numbers; and notes.

    Columns are numbered first and reordered as numbers: one byte each, not eight.
    """
    sides = ((base, rows.base), (candidate, rows.candidate))
    truths = [(model.labels, at) for model, at in sides if model.labels is not None]
    if labelled is not None:
        truths = [(labelled.labels.labels, labelled.rows)]
    values, (one, two, *others) = number(
        [base.predicted, candidate.predicted, *(truth for truth, _ in truths)]
    )
    found = [in_order(numbers, at) for numbers, (_, at) in zip(others, truths, strict=True)]
    truth = _agreed(found, values, ids) if found else None
    notes = []
    if truth is not None and (truth == UNLABELLED).all():
        if labelled is not None:
            name = labelled.labels.name
            none = f"{name} has the label of no example that the models have"
            is_elsewhere = labelled.rows is not None and (labelled.rows < 0).all()
            why = written_otherwise(ids, labelled.labels.ids, 0) if is_elsewhere else ""
            raise InputError(none + why)
        truth = None
        notes.append("the column of true labels is empty")
    coded = Coded(
        classes=tuple(str(value) for value in values),
        base=in_order(one, rows.base),
        candidate=in_order(two, rows.candidate),
        labels=truth,
    )
    return coded.without_unused(), notes


def _agreed(truths: list[IntArray], classes: pl.Series, ids: pl.Series) -> IntArray:
    """Merge the true labels of both models, which must agree; either may have gaps."""
    agreed, *others = truths
    for other in others:
        if np.array_equal(agreed, other):
            continue
        differ = (agreed != other) & (agreed >= 0) & (other >= 0)
        if differ.any():
            row = int(differ.argmax())
            one, two = (classes[int(labels[row])] for labels in (agreed, other))
            raise InputError(
                f"the true labels beside the two models differ in {int(differ.sum()):,} rows, such "
                f"as id {ids[row]!r}: {one!r} and {two!r}"
            )
        agreed = np.where(agreed < 0, other, agreed)
    return agreed


def _against_rest(coded: Coded, one: str) -> Coded:
    """Reduce predictions and labels to one class and the rest."""
    if coded.labels is not None:
        there = [c for c, is_there in zip(coded.classes, coded.has(coded.labels), strict=True)
                 if is_there]  # fmt: skip
        if there and one not in there:
            raise InputError(f"no true label is {one!r}, the positive class: {', '.join(there)}")
    return coded.against_rest(one, REST + one)


def _scored_classes(base: Predictions, candidate: Predictions) -> tuple[str, ...]:
    """The classes of both models' probabilities, the positive one last; empty if they differ."""
    if set(base.probabilities) != set(candidate.probabilities):
        return ()
    classes = tuple(base.probabilities)
    positive = base.positive or candidate.positive
    return tuple(sorted(classes, key=lambda c: c == positive)) if len(classes) == 2 else classes


def _probabilities(
    base: Predictions, candidate: Predictions, rows: _SharedRows, classes: tuple[str, ...]
) -> tuple[Probabilities, Probabilities] | None:
    """Both models' probabilities of these classes."""

    def of(model: Predictions, at: IntArray | None) -> Probabilities:
        columns = [model.probabilities[c] for c in classes]
        has_gaps = any(column.null_count() for column in columns)
        return Probabilities(tuple(c.to_numpy() for c in columns), at, has_gaps)

    return (of(base, rows.base), of(candidate, rows.candidate)) if classes else None


def _groups(
    base: Predictions,
    candidate: Predictions,
    rows: _SharedRows,
    asked: Columns,
    labelled: _Labelled | None,
) -> tuple[dict[str, pl.Series], pl.Series | None, tuple[str, ...]]:
    """Slices by column, and clusters, from any of the files; warnings if the models' differ."""
    differ: list[str] = []

    def of(column: str, argument: str) -> pl.Series:
        def among(one: Predictions | Labels) -> pl.Series | None:
            return one.slices.get(column) if argument == "slices" else one.cluster

        what = f"{argument.removesuffix('s')}s"
        models = [
            _at(as_text(found, model.name, what), at)
            for model, at in ((base, rows.base), (candidate, rows.candidate))
            if (found := among(model)) is not None
        ]
        if len(models) > 1 and (n := n_that_differ(*models)):
            differ.append(in_words(column, what, (base.name, candidate.name), n, len(models[0])))
        if models:
            return models[0]
        if labelled is not None and (found := among(labelled.labels)) is not None:
            return labelled.at(as_text(found, labelled.labels.name, what))
        labels = () if labelled is None else (labelled.labels,)
        raise no_column(column, argument, base, candidate, *labels)

    slices = {column: of(column, "slices") for column in asked.slices}
    cluster = None if asked.cluster is None else of(asked.cluster, "cluster")
    return slices, cluster, tuple(differ)


def _of_size(values: pl.Series, name: str, n: int) -> pl.Series:
    """The values, if there is one for each of n examples; InputError if not."""
    if len(values) != n:
        raise InputError(f"{name} has {len(values)} values for {n} examples")
    return values
