"""Read a base model's probabilities or logits from a file, frame or array, one row per example.

The readers of `compare` are used: they find columns of probabilities, ids and classes by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn.comparison.inputs.columns import (
    PREFIXES,
    Columns,
    NoPredictionError,
    choose_columns,
)
from unchurn.comparison.inputs.predictions import Predictions, read_predictions
from unchurn.comparison.inputs.sources import PROBABILITIES, Source, open_source
from unchurn.core.arrays import Array, Float64, IntArray, as_array
from unchurn.core.class_names import plain_names
from unchurn.core.errors import InputError
from unchurn.core.files import reading
from unchurn.core.frames import is_frame
from unchurn.core.numpy_files import load_array
from unchurn.core.tables import TextForm
from unchurn.datasets.base import Dataset
from unchurn.study.scenarios.base_rows import (
    BY_PLACE,
    NAME,
    Named,
    by_id,
    check_repeated,
    ids_to_join,
    rows_by_id,
    rows_by_place,
)

if TYPE_CHECKING:
    import polars as pl

NO_SAYING = (
    "give its probabilities or logits, a column for each class, prob_CLASS (of two classes, one is "
    "enough): "
)
ARRAY = ".npy"
LOGITS = ("logits_", "logit_")  # prefixes of columns of logits
SHOWN = 5  # classes that a note names
TIE = 1e-9  # how far the predicted class's probability may be below the largest


@dataclass(frozen=True, kw_only=True)
class Told:
    """A base's probabilities for the data's rows, training rows first, and its classes."""

    said: Float64  # (n, the base's own classes)
    places: IntArray  # column of each of the data's classes; −1 if the base lacks it
    notes: tuple[str, ...]  # how rows and classes were matched


def read_told(base: Any, data: Dataset, by: Named, form: TextForm | None) -> Told:
    """Read a base's probabilities, in the order of the data's rows."""
    name = str(base) if isinstance(base, Path) else NAME
    opened, note = _completed(_open(base, name, data, form), data)
    ids = ids_to_join(opened, data, by)
    if ids is not None:
        check_repeated(opened, ids.name)
    asked = Columns(id=None if ids is None else ids.name)
    source = _with_probabilities(opened, asked)
    try:
        chosen = choose_columns(source, asked)
    except NoPredictionError as error:
        raise InputError(f"{name}: {NO_SAYING}{source.in_words()}") from error
    if not chosen.probabilities:
        raise InputError(f"{name}: {NO_SAYING}{source.in_words()}")
    predictions = read_predictions(source, name, asked)
    own = tuple(predictions.probabilities)
    is_one = len(chosen.probabilities) == 1
    if is_one and not (own and set(own) <= set(plain_names(data.classes))):
        examples = ", ".join(f"prob_{one}" for one in data.classes[:2])
        raise InputError(
            f"{name}: of which class is {chosen.probabilities[0]!r}? Give a column for each class, "
            f"or of two classes for one, by its name: {examples} …"
        )
    if not own:
        raise InputError(f"{name}: {NO_SAYING}{predictions.taken['probabilities']}")
    said = np.stack([column.to_numpy() for column in predictions.probabilities.values()], axis=1)
    if not np.isfinite(said).all():  # possible if there is a column of predictions, too
        raise InputError(f"{name}: row {_first_gap(said)} lacks probabilities")
    if chosen.prediction is not None:
        _check_predicted(predictions, own, said)
    rows = (
        rows_by_place(predictions, opened, data)
        if ids is None
        else rows_by_id(predictions, ids, data)
    )
    return Told(
        said=said[rows],
        places=as_classes(own, data.classes, name),
        notes=(
            BY_PLACE if ids is None else by_id(ids.name),
            *note,
            *notes_on_classes(own, data.classes),
        ),
    )


def as_classes(own: Sequence[str], classes: Sequence[str], name: str = NAME) -> IntArray:
    """Position of each of the data's classes among a base's own, by name; −1 if it lacks one.

    If no name matches and the base's classes are numbers, they are positions in `classes`.
    """
    names, wanted = plain_names(own), plain_names(classes)
    if _are_numbers(own, classes):
        wanted = tuple(str(number) for number in range(len(classes)))
    places = {name: place for place, name in enumerate(names)}
    found = np.array([places.get(name, -1) for name in wanted])
    if (found < 0).all():
        raise InputError(
            f"{name} knows the classes {', '.join(own[:5])}, none of {', '.join(classes[:5])}"
        )
    return found


def _are_numbers(own: Sequence[str], classes: Sequence[str]) -> bool:
    """Whether a base's classes are positions of the data's classes, and none matches by name."""
    names = set(plain_names(own))
    return not names & set(plain_names(classes)) and names <= set(map(str, range(len(classes))))


def notes_on_classes(own: Sequence[str], classes: Sequence[str]) -> tuple[str, ...]:
    """Notes on classes that only the base or only the data have, and on those that are numbers."""
    names, wanted = plain_names(own), plain_names(classes)
    if _are_numbers(own, classes):
        taken = [f"{number} for {classes[number]}" for number in sorted(map(int, names))[:SHOWN]]
        more = ["…"] if len(names) > SHOWN else []
        return (f"classes of the base are numbers, taken {', '.join([*taken, *more])}",)
    lacks = [one for one, name in zip(classes, wanted, strict=True) if name not in names]
    other = [one for one, name in zip(own, names, strict=True) if name not in wanted]
    if lacks and other:
        return (
            f"the base knows class {other[0]}, which the data lack, and not {lacks[0]}: are its "
            "classes the data's?",
        )
    return (
        *(f"the base does not know class {one}" for one in lacks),
        *(f"the base knows class {one}, which the data lack" for one in other),
    )


def _open(base: Any, name: str, data: Dataset, form: TextForm | None) -> Source:
    """Open a file or a frame as it is, an array with one column for each of the data's classes."""
    if isinstance(base, Path) and base.suffix.lower() != ARRAY:
        return open_source(base, name, form)
    if is_frame(base):
        return open_source(base, name)
    if not isinstance(base, Path):
        return open_source(_of_array(as_array(base, name), name, data), name)
    with reading(base, "a NumPy file"):
        return open_source(_of_array(load_array(base), name, data), name)


def _of_array(array: Array, name: str, data: Dataset) -> pl.DataFrame:
    """An array (n, L) as a frame: probabilities if all are between 0 and 1, else logits.

    Of two classes, (n,) are those of the second, as in scikit-learn's `decision_function`.
    """
    import polars as pl

    classes = data.classes
    is_one = array.ndim == 1 or array.shape[1:] == (1,)
    if is_one and len(classes) == 2 and array.dtype.kind == "f":
        array, classes = array.reshape(-1, 1), classes[1:]
    n_classes = len(classes)
    if not (array.ndim == 2 and array.shape[1] == n_classes and array.dtype.kind in "fiu"):
        raise InputError(
            f"{name} must be a fitted model, a table, or finite numbers of shape (rows, "
            f"{n_classes}), not {array.dtype} of {array.shape}"
        )
    if not np.isfinite(array).all():
        raise InputError(f"{name}: row {_first_gap(array)} has a number that is not finite")
    is_within = ((array >= 0) & (array <= 1)).all()
    beginning = PROBABILITIES if is_within else LOGITS[0]
    return pl.DataFrame({f"{beginning}{one}": array[:, i] for i, one in enumerate(classes)})


def _completed(source: Source, data: Dataset) -> tuple[Source, tuple[str, ...]]:
    """The source with both columns, and a note, if of two classes it has one's column alone."""
    import polars as pl

    names = plain_names(data.classes)
    if len(names) != 2:
        return source, ()
    found = {
        beginning: [
            name
            for name in source.names
            if name.lower().startswith(beginning)
            and plain_names([name[len(beginning) :]])[0] in names
        ]
        for beginning in (*PREFIXES, *LOGITS)
    }
    is_whole = any(len(own) > 1 for own in found.values())
    alone = [beginning for beginning, own in found.items() if own]
    if is_whole or not alone:
        return source, ()
    beginning, own = alone[0], found[alone[0]]
    there = names.index(plain_names([own[0][len(beginning) :]])[0])
    missing = f"{own[0][: len(beginning)]}{data.classes[1 - there]}"
    known = pl.col(own[0]).cast(pl.Float64, strict=False)
    other = known - known if beginning in LOGITS else 1 - known  # of a logit, 0 beside it
    table = source.read(source.names, numbers=own).with_columns(other.alias(missing))
    one, rest = data.classes[there], data.classes[1 - there]
    note = f"{own[0]} is taken for class {one!r}, and what is left for {rest!r}"
    return open_source(table, source.name), (note,)


def _with_probabilities(source: Source, asked: Columns) -> Source:
    """The source; if it has only logits, they are replaced by probabilities."""
    import polars as pl
    from scipy.special import softmax

    def several(beginnings: Sequence[str]) -> str | None:
        names = [name.lower() for name in source.names]
        return next((b for b in beginnings if sum(n.startswith(b) for n in names) > 1), None)

    beginning = several(LOGITS)
    if beginning is None or several(PREFIXES) is not None:
        return source
    chosen = choose_columns(source, replace(asked, probabilities=beginning))
    table = source.read(chosen.needed, numbers=chosen.probabilities)
    numbers = table.select(pl.col(chosen.probabilities).cast(pl.Float64, strict=False))
    logits = numbers.fill_null(float("nan")).to_numpy()
    if not np.isfinite(logits).all():
        raise InputError(
            f"{source.name}: logits in row {_first_gap(logits)} are not all finite numbers"
        )
    said = pl.DataFrame(softmax(logits, axis=1), [PROBABILITIES + c for c in chosen.classes])
    return open_source(
        pl.concat([table.drop(chosen.probabilities), said], how="horizontal"), source.name
    )


def _first_gap(numbers: Array) -> int:
    return int(np.isfinite(numbers).all(axis=1).argmin())


def _check_predicted(predictions: Predictions, own: tuple[str, ...], said: Float64) -> None:
    """Refuse predictions that are not the most probable class, which is what runs predict."""
    import polars as pl

    names = pl.Series(plain_names(own))
    predicted = predictions.predicted.cast(pl.String)
    places = predicted.replace_strict(names, range(len(own)), default=-1, return_dtype=pl.Int64)
    at = places.to_numpy()
    theirs = np.where(at < 0, -1, said[np.arange(len(said)), at])
    other = theirs < said.max(axis=1) - TIE
    if other.any():
        raise InputError(
            f"{predictions.name}: {int(other.sum()):,} predictions, first "
            f"{predicted[int(other.argmax())]!r}, are not the most probable class, as runs "
            "predict: leave that column out"
        )
