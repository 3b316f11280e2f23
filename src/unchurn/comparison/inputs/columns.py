"""Choose the columns of a table of predictions (id, prediction, label …), by option or name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from unchurn.comparison.inputs.sources import ARRAY, PROBABILITIES, Source
from unchurn.core.arrays import NUMBER, as_fraction
from unchurn.core.class_names import plain_names
from unchurn.core.errors import InputError, unknown
from unchurn.core.frames import INDEXES

# Usual names of columns, in order of preference; case, spaces and hyphens do not matter.
NAMES = {
    "id": ("id", "example_id", "row_id", "uid", "uuid", "key", "index"),
    "prediction": ("prediction", "predicted", "pred", "predicted_label", "prediction_label",
                   "y_pred", "yhat", "y_hat", "predicted_class"),
    "label": ("label", "true_label", "truth", "target", "y_true", "actual", "gold", "y"),
    "probability": ("probability", "prob", "proba", "score", "p"),
}  # fmt: skip
BY_INDEX = "the index that pandas wrote"  # what readers know it as
INDEX = "index"  # what reset_index calls it: the id, if there is no better one
# Names of an index's second level: if there is one, the first alone is no id.
FURTHER_INDEXES = ("_duplicated_0", "Unnamed: 1", "__index_level_1__")
PREFIX = "probability_"  # before a class: names of the columns of probabilities that we write
PREFIXES = (PROBABILITIES, PREFIX, "proba_", "prob_", "p_")


SEVERAL = ("id", "prediction", "probabilities")  # fields that may hold several names


class NoPredictionError(InputError):
    """The column of predictions cannot be determined."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Names of the columns by their role; those not given are guessed.

    `id` may be several columns, which identify rows together; `customer_id=cust` is a column that
    files other than the base's call `cust`. `prediction` may be two names, the base's and the
    candidate's, and `threshold` two numbers; None for one of them leaves that model its own
    predictions. `probabilities` is how the names of one column per class begin, or their whole
    names, which are then the classes, or the name of the one column with the probability of
    `positive`. Several names are separated by commas, or given as a list.
    """

    id: str | None = None
    prediction: str | None = None
    label: str | None = None
    probabilities: str | None = None
    positive: str | None = None
    threshold: float | tuple[float | None, float | None] | None = None
    slices: tuple[str, ...] = ()
    cluster: str | None = None

    def __post_init__(self) -> None:
        for name in (*SEVERAL, "label", "positive", "cluster"):
            object.__setattr__(self, name, _as_name(getattr(self, name), name))
        for threshold in self.thresholds:
            if threshold is not None:
                as_fraction(threshold, "threshold")

    @property
    def thresholds(self) -> tuple[float | None, float | None]:
        """The thresholds of base (and retrainings) and of the candidate."""
        given = self.threshold
        return given if isinstance(given, tuple) else (given, given)


def _as_name(given: Any, field: str) -> str | None:
    """The name of a column or a class, which may be a number; several joined, where allowed."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, list | tuple) and given and field in SEVERAL:
        return ",".join(str(name) for name in given)
    if isinstance(given, NUMBER):  # true and false among them
        return str(given)
    raise InputError(f"columns: {field} must be a name, not {given!r}")


def as_columns(given: Columns | Mapping[str, Any] | None) -> Columns:
    """`Columns` from itself, a dict of its fields, or None."""
    if given is None or isinstance(given, Columns):
        return given or Columns()
    if not isinstance(given, Mapping):
        raise InputError(f"columns must be Columns or a dict of its fields, not {given!r}")
    known = [field.name for field in fields(Columns)]
    if wrong := [name for name in given if name not in known]:
        raise InputError(f"columns: {unknown('field', str(wrong[0]), known)}")
    slices = given.get("slices") or ()
    if not isinstance(slices, Sequence):
        raise InputError(f"columns: slices must be names of columns, not {slices!r}")
    slices = (slices,) if isinstance(slices, str) else tuple(slices)
    threshold = given.get("threshold")
    if isinstance(threshold, Sequence):
        if len(threshold) != 2:
            raise InputError(f"columns: threshold must be one number or two, not {threshold!r}")
        threshold = tuple(threshold)
    return Columns(**{**given, "slices": slices, "threshold": threshold})


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The columns of one source by role; None or empty for roles that it lacks."""

    id: str | None
    prediction: str | None = None
    label: str | None = None
    probabilities: tuple[str, ...] = ()  # one, of the positive class, or one for each class
    classes: tuple[str, ...] = ()  # of the probabilities, if there is one for each class
    slices: tuple[str, ...] = ()
    cluster: str | None = None

    @property
    def needed(self) -> list[str]:
        """All chosen columns, each once."""
        single = (self.id, self.prediction, self.label, self.cluster)
        every = (*single, *self.slices, *self.probabilities)
        return list(dict.fromkeys(c for c in every if c is not None))  # an index is called ""


def choose_columns(source: Source, asked: Columns, *, by_index: bool = False) -> Chosen:
    """Choose a model's columns: as asked for, else by their names."""
    names = source.names
    for column in (asked.id, asked.prediction):
        if not _is_there(column, source):
            raise source.no_column(str(column))
    prediction = ARRAY if source.is_array else asked.prediction or _guess(names, "prediction")
    label = asked.label if asked.label in names else None
    beginning = asked.probabilities or _beginning(names, prediction, label)
    probabilities, classes = ((), ()) if beginning is None else _of_probabilities(source, beginning)
    id_column = _id_column(source, asked, by_index)
    if prediction is None and not probabilities and not (asked.slices or asked.cluster):
        prediction = _only(names, id_column, label or _guess(names, "label"))
    if prediction is None and not probabilities:
        raise NoPredictionError(
            f"{source.name}: which column is the prediction? Name it with prediction= (two by "
            "comma, the base's and the candidate's, if they differ), or the probabilities with "
            f"probabilities=; {source.in_words()}"
        )
    return Chosen(
        id=id_column,
        prediction=prediction,
        label=label if asked.label else _guess(names, "label", prediction),
        probabilities=probabilities,
        classes=classes,
        slices=tuple(s for s in asked.slices if s in names),
        cluster=asked.cluster if asked.cluster in names else None,
    )


def choose_labels(source: Source, asked: Columns, *, by_index: bool = False) -> Chosen:
    """Choose the columns of a table of true labels: id, label, slices, cluster."""
    names = source.names
    if not _is_there(asked.id, source):
        raise source.no_column(str(asked.id))
    label = asked.label if asked.label in names else None
    if source.is_array:
        label = ARRAY
    elif asked.label is None:
        label = _guess(names, "label", _guess(names, "prediction"))
    id_column = _id_column(source, asked, by_index)
    if label is None and asked.label is not None:
        raise source.no_column(asked.label)
    if label is None and not (asked.slices or asked.cluster):
        label = _only(names, id_column, *told_by_model(source, asked))
    if label is None:
        raise InputError(
            f"{source.name}: which column is the true label? Name it with label=; "
            f"{source.in_words()}"
        )
    return Chosen(
        id=id_column,
        label=label,
        slices=tuple(s for s in asked.slices if s in names),
        cluster=asked.cluster if asked.cluster in names else None,
    )


def _is_there(column: str | None, source: Source) -> bool:
    """Whether the source has the column, or None was asked; an index may have any pandas name."""
    if column in INDEXES:
        return index_column(source) is not None
    return column is None or column in source.names


def _id_column(source: Source, asked: Columns, by_index: bool) -> str | None:
    """The column to join by: as asked for, by its name, or, `by_index`, a pandas index."""
    if asked.id in INDEXES:
        return index_column(source)
    named = asked.id or _guess(source.names, "id", *filter(is_index, source.names))
    return index_column(source) if named is None and by_index else named


def has_ids(source: Source, asked: Columns) -> bool:
    """Whether an id column was named, or one has a usual name of ids."""
    return _id_column(source, asked, by_index=False) is not None


def id_column(source: Source, asked: Columns) -> str | None:
    """The id column that was named or has a usual name, if the file has it; else None."""
    column = _id_column(source, asked, by_index=False)
    return column if column in source.names else None


def has_probabilities(source: Source, given: str) -> bool:
    """Whether a file has all the columns of probabilities that were asked for."""
    try:
        return bool(_of_probabilities(source, given))
    except InputError:
        return False


def has_any_probability(source: Source, given: str) -> bool:
    """Whether a file has all columns of probabilities asked for, or any of a list of names."""
    listed = {name.strip() for name in given.split(",")}
    return bool(listed & set(source.names)) or has_probabilities(source, given)


def prediction_names(asked: Columns, sources: Sequence[Source]) -> tuple[str, ...]:
    """The prediction names asked for: none, one, or the base's and the candidate's.

    A name with a comma that a file has is one name.
    """
    if asked.prediction is None:
        return ()
    if "," not in asked.prediction or any(asked.prediction in one.names for one in sources):
        return (asked.prediction,)
    named = tuple(name.strip() for name in asked.prediction.split(","))
    if len(named) != 2:
        raise InputError(
            "give prediction= one name, or two by comma, the base's and the candidate's, not "
            f"{asked.prediction!r}"
        )
    return named


def told_by_model(source: Source, asked: Columns) -> set[str]:
    """The columns of predictions and probabilities, by their names or as asked for."""
    names = source.names
    named = {name for name in prediction_names(asked, [source]) if name in names}
    prediction = next(iter(named), None) or _guess(names, "prediction")
    label = asked.label if asked.label in names else None
    beginning = asked.probabilities or _beginning(names, prediction, label)
    try:
        columns = () if beginning is None else _of_probabilities(source, beginning)[0]
    except InputError:  # a table of labels alone
        columns = ()
    return {column for column in (prediction, *named, *columns) if column is not None}


def said_by_models(sources: Sequence[Source], asked: Columns) -> set[str]:
    """The columns of predictions and probabilities in any source.

    If base, the first, has none with a usual name, its only other column counts.
    """
    said = {column for source in sources for column in told_by_model(source, asked)}
    base = sources[0]
    only = _only(base.names, asked.label or _guess(base.names, "label"))
    return said if only is None or told_by_model(base, asked) else {only, *said}


def is_index(name: str) -> bool:
    """Whether a column has a name that pandas gives an index, which may be a new row number."""
    return name in INDEXES or is_called_index(name)


def is_called_index(name: str) -> bool:
    """Whether a column is called `index`, as after `reset_index`."""
    return name.lower() == INDEX


def index_column(source: Source) -> str | None:
    """The column of a pandas index: one called `index`, else a nameless one of a single level."""
    if source.is_array:
        return None
    if called := [name for name in source.names if is_called_index(name)]:
        return called[0]  # a nameless one beside it is newer
    if set(FURTHER_INDEXES) & set(source.names):
        return None
    first = source.names[0] if source.names else None
    if first in INDEXES:
        return first
    return INDEXES[-1] if INDEXES[-1] in source.names else None


def says_what_it_is(name: str) -> bool:
    """Whether a column has a usual name of ids, predictions, labels or probabilities."""
    plain = plain_name(name)
    return plain.startswith(PREFIXES) or any(plain in known for known in NAMES.values())


def by_plain_name(names: Iterable[str]) -> dict[str, str]:
    """Columns by their plain names; the first, if several have the same."""
    return {plain_name(name): name for name in reversed([*names])}


def plain_name(column: str) -> str:
    """A column's name without regard to case, spaces and hyphens."""
    return column.lower().replace(" ", "_").replace("-", "_")


def _guess(names: Iterable[str], kind: str, *used: str | None) -> str | None:
    """The column with a usual name of this kind, unless it is used for another purpose."""
    plain = by_plain_name(names)
    there = (plain[n] for n in NAMES[kind] if n in plain)
    return next((column for column in there if column not in used), None)


def _only(names: Iterable[str], *used: str | None) -> str | None:
    """The only unused column, which must be the missing one; None if there is not exactly one."""
    others = [name for name in names if name not in used and not is_index(name)]
    return others[0] if len(others) == 1 else None


def _beginning(names: Iterable[str], *used: str | None) -> str | None:
    """The prefix of the columns of probabilities, or the name of a single one; None if none."""
    several = (p for p in PREFIXES if sum(c.lower().startswith(p) for c in names) > 1)
    return next(several, None) or _guess(names, "probability", *used)


def _of_probabilities(source: Source, given: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of probabilities and their classes; no class for a single column."""
    if given in source.names:
        return (given,), ()
    several = tuple(c for c in source.names if c.lower().startswith(given.lower()))
    if len(several) > 1:
        return several, plain_names(column[len(given) :] for column in several)
    listed = tuple(name.strip() for name in given.split(","))
    if len(listed) > 1:
        for name in listed:
            if name not in source.names:
                raise source.no_column(name)
        return listed, plain_names(listed)
    raise InputError(
        f"{source.name}: no column {given!r} and no two columns that begin so; {source.in_words()}"
    )
