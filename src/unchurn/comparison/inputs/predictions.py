"""One model's predictions, from a file, a frame or an array: which column is what, checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unchurn.comparison.inputs.casting import (
    as_labels,
    as_probabilities,
    as_text,
    first,
    plain_classes,
    whole_numbers,
)
from unchurn.comparison.inputs.ids import repeated
from unchurn.comparison.inputs.sources import PREDICTION, PROBABILITIES, as_table
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

# Names that are taken for what they say, in this order; case, spaces and hyphens do not matter.
NAMES = {
    "id": ("id", "example_id", "row_id", "uid", "uuid", "key", "index"),
    "prediction": ("prediction", "predicted", "pred", "predicted_label", "prediction_label",
                   "y_pred", "yhat", "y_hat", "predicted_class"),
    "label": ("label", "true_label", "truth", "target", "y_true", "actual", "gold", "y"),
    "probability": ("probability", "prob", "proba", "score", "p"),
}  # fmt: skip
PREFIXES = (PROBABILITIES, "probability_", "proba_", "prob_", "p_")
REST = "not "  # before a class: all others, where only its probability is known
TOLERANCE = 1e-3  # by which a row's probabilities may miss the sum of 1
PLACE = "the row's place"
ID, LABEL, PROBABILITY = "\0id", "\0label", "\0p "  # our columns, by names that no file has


@dataclass(frozen=True)
class Columns:
    """Which column is what. What is not named is guessed.

    `probabilities` is the beginning of the names of one column per class, or the whole name of the
    one column with the probability of the class `positive`.
    """

    id: str | None = None
    prediction: str | None = None
    label: str | None = None
    probabilities: str | None = None
    positive: str | None = None
    threshold: float | None = None
    slices: tuple[str, ...] = ()
    cluster: str | None = None


@dataclass(frozen=True)
class Predictions:
    """A model's predictions: a table with our own column names, and what became of theirs."""

    name: str
    table: pl.DataFrame
    classes: tuple[str, ...]  # that have a column of probabilities
    taken: dict[str, str]  # what each of their columns was taken for
    excluded: dict[str, int]  # rows left out, by reason
    without: pl.Series  # ids of the rows without a prediction
    columns: tuple[str, ...]  # all that the source has
    n_rows: int | None  # of a table without ids, whose rows are told by their place
    positive: str | None  # of two classes, the one that is asked about


@dataclass(frozen=True)
class Labels:
    """True labels by id."""

    name: str
    table: pl.DataFrame
    taken: dict[str, str]  # what each of their columns was taken for
    n_rows: int | None  # of a table without ids


def read_predictions(source: Any, name: str, columns: Columns) -> Predictions:
    """Read a model's predictions: a file, a Polars or pandas frame, labels or probabilities."""
    found = columns
    there: tuple[str, ...] = ()

    def choose(names: Sequence[str]) -> list[str]:
        nonlocal found, there
        found, there = _find(names, name, columns), tuple(names)
        if found.prediction is None and found.probabilities is None:
            raise InputError(
                f"{name}: which column is the prediction? Name it with --prediction, or the "
                f"probabilities with --probabilities; there are {', '.join(names)}"
            )
        return _needed(names, name, found)

    table = as_table(source, name, choose)
    if table.height == 0:
        raise InputError(f"{name}: has no rows")
    return _checked(table, name, found, there, is_guess=columns.probabilities is None)


def read_labels(source: Any, name: str, columns: Columns) -> Labels:
    """Read true labels from a file, a frame or an array, with an id where there is one."""
    import polars as pl

    found = columns

    def choose(names: Sequence[str]) -> list[str]:
        nonlocal found
        is_array = list(names) == [PREDICTION]
        asked = replace(columns, prediction=None, probabilities=None)  # the models' columns
        found = _find(names, name, replace(asked, label=PREDICTION) if is_array else asked)
        if found.label is None:
            raise InputError(
                f"{name}: which column is the true label? Name it with --label; there are "
                f"{', '.join(names)}"
            )
        return list(dict.fromkeys(c for c in (found.id, found.label) if c))

    table = as_table(source, name, choose)
    if table.height == 0:
        raise InputError(f"{name}: has no rows")
    labels = pl.DataFrame(
        {ID: _ids(table, name, found.id), LABEL: as_labels(table[str(found.label)], name)}
    )
    taken = {"id": found.id or PLACE, "label": _shown(str(found.label))}
    return Labels(name, _distinct(labels, name), taken, None if found.id else table.height)


def _find(names: Sequence[str], name: str, asked: Columns) -> Columns:
    """Fill in what was not named; what was named must be there."""
    plain = {c.lower().replace(" ", "_").replace("-", "_"): c for c in reversed(names)}

    def guess(kind: str, *used: str | None) -> str | None:
        there = (plain[n] for n in NAMES[kind] if n in plain)
        return next((column for column in there if column not in used), None)

    for column in (asked.id, asked.prediction):
        if column is not None and column not in names:
            raise InputError(f"{name}: no column {column!r}; there are {', '.join(names)}")
    label = asked.label if asked.label in names else None
    prediction = PREDICTION if PREDICTION in names else asked.prediction or guess("prediction")
    probabilities = asked.probabilities
    if probabilities is None:
        probabilities = next(
            (p for p in PREFIXES if sum(c.lower().startswith(p) for c in names) > 1),
            guess("probability", prediction, label),
        )
    return replace(
        asked,
        positive=None if asked.positive is None else _plain([asked.positive])[0],
        id=asked.id or guess("id"),
        prediction=prediction,
        label=label if asked.label else guess("label", prediction),
        probabilities=probabilities,
        slices=tuple(s for s in asked.slices if s in names),
        cluster=asked.cluster if asked.cluster in names else None,
    )


def _plain(names: Iterable[str]) -> tuple[str, ...]:
    """Names of classes as labels are spelled."""
    import polars as pl

    return tuple(plain_classes(pl.Series(list(names), dtype=pl.String)))


def _needed(names: Sequence[str], name: str, found: Columns) -> list[str]:
    """The columns to read."""
    single = (found.id, found.prediction, found.label, found.cluster)
    chosen = [*(c for c in single if c), *found.slices, *_of_probabilities(names, name, found)]
    return list(dict.fromkeys(chosen))


def _checked(
    table: pl.DataFrame, name: str, found: Columns, there: tuple[str, ...], *, is_guess: bool
) -> Predictions:
    """Rename to our columns, derive the prediction, leave out and count rows that say nothing."""
    import polars as pl

    ours: dict[str, pl.Series] = {}
    taken = {"id": found.id or PLACE}
    ours[ID] = _ids(table, name, found.id)
    probabilities, classes, problem = _if_usable(table, name, found, is_guess)
    if problem:
        taken["probabilities"] = f"none ({problem})"
    if found.threshold is not None and not classes:
        raise InputError(f"{name}: a threshold needs probabilities, and there are none")
    if found.prediction is not None and found.threshold is None:
        ours[PREDICTION] = as_labels(table[found.prediction], name)
        taken["prediction"] = _shown(found.prediction)
    if found.label is not None:
        ours[LABEL] = as_labels(table[found.label], name)
        taken["label"] = found.label
    for column in (*found.slices, *([found.cluster] if found.cluster else [])):
        ours[column] = table[column]
    ours |= {f"{PROBABILITY}{c}": p for c, p in zip(classes, probabilities, strict=True)}
    frame = pl.DataFrame(ours)
    excluded, without = {}, frame[ID].clear()
    deciding = [PREDICTION] if PREDICTION in ours else [f"{PROBABILITY}{c}" for c in classes]
    gone = frame.select(pl.any_horizontal(pl.col(deciding).is_null())).to_series()
    if gone.any():
        excluded[f"without a prediction in {name}"] = int(gone.sum())
        without = frame.filter(gone)[ID].drop_nulls().unique()
        frame = frame.filter(~gone)
    if frame.height == 0:
        raise InputError(f"{name}: no row has a prediction")
    if classes:
        taken["probabilities"] = _shown_all(_of_probabilities(table.columns, name, found), classes)
        if PREDICTION not in frame.columns:
            taken["prediction"] = _rule(found, classes)
            frame = frame.with_columns(_decide(frame, found, classes).alias(PREDICTION))
    n_rows = None if found.id else table.height
    positive = _named_positive(found, classes)
    frame = _distinct(frame, name)
    return Predictions(name, frame, classes, taken, excluded, without, there, n_rows, positive)


def _shown(column: str) -> str:
    """A column's name; that of an array has none."""
    return "the array" if column == PREDICTION else column


def _shown_all(columns: list[str], classes: tuple[str, ...]) -> str:
    """The names of the columns of probabilities; of one, the class as well."""
    if len(columns) == 1:
        return f"{columns[0]} (of class {classes[1]})"
    return ", ".join(columns) if len(columns) < 6 else f"{columns[0]} … {columns[-1]}"


def _of_probabilities(names: Sequence[str], name: str, found: Columns) -> list[str]:
    """The columns of probabilities: one of the positive class, or one per class."""
    asked = found.probabilities
    if asked is None:
        return []
    if asked in names:
        return [asked]
    several = [c for c in names if c.lower().startswith(asked.lower())]
    if len(several) < 2:
        raise InputError(
            f"{name}: no column {asked!r} and no two columns that begin so; there are "
            f"{', '.join(names)}"
        )
    return several


def _if_usable(
    table: pl.DataFrame, name: str, found: Columns, is_guess: bool
) -> tuple[list[pl.Series], tuple[str, ...], str | None]:
    """Columns of probabilities and their classes, which sum to 1; or why a guess was wrong.

    Only where there is a prediction besides may a guess be wrong: a score need be no probability.
    """
    may_be_wrong = is_guess and found.prediction is not None and found.threshold is None
    try:
        probabilities, classes = _probabilities(table, name, found)
        _check_sums(probabilities, name)
    except InputError as error:
        if may_be_wrong:
            return [], (), str(error).removeprefix(f"{name}: ")
        raise
    one = found.probabilities
    if may_be_wrong and one in table.columns and found.positive is None:
        predicted = as_labels(table[str(found.prediction)], name).unique().drop_nulls()
        if not set(map(str, predicted)) <= set(classes):
            return [], (), f"of which class is {one!r}? Say --positive"
    return probabilities, classes, None


def _probabilities(
    table: pl.DataFrame, name: str, found: Columns
) -> tuple[list[pl.Series], tuple[str, ...]]:
    """Columns of probabilities and the classes they are of; NaN is a gap."""
    names = _of_probabilities(table.columns, name, found)
    if len(names) == 1:
        positive = found.positive if found.positive is not None else "1"
        values = as_probabilities(table[names[0]], name)
        return [1 - values, values], ("0" if positive == "1" else REST + positive, positive)
    classes = _plain(c[len(found.probabilities or "") :] for c in names)
    if twice := next((c for c in classes if classes.count(c) > 1), None):
        raise InputError(f"{name}: two columns are probabilities of {twice!r}")
    if names and found.positive is not None and found.positive not in classes:
        raise InputError(f"{name}: no probability of {found.positive!r}; of {', '.join(classes)}")
    return [as_probabilities(table[c], name) for c in names], classes


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


def _rule(found: Columns, classes: tuple[str, ...]) -> str:
    """How the prediction comes from the probabilities, in words."""
    if found.threshold is None:
        return "the most probable class"
    return f"{_positive(found, classes)} from a probability of {found.threshold:g}"


def _positive(found: Columns, classes: tuple[str, ...]) -> str:
    """The class that a threshold is for: never by a column's place, which files may differ in."""
    if len(classes) != 2:
        raise InputError(f"a threshold is for two classes, not {len(classes)}")
    positive = _named_positive(found, classes)
    if positive is None:
        raise InputError(f"which class is the threshold for? --positive {' or '.join(classes)}")
    return positive


def _named_positive(found: Columns, classes: tuple[str, ...]) -> str | None:
    """The positive class, as it was named or by its name."""
    usual = [c for c in classes if c.lower() in ("1", "true")]
    return found.positive or (usual[0] if len(usual) == 1 else None)


def _decide(frame: pl.DataFrame, found: Columns, classes: tuple[str, ...]) -> pl.Series:
    """The predicted class from the probabilities: the largest, or by the threshold."""
    import polars as pl

    def numbered(names: Sequence[str]) -> pl.Series:
        return whole_numbers(pl.Series(names, dtype=pl.String))

    if found.threshold is None:
        # Of equal ones the first by name, whatever the order of the columns.
        ordered = sorted(classes, key=lambda c: (not c.isdigit(), int(c) if c.isdigit() else 0, c))
        table = frame.select(f"{PROBABILITY}{c}" for c in ordered).to_numpy()
        return numbered(ordered).gather(table.argmax(axis=1))
    positive = _positive(found, classes)
    negative = next(c for c in classes if c != positive)
    above = frame[f"{PROBABILITY}{positive}"] >= found.threshold
    return numbered([negative, positive]).gather(above.cast(pl.UInt32))


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


def _distinct(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Refuse ids that are missing or twice there."""
    ids = frame[ID]
    if ids.null_count():
        row = first(ids.is_null())
        raise InputError(f"{name}: {ids.null_count():,} rows have no id, first row {row}")
    if ids.is_sorted() and not (ids == ids.shift()).any():
        return frame
    if twice := repeated(ids):
        row = first(ids.is_duplicated())
        raise InputError(f"{name}: {twice:,} ids are there more than once, such as {ids[row]!r}")
    return frame
