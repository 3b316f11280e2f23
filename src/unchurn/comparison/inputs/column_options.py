"""Adapt the column options, given once for all files, to one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unchurn.comparison.inputs.columns import (
    Chosen,
    Columns,
    choose_columns,
    has_any_probability,
    has_probabilities,
    prediction_names,
)
from unchurn.comparison.inputs.sources import Source
from unchurn.core.errors import InputError


def asked_of(source: Source, models: Sequence[Source], asked: Columns) -> Columns:
    """The options for one of the models, which are base, candidate and then retrainings.

    A prediction column that only another file has is found here by the usual names. Probabilities
    that only other files have are not required of a file that has predictions.
    """
    is_candidate = source is models[1]
    asked = replace(asked, threshold=asked.thresholds[is_candidate])
    asked = _with_own_prediction(source, models, asked)
    if asked.probabilities is None or has_any_probability(source, asked.probabilities):
        return asked
    without = replace(asked, probabilities=None)
    if not any(has_probabilities(one, asked.probabilities) for one in models):
        return asked
    return asked if chosen_or_none(source, without) is None else without


def chosen_or_none(source: Source, asked: Columns) -> Chosen | None:
    """A model's columns; None if they cannot be determined."""
    try:
        return choose_columns(source, asked)
    except InputError:
        return None


def _with_own_prediction(source: Source, models: Sequence[Source], asked: Columns) -> Columns:
    """The options with the name of the prediction column in this file."""
    named = prediction_names(asked, models)
    if len(named) > 1:
        own = named[source is models[1]]
        is_retraining = not any(source is one for one in models[:2])
        if is_retraining:  # may use the name of either
            own = next((name for name in named if name in source.names), own)
        return replace(asked, prediction=own)
    if asked.prediction is None or asked.prediction in source.names:
        return asked
    has = next((one for one in models if asked.prediction in one.names), None)
    if has is None:  # reported when the file is read
        return asked
    guessed = replace(asked, prediction=None)
    chosen = chosen_or_none(source, guessed)
    if chosen is not None and chosen.prediction is not None:
        return guessed
    raise InputError(
        f"{source.name}: no column {asked.prediction!r}, which {has.name} has: name both by "
        f"comma, the base's first, with prediction=; {source.in_words()}"
    )
