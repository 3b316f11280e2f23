"""One model's predictions, or true labels, read and checked: from a file, a frame or an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from unchurn.comparison.inputs.columns import (
    Chosen,
    Columns,
    as_labels,
    as_probabilities,
    as_text,
    choose_columns,
    choose_labels,
    first,
    plain_names,
    whole_numbers,
)
from unchurn.comparison.inputs.ids import repeated
from unchurn.comparison.inputs.sources import as_series, open_source
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

REST = "not "  # before a class: all others, where only its probability is known
TOLERANCE = 1e-3  # by which a row's probabilities may miss the sum of 1
NO_IDS = "the row's place"


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """One model's predictions: every series has a value for each row that has a prediction."""

    name: str
    ids: pl.Series
    predicted: pl.Series
    labels: pl.Series | None  # the true ones that stand beside it
    probabilities: dict[str, pl.Series]  # by class
    slices: dict[str, pl.Series]  # by column
    cluster: pl.Series | None
    positive: str | None  # of two classes, the one that is asked about
    taken: dict[str, str]  # what each of their columns was taken for
    excluded: dict[str, int]  # rows left out, by reason
    ids_without_prediction: pl.Series
    all_columns: tuple[str, ...]  # that the source has by name
    n_rows_if_no_ids: int | None  # rows without ids are told by their place

    @property
    def only_class(self) -> str | None:
        """The class whose probability is all that the model tells."""
        classes = tuple(self.probabilities)
        is_one = len(classes) == 2 and classes[0] == REST + classes[1]
        return classes[1] if is_one else None


@dataclass(frozen=True, kw_only=True)
class Labels:
    """True labels by id."""

    name: str
    ids: pl.Series
    labels: pl.Series
    taken: dict[str, str]  # what each of their columns was taken for
    n_rows_if_no_ids: int | None


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Slices and clusters that were given as arrays, a value for each example that is compared."""

    slices: dict[str, pl.Series]
    cluster: pl.Series | None


def read_predictions(source: Any, name: str, asked: Columns) -> Predictions:
    """Read a model's predictions: a file, a Polars or pandas frame, labels or probabilities."""
    opened = open_source(source, name)
    chosen = choose_columns(opened, asked)
    table = opened.read(chosen.needed)
    rule = _Rule(
        name=name,
        positive=None if asked.positive is None else plain_names([asked.positive])[0],
        threshold=asked.threshold,
    )
    is_given = chosen.prediction is not None and asked.threshold is None
    may_be_wrong = is_given and asked.probabilities is None
    probabilities, problem = _probabilities(table, chosen, rule, may_be_wrong=may_be_wrong)
    if asked.threshold is not None and not probabilities:
        raise InputError(f"{name}: a threshold needs probabilities, and there are none")
    given = as_labels(table[str(chosen.prediction)], name) if is_given else None
    labels = None if chosen.label is None else as_labels(table[chosen.label], name)
    rows = _rows_with(list(probabilities.values()) if given is None else [given], name)
    ids = _ids(table, name, chosen.id)
    kept_ids = rows.kept(ids)
    _check_ids(kept_ids, name)
    probabilities = {c: rows.kept(values) for c, values in probabilities.items()}
    return Predictions(
        name=name,
        ids=kept_ids,
        predicted=rule.decide(probabilities) if given is None else rows.kept(given),
        labels=None if labels is None else rows.kept(labels),
        probabilities=probabilities,
        slices={c: rows.kept(table[c]) for c in chosen.slices},
        cluster=None if chosen.cluster is None else rows.kept(table[chosen.cluster]),
        positive=rule.named_positive(list(probabilities)),
        taken=_taken(chosen, rule, list(probabilities), problem),
        excluded={f"without a prediction in {name}": rows.n_gone} if rows.n_gone else {},
        ids_without_prediction=rows.gone(ids).drop_nulls().unique(),
        all_columns=() if opened.is_array else opened.names,
        n_rows_if_no_ids=None if chosen.id else table.height,
    )


def read_labels(source: Any, name: str, asked: Columns) -> Labels:
    """Read true labels from a file, a frame or an array, with an id where there is one."""
    opened = open_source(source, name)
    chosen = choose_labels(opened, asked)
    table = opened.read(chosen.needed)
    ids, column = _ids(table, name, chosen.id), str(chosen.label)
    labels = as_labels(table[column], name)
    _check_ids(ids, name)
    return Labels(
        name=name,
        ids=ids,
        labels=labels,
        taken={"id": chosen.id or NO_IDS, "label": column},
        n_rows_if_no_ids=None if chosen.id else table.height,
    )


def read_groups(slices: dict[str, Any], cluster: Any) -> Groups:
    """Read slices and clusters that were given as arrays."""
    return Groups(
        slices={n: as_text(as_series(v).alias(n), "slices", "slices") for n, v in slices.items()},
        cluster=None if cluster is None else as_text(as_series(cluster), "cluster", "clusters"),
    )


@dataclass(frozen=True, kw_only=True)
class _WithPrediction:
    """Which rows have a prediction; None if all have."""

    mask: pl.Series | None
    n_gone: int

    def kept(self, values: pl.Series) -> pl.Series:
        """The values of the rows that have one."""
        return values if self.mask is None else values.filter(self.mask)

    def gone(self, values: pl.Series) -> pl.Series:
        """The values of the others."""
        return values.clear() if self.mask is None else values.filter(~self.mask)


def _rows_with(deciding: list[pl.Series], name: str) -> _WithPrediction:
    """The rows in which nothing that decides the prediction is missing."""
    gone = reduce(or_, [values.is_null() for values in deciding])
    if gone.all():
        raise InputError(f"{name}: no row has a prediction")
    n_gone = int(gone.sum())
    return _WithPrediction(mask=~gone if n_gone else None, n_gone=n_gone)


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """How predictions come from probabilities: by the largest, or by a threshold."""

    name: str
    positive: str | None
    threshold: float | None

    def decide(self, probabilities: dict[str, pl.Series]) -> pl.Series:
        """The predicted classes."""
        import polars as pl

        def as_given(names: Sequence[str]) -> pl.Series:
            return whole_numbers(pl.Series(names, dtype=pl.String))

        if self.threshold is None:
            # Of equal ones the first by name, whatever the order of the columns.
            ordered = sorted(probabilities, key=_by_number_then_name)
            table = pl.DataFrame({c: probabilities[c] for c in ordered}).to_numpy()
            return as_given(ordered).gather(table.argmax(axis=1))
        positive = self._of_threshold(list(probabilities))
        negative = next(c for c in probabilities if c != positive)
        above = probabilities[positive] >= self.threshold
        return as_given([negative, positive]).gather(above.cast(pl.UInt32))

    def in_words(self, classes: list[str]) -> str:
        """The same for a reader."""
        if self.threshold is None:
            return "the most probable class"
        return f"{self._of_threshold(classes)} from a probability of {self.threshold:g}"

    def named_positive(self, classes: list[str]) -> str | None:
        """The positive class, as it was named or by its name."""
        usual = [c for c in classes if c.lower() in ("1", "true")]
        return self.positive or (usual[0] if len(usual) == 1 else None)

    def _of_threshold(self, classes: list[str]) -> str:
        """The class that a threshold is for; never by its place, in which files may differ."""
        if len(classes) != 2:
            raise InputError(f"a threshold is for two classes, not {len(classes)}")
        positive = self.named_positive(classes)
        if positive is None:
            raise InputError(
                f"which class is the threshold for? Give positive= {' or '.join(classes)}"
            )
        return positive


def _by_number_then_name(name: str) -> tuple[bool, int, str]:
    """Classes that are numbers first, 9 before 10; then names."""
    return (not name.isdigit(), int(name) if name.isdigit() else 0, name)


def _probabilities(
    table: pl.DataFrame, chosen: Chosen, rule: _Rule, *, may_be_wrong: bool
) -> tuple[dict[str, pl.Series], str | None]:
    """Probabilities by class, which sum to 1; or none, and why a guess was wrong.

    Only where there is a prediction besides may a guess be wrong: a score need be no probability.
    """
    try:
        probabilities = _by_class(table, chosen, rule)
        _check_sums(list(probabilities.values()), rule.name)
    except InputError as error:
        if may_be_wrong:
            return {}, str(error).removeprefix(f"{rule.name}: ")
        raise
    if may_be_wrong and len(chosen.probabilities) == 1 and rule.positive is None:
        predicted = as_labels(table[str(chosen.prediction)], rule.name).unique().drop_nulls()
        if not set(map(str, predicted)) <= set(probabilities):
            return {}, f"of which class is {chosen.probabilities[0]!r}? Name the positive one"
    return probabilities, None


def _by_class(table: pl.DataFrame, chosen: Chosen, rule: _Rule) -> dict[str, pl.Series]:
    """Columns of probabilities by the classes they are of; NaN is a gap."""
    columns, classes, positive = chosen.probabilities, chosen.classes, rule.positive
    if len(columns) == 1:
        positive = "1" if positive is None else positive
        values = as_probabilities(table[columns[0]], rule.name)
        return {"0" if positive == "1" else REST + positive: 1 - values, positive: values}
    if twice := next((c for c in classes if classes.count(c) > 1), None):
        raise InputError(f"{rule.name}: two columns are probabilities of {twice!r}")
    if columns and positive is not None and positive not in classes:
        raise InputError(f"{rule.name}: no probability of {positive!r}; of {', '.join(classes)}")
    return {
        name: as_probabilities(table[column], rule.name)
        for name, column in zip(classes, columns, strict=True)
    }


def _check_sums(probabilities: list[pl.Series], name: str) -> None:
    """Refuse probabilities that do not sum to 1; rows with a gap are left out later."""
    import polars as pl

    if not probabilities:
        return
    frame = pl.DataFrame([p.alias(str(i)) for i, p in enumerate(probabilities)])
    sums = pl.sum_horizontal(pl.all(), ignore_nulls=False)
    off = ((sums - 1).abs() > TOLERANCE).fill_null(value=False)
    if frame.lazy().select(off.any()).collect().item():  # in blocks: no column of sums is made
        rows = frame.select(off.alias("off"), sums.alias("sum"))
        row = first(rows["off"])
        raise InputError(
            f"{name}: probabilities of {int(rows['off'].sum()):,} rows do not sum to 1, first in "
            f"row {row} ({rows['sum'][row]:.4g})"
        )


def _taken(chosen: Chosen, rule: _Rule, classes: list[str], problem: str | None) -> dict[str, str]:
    """What each column was taken for, and by which rule there are predictions without one."""
    taken = {"id": chosen.id or NO_IDS}
    if problem:
        taken["probabilities"] = f"none ({problem})"
    is_given = chosen.prediction is not None and rule.threshold is None
    if is_given:
        taken["prediction"] = str(chosen.prediction)
    if chosen.label is not None:
        taken["label"] = chosen.label
    if classes:
        columns = chosen.probabilities
        shown = ", ".join(columns) if len(columns) < 6 else f"{columns[0]} … {columns[-1]}"
        taken["probabilities"] = (
            shown if len(columns) > 1 else f"{columns[0]} (of class {classes[1]})"
        )
        if not is_given:
            taken["prediction"] = rule.in_words(classes)
    return taken


def _ids(table: pl.DataFrame, name: str, column: str | None) -> pl.Series:
    """The ids, or the rows' places; bytes, as UUIDs may be stored, by their hexadecimal digits."""
    import polars as pl

    if column is None:
        return pl.int_range(table.height, eager=True)
    ids = table[column]
    if ids.dtype == pl.Binary:
        return ids.bin.encode("hex")
    if ids.dtype.is_float():  # what pandas makes of whole numbers that had gaps once
        whole = ids.cast(pl.Int64, strict=False)
        return whole if whole.cast(ids.dtype).equals(ids) else ids
    return as_text(ids, name, "ids") if ids.dtype.is_nested() or ids.dtype == pl.Object else ids


def _check_ids(ids: pl.Series, name: str) -> None:
    """Refuse ids that are missing or twice there."""
    if ids.null_count():
        row = first(ids.is_null())
        raise InputError(f"{name}: {ids.null_count():,} rows have no id, first row {row}")
    if ids.is_sorted() and not (ids == ids.shift()).any():
        return
    if twice := repeated(ids):
        row = first(ids.is_duplicated())
        raise InputError(f"{name}: {twice:,} ids are there more than once, such as {ids[row]!r}")
