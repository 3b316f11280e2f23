"""Suggest probabilities= when a file has no prediction but columns named like classes."""

from __future__ import annotations

from collections.abc import Sequence

from unchurn.comparison.inputs.casting import as_labels
from unchurn.comparison.inputs.column_options import asked_of, chosen_or_none
from unchurn.comparison.inputs.columns import (
    Chosen,
    Columns,
    NoPredictionError,
    choose_columns,
    choose_labels,
)
from unchurn.comparison.inputs.sources import Source
from unchurn.core.errors import InputError


def check_predictions(models: Sequence[Source], labels: Source | None, asked: Columns) -> None:
    """Refuse a file without a prediction; if columns are named like classes, suggest the option.

    They are not assumed to be probabilities: features may have such names, too.
    """
    for source in models:
        try:
            choose_columns(source, asked_of(source, models, asked))
        except NoPredictionError as error:
            classes = _classes(models, labels, asked)
            called_so = [name for name in source.names if name in classes and "," not in name]
            if len(called_so) < 2:
                raise
            listed = ",".join(called_so)
            shown = repr(listed) if " " in listed else listed
            raise InputError(
                f"{source.name}: which column is the prediction? Some are called as classes are: "
                f"if they are their probabilities, give probabilities= {shown}; {source.in_words()}"
            ) from error
        except InputError:  # reported when the file is read
            continue


def _classes(models: Sequence[Source], labels: Source | None, asked: Columns) -> set[str]:
    """The classes in any of the files, among predictions or true labels."""
    found: set[str] = set()
    for source in models:
        found |= _told(source, chosen_or_none(source, asked))
        found |= _told(source, _labels(source, asked))
    return found if labels is None else found | _told(labels, _labels(labels, asked))


def _labels(source: Source, asked: Columns) -> Chosen | None:
    try:
        return choose_labels(source, asked)
    except InputError:
        return None


def _told(source: Source, chosen: Chosen | None) -> set[str]:
    """The classes in a source's columns of predictions and labels, without unreadable columns."""
    columns = () if chosen is None else (chosen.prediction, chosen.label)
    found: set[str] = set()
    for column in columns:
        if column is None:
            continue
        try:
            values = as_labels(
                source.read([column])[column], source.name, is_written=source.is_text
            )
        except InputError:
            continue
        found |= {str(value) for value in values.unique().drop_nulls()}
    return found
