"""Columns of a table of predictions: which is what, and their values as labels and the like."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unchurn.comparison.inputs.sources import ARRAY, PROBABILITIES, Source
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
MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "<NA>")  # where they are no class
WHOLE = r"^(0|-?[1-9]\d*)(\.0+)?$"  # a whole number, also as pandas writes it beside gaps
BOOLEANS = ("true", "false")
ROUNDING = 1e-6  # by which a probability may lie outside 0 … 1


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The columns of one source by what they are, as far as it has them."""

    id: str | None
    prediction: str | None = None
    label: str | None = None
    probabilities: tuple[str, ...] = ()  # one, of the positive class, or one for each class
    classes: tuple[str, ...] = ()  # of the probabilities, where there is one for each class
    slices: tuple[str, ...] = ()
    cluster: str | None = None

    @property
    def needed(self) -> list[str]:
        """All of them, each once."""
        single = (self.id, self.prediction, self.label, self.cluster)
        return list(dict.fromkeys([c for c in (*single, *self.slices, *self.probabilities) if c]))


def choose_columns(source: Source, asked: Columns) -> Chosen:
    """Choose a model's columns: as they were asked for, else by their names."""
    names = source.names
    for column in (asked.id, asked.prediction):
        if column is not None and column not in names:
            raise InputError(f"{source.name}: no column {column!r}; {source.in_words()}")
    prediction = ARRAY if source.is_array else asked.prediction or _guess(names, "prediction")
    label = asked.label if asked.label in names else None
    beginning = asked.probabilities or _beginning(names, prediction, label)
    probabilities = () if beginning is None else _of_probabilities(source, beginning)
    if prediction is None and not probabilities:
        raise InputError(
            f"{source.name}: which column is the prediction? Name it with prediction=, or the "
            f"probabilities with probabilities=; {source.in_words()}"
        )
    is_one = probabilities == (beginning,)
    suffixes = () if is_one else (column[len(beginning or "") :] for column in probabilities)
    return Chosen(
        id=asked.id or _guess(names, "id"),
        prediction=prediction,
        label=label if asked.label else _guess(names, "label", prediction),
        probabilities=probabilities,
        classes=plain_names(suffixes),
        slices=tuple(s for s in asked.slices if s in names),
        cluster=asked.cluster if asked.cluster in names else None,
    )


def choose_labels(source: Source, asked: Columns) -> Chosen:
    """Choose the columns of a table of true labels: id and label."""
    names = source.names
    if asked.id is not None and asked.id not in names:
        raise InputError(f"{source.name}: no column {asked.id!r}; {source.in_words()}")
    label = asked.label if asked.label in names else None
    if source.is_array:
        label = ARRAY
    elif asked.label is None:
        label = _guess(names, "label", _guess(names, "prediction"))
    if label is None:
        raise InputError(
            f"{source.name}: which column is the true label? Name it with label=; "
            f"{source.in_words()}"
        )
    return Chosen(id=asked.id or _guess(names, "id"), label=label)


def _guess(names: Iterable[str], kind: str, *used: str | None) -> str | None:
    """The column whose name says what it is, unless it is used for something else."""
    plain = {c.lower().replace(" ", "_").replace("-", "_"): c for c in reversed([*names])}
    there = (plain[n] for n in NAMES[kind] if n in plain)
    return next((column for column in there if column not in used), None)


def _beginning(names: Iterable[str], *used: str | None) -> str | None:
    """How the columns of probabilities begin, or the name of the only one."""
    several = (p for p in PREFIXES if sum(c.lower().startswith(p) for c in names) > 1)
    return next(several, None) or _guess(names, "probability", *used)


def _of_probabilities(source: Source, beginning: str) -> tuple[str, ...]:
    """The columns of probabilities: the one of that name, or all that begin so."""
    if beginning in source.names:
        return (beginning,)
    several = tuple(c for c in source.names if c.lower().startswith(beginning.lower()))
    if len(several) < 2:
        raise InputError(
            f"{source.name}: no column {beginning!r} and no two columns that begin so; "
            f"{source.in_words()}"
        )
    return several


def as_labels(column: pl.Series, name: str) -> pl.Series:
    """Labels as whole numbers or text: 1, 1.0 and "1" are the same class, and so are True and true.

    In a column of numbers or booleans, NA, NaN and the like are missing values.
    """
    import polars as pl

    if fits_int64(column.dtype):
        return column.cast(pl.Int64)
    if column.dtype.is_float():
        return _from_floats(column, name)
    text = as_text(column, name, "labels")
    values = text.unique().drop_nulls()
    given = values.filter(~values.is_in(MISSING))
    if given.is_empty():
        return text
    plain = plain_classes(given)
    numbers = whole_numbers(plain)
    if numbers.dtype == pl.Int64 or plain.is_in(BOOLEANS).all():
        return text.replace_strict(given, numbers, default=None)
    return text if plain.equals(given) else text.replace(given, plain)


def plain_classes(names: pl.Series) -> pl.Series:
    """Names of classes in one spelling: 1 for 1.0, true for True.

    Each name is normalised on its own, so that a class gets the same spelling in every file.
    """
    lower, plain = names.str.to_lowercase(), names.str.replace(WHOLE, "${1}")
    return lower.zip_with(lower.is_in(BOOLEANS), plain)


def plain_names(names: Iterable[str]) -> tuple[str, ...]:
    """The same for names that are not yet a series."""
    import polars as pl

    return tuple(plain_classes(pl.Series(list(names), dtype=pl.String)))


def whole_numbers(names: pl.Series) -> pl.Series:
    """Plain names of classes as whole numbers, if all are; else as they are."""
    import polars as pl

    numbers = names.cast(pl.Int64, strict=False)
    return numbers if names.str.contains(WHOLE).all() and not numbers.null_count() else names


def fits_int64(kind: pl.DataType) -> bool:
    """Whether it is a type of whole numbers that 64 bits hold."""
    import polars as pl

    return kind in (pl.Int64, pl.Int32, pl.Int16, pl.Int8, pl.UInt32, pl.UInt16, pl.UInt8)


def _from_floats(column: pl.Series, name: str) -> pl.Series:
    """Labels from floats, which must be whole."""
    import polars as pl

    column = column.fill_nan(None)
    whole = column.cast(pl.Int64, strict=False)
    if (whole.cast(pl.Float64) != column).any() or whole.null_count() > column.null_count():
        raise InputError(
            f"{name}: {_shown(column)} holds fractions, no labels: of probabilities say "
            "probabilities="
        )
    return whole


def as_probabilities(column: pl.Series, name: str) -> pl.Series:
    """Numbers from 0 to 1; NaN, and text that stands for it, is a gap."""
    import polars as pl

    if column.dtype == pl.String:
        column = column.set(column.is_in(MISSING), None)
    try:
        numbers = column.cast(pl.Float64).fill_nan(None)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{name}: column {column.name!r} is not all numbers") from error
    if numbers.is_between(0, 1).all():  # gaps do not count
        return numbers
    outside = (numbers < -ROUNDING) | (numbers > 1 + ROUNDING)
    if outside.any():
        row = first(outside)
        raise InputError(
            f"{name}: {column.name!r} has {numbers[row]:g} in row {row}: no probability (of "
            "logits, take the softmax first)"
        )
    return numbers.clip(0, 1)


def as_text(column: pl.Series, name: str, what: str) -> pl.Series:
    """Any column of single values as text; `what` it should be is for the error."""
    import polars as pl

    if not (column.dtype.is_nested() or column.dtype == pl.Object):
        try:
            return column.cast(pl.String)
        except pl.exceptions.PolarsError:  # bytes that are no text, and the like
            pass
    raise InputError(f"{name}: {_shown(column)} is {column.dtype}, no {what}")


def _shown(column: pl.Series) -> str:
    """A column by its name; that of an array has none."""
    return ARRAY if column.name in ("", ARRAY) else f"column {column.name!r}"


def first(rows: pl.Series) -> int:
    """The number of the first row that is true."""
    found = rows.fill_null(value=False).arg_max()
    return 0 if found is None else found
