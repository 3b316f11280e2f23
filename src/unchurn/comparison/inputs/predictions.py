"""Read and check one model's predictions, or true labels, from a file, a frame or an array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from unchurn.comparison.inputs.casting import (
    as_ids,
    as_labels,
    as_text,
    first,
    with_spaces,
)
from unchurn.comparison.inputs.columns import (
    BY_INDEX,
    Chosen,
    Columns,
    choose_columns,
    choose_labels,
    is_index,
    says_what_it_is,
)
from unchurn.comparison.inputs.ids.lookup import ABSENT, alike, find, repeated
from unchurn.comparison.inputs.own_probabilities import Contradictions, find_contradictions
from unchurn.comparison.inputs.scores import (
    REST,
    Rule,
    Scores,
    in_words,
    own_positive,
    read_scores,
)
from unchurn.comparison.inputs.sources import Source, open_source
from unchurn.core.class_names import plain_names
from unchurn.core.errors import InputError, unknown
from unchurn.core.frames import INDEXES, as_series

if TYPE_CHECKING:
    import polars as pl

NO_IDS = "the row's place"


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """One model's predictions; series have one value for each row with a prediction."""

    name: str
    ids: pl.Series
    predicted: pl.Series
    labels: pl.Series | None  # true labels in the same file
    probabilities: dict[str, pl.Series]  # by class
    slices: dict[str, pl.Series]  # by column
    cluster: pl.Series | None
    positive: str | None  # of two classes, the one that is asked about
    threshold: float | None  # the probability from which it is predicted, if given
    taken: dict[str, str]  # the column used for each role
    excluded: dict[str, int]  # rows left out, by reason
    ids_without_prediction: pl.Series
    all_columns: tuple[str, ...]  # names of the source's columns; empty for an array
    unused: tuple[str, ...]  # columns without a role
    id_column: str | None
    n_rows_if_no_ids: int | None  # rows without ids are identified by position
    spaced: str | None  # a class with spaces around its name
    one_score: str | None  # the single score column, when predictions come from it
    halved: str | None  # the single score column, when predictions use threshold 0.5
    warnings: tuple[str, ...]  # that the input may not be what was meant
    notes: tuple[str, ...]
    contradiction: str | None  # that predictions go against their own probabilities

    @property
    def has_ids(self) -> bool:
        """Whether ids identify the rows, rather than positions."""
        return self.n_rows_if_no_ids is None

    @property
    def only_class(self) -> str | None:
        """The class that the model only separates from the rest; None if there is none."""
        classes = tuple(self.probabilities)
        is_one = len(classes) == 2 and classes[0] == REST + classes[1]
        return classes[1] if is_one else None


@dataclass(frozen=True, kw_only=True)
class Labels:
    """True labels by id, and slices and clusters of the same file."""

    name: str
    ids: pl.Series
    labels: pl.Series
    slices: dict[str, pl.Series]  # by column
    cluster: pl.Series | None
    taken: dict[str, str]  # the column used for each role
    all_columns: tuple[str, ...]  # names of the source's columns; empty for an array
    n_rows_if_no_ids: int | None
    spaced: str | None

    @property
    def has_ids(self) -> bool:
        """Whether ids identify the rows, rather than positions."""
        return self.n_rows_if_no_ids is None


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Slices and clusters given as arrays, with a value for each compared example."""

    slices: dict[str, pl.Series]
    cluster: pl.Series | None


def read_predictions(
    source: Any, name: str, asked: Columns, *, by_index: bool = False
) -> Predictions:
    """Read a model's predictions: a file, a Polars or pandas frame, labels or probabilities.

    With `by_index`, an index that pandas wrote is the id if no other column is.
    """
    opened = open_source(source, name)
    chosen = choose_columns(opened, asked, by_index=by_index)
    table = opened.read(chosen.needed, numbers=chosen.probabilities)
    _check_header(opened, table, chosen)

    def labels_in(column: str | None) -> pl.Series | None:
        written = opened.is_text
        return None if column is None else as_labels(table[column], name, is_written=written)

    threshold, _ = asked.thresholds  # both are equal for one file
    is_given = chosen.prediction is not None and threshold is None
    given = labels_in(chosen.prediction) if is_given else None
    is_one = len(chosen.probabilities) == 1
    said = (
        {str(value) for value in given.unique().drop_nulls()}
        if given is not None and is_one
        else set()
    )
    positive = None if asked.positive is None else plain_names([asked.positive])[0]
    rule = Rule(
        name=name,
        positive=own_positive(positive, chosen.classes or said),
        threshold=threshold,
    )
    may_be_wrong = is_given and asked.probabilities is None
    scores = read_scores(table, chosen, rule, may_be_wrong=may_be_wrong, said=said)
    probabilities = scores.by_class
    if threshold is not None and not probabilities:
        raise InputError(f"{name}: a threshold needs probabilities, and there are none")
    labels = labels_in(chosen.label)
    rows = _rows_with(list(probabilities.values()) if given is None else [given], name)
    ids = _ids(table, name, chosen.id, is_written=opened.is_text)
    kept_ids, gone_ids = rows.kept(ids), rows.gone(ids).drop_nulls().unique()
    _check_ids(kept_ids, name, gone_ids)
    probabilities = {c: rows.kept(values) for c, values in probabilities.items()}
    one_score = chosen.probabilities[0] if is_one and not is_given else None
    halved = one_score if threshold is None else None
    against = Contradictions()
    if given is not None:
        against = find_contradictions(given, scores.by_class, name)
    predicted = rule.decide(probabilities) if given is None else rows.kept(given)
    return Predictions(
        name=name,
        ids=kept_ids,
        predicted=predicted,
        labels=None if labels is None else rows.kept(labels),
        probabilities=probabilities,
        slices={c: rows.kept(table[c]) for c in chosen.slices},
        cluster=None if chosen.cluster is None else rows.kept(table[chosen.cluster]),
        positive=rule.named_positive(list(probabilities)),
        threshold=threshold,
        taken={"id": _shown_id(opened, chosen), **_taken(chosen, rule, scores)},
        excluded={f"without a prediction in {name}": rows.n_gone} if rows.n_gone else {},
        ids_without_prediction=gone_ids,
        all_columns=() if opened.is_array else opened.names,
        unused=tuple(c for c in opened.names if c not in chosen.needed and not is_index(c)),
        id_column=chosen.id,
        n_rows_if_no_ids=table.height if chosen.id is None else None,
        spaced=_spaced(table, chosen.prediction if is_given else None, chosen.label),
        one_score=one_score,
        halved=halved,
        warnings=() if halved is None else _one_sided(halved, probabilities, predicted, name),
        notes=against.notes,
        contradiction=against.doubt,
    )


def read_labels(source: Any, name: str, asked: Columns, *, by_index: bool = False) -> Labels:
    """Read true labels from a file, a frame or an array, with ids if there are any."""
    opened = open_source(source, name)
    chosen = choose_labels(opened, asked, by_index=by_index)
    table = opened.read(chosen.needed)
    _check_header(opened, table, chosen)
    column = str(chosen.label)
    ids = _ids(table, name, chosen.id, is_written=opened.is_text)
    labels = as_labels(table[column], name, is_written=opened.is_text)
    _check_ids(ids, name)
    return Labels(
        name=name,
        ids=ids,
        labels=labels,
        slices={c: table[c] for c in chosen.slices},
        cluster=None if chosen.cluster is None else table[chosen.cluster],
        taken={"id": _shown_id(opened, chosen), "label": column},
        all_columns=() if opened.is_array else opened.names,
        n_rows_if_no_ids=table.height if chosen.id is None else None,
        spaced=_spaced(table, column),
    )


def read_groups(slices: dict[str, Any], cluster: Any) -> Groups:
    """Read slices and clusters given as arrays."""
    return Groups(
        slices={n: as_text(as_series(v).alias(n), "slices", "slices") for n, v in slices.items()},
        cluster=None if cluster is None else as_text(as_series(cluster), "cluster", "clusters"),
    )


def other_column(base: Predictions, candidate: Predictions) -> str:
    """A hint for an error if predictions are from columns of different names; else empty."""
    one, two = (model.taken["prediction"] for model in (base, candidate))
    if one == two or one not in base.all_columns or two not in candidate.all_columns:
        return ""
    return f". Predictions are from columns {one!r} and {two!r}: name others with prediction="


@dataclass(frozen=True, kw_only=True)
class _WithPrediction:
    """Mask of the rows with a prediction (None if all have one), and the number of others."""

    mask: pl.Series | None
    n_gone: int

    def kept(self, values: pl.Series) -> pl.Series:
        """The values of the rows with a prediction."""
        return values if self.mask is None else values.filter(self.mask)

    def gone(self, values: pl.Series) -> pl.Series:
        """The values of the rows without a prediction."""
        return values.clear() if self.mask is None else values.filter(~self.mask)


def _rows_with(deciding: list[pl.Series], name: str) -> _WithPrediction:
    """The rows in which no column that decides the prediction is missing."""
    gone = reduce(or_, [values.is_null() for values in deciding])
    if gone.all():
        raise InputError(f"{name}: no row has a prediction")
    n_gone = int(gone.sum())
    return _WithPrediction(mask=~gone if n_gone else None, n_gone=n_gone)


def _spaced(table: pl.DataFrame, *columns: str | None) -> str | None:
    """A class with spaces around its name in any of the columns."""
    found = (with_spaces(table[column]) for column in columns if column is not None)
    return next((one for one in found if one is not None), None)


def _one_sided(
    column: str, probabilities: dict[str, pl.Series], predicted: pl.Series, name: str
) -> tuple[str, ...]:
    """Warn that a single column of probabilities predicts the same class in every row."""
    if predicted.n_unique() > 1:
        return ()
    (_, one), always = probabilities, str(predicted[0])
    given = probabilities[one].to_numpy()
    end = f"least {given.min():.3g}" if always == one else f"most {given.max():.3g}"
    return (
        f"{name}: every row is predicted {always}, for {column!r} is at {end}: is it a logit or in "
        "percent? Or name another threshold",
    )


def _taken(chosen: Chosen, rule: Rule, scores: Scores) -> dict[str, str]:
    """The column used for each role, or the rule by which probabilities give predictions."""
    taken = {}
    if scores.problem:
        taken["probabilities"] = f"none ({scores.problem})"
    is_given = chosen.prediction is not None and rule.threshold is None
    if is_given:
        taken["prediction"] = str(chosen.prediction)
    if chosen.label is not None:
        taken["label"] = chosen.label
    if classes := list(scores.by_class):
        rounded = f" (rounded to {scores.decimals} decimals)" if scores.decimals else ""
        taken["probabilities"] = in_words(chosen, classes) + rounded
        if not is_given:
            taken["prediction"] = rule.in_words(classes)
    return taken


def _shown_id(source: Source, chosen: Chosen) -> str:
    """The name of the id column for a reader; an index has none of its own."""
    if chosen.id in INDEXES:
        return BY_INDEX
    return NO_IDS if chosen.id is None else source.renamed.get(chosen.id, chosen.id)


def _ids(table: pl.DataFrame, name: str, column: str | None, *, is_written: bool) -> pl.Series:
    """The ids, or the rows' positions."""
    import polars as pl

    if column is None:
        return pl.int_range(table.height, eager=True)
    return as_ids(table[column], name, is_written=is_written)


def _check_header(source: Source, table: pl.DataFrame, chosen: Chosen) -> None:
    """Refuse a text without a header: a "name" in its first line is also a value of its column."""
    if not source.is_text or any(says_what_it_is(name) for name in source.names):
        return
    for column in (chosen.prediction, chosen.label, chosen.cluster, *chosen.slices):
        if column is not None and column in table[column]:
            raise InputError(
                f"{source.name}: seems to have no header: by its first line a column is called "
                f"{column!r}, which is among its values, too. Write names above the columns, such "
                "as prediction; if it is a name, choose another"
            )


def _check_ids(ids: pl.Series, name: str, others: pl.Series | None = None) -> None:
    """Refuse ids that are missing, repeated, or also among `others`, without a prediction."""
    if ids.null_count():
        row = first(ids.is_null())
        raise InputError(f"{name}: {ids.null_count():,} rows have no id, first row {row}")
    if others is not None and len(others):
        found = find(*alike(others, ids))
        again = others if found is None else others.filter(found != ABSENT)
        if len(again):
            raise InputError(
                f"{name}: {len(again):,} ids are there more than once, with a prediction and "
                f"without, such as {again[0]!r}"
            )
    if ids.is_sorted() and not (ids == ids.shift()).any():
        return
    if twice := repeated(ids):
        row = first(ids.is_duplicated())
        raise InputError(
            f"{name}: {twice:,} ids are there more than once, such as {ids[row]!r}: drop the rows "
            "that are repeated, or join with id= by what each row has of its own (several columns "
            "by comma); if it is a user or the like, who has several, name it with cluster="
        )


def no_column(column: str, argument: str, *files: Predictions | Labels) -> InputError:
    """The error that no file has a column that was asked for."""
    names = dict.fromkeys(name for file in files for name in file.all_columns)
    where = f" for {argument}= in {'either' if len(files) == 2 else 'any'} file"
    return InputError(unknown("column", column, names, where=where))
