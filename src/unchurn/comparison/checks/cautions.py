"""Warnings shown above a comparison when the input may not be what the user meant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unchurn.comparison.inputs.classes import UNLABELLED
from unchurn.comparison.inputs.pairs import Paired
from unchurn.comparison.inputs.predictions import Labels, Predictions
from unchurn.comparison.noise.floor import Floor
from unchurn.comparison.read import Inputs
from unchurn.core.arrays import IntArray
from unchurn.report.numbers import percent

MAX_MISSING = 0.01  # share of base's rows that may be left out without a warning
STRIKING = 3  # standard deviations from half and half that are no accident


def find_cautions(given: Inputs, cover: str | None, floor: Floor | None = None) -> tuple[str, ...]:
    """All warnings on the inputs of a comparison."""
    models, paired = [given.base, given.candidate, *given.retrains], given.paired
    found = [*paired.warnings, *(warning for model in models for warning in model.warnings)]
    if cover == "all":  # labels on flips alone are mostly on what one of the two has wrong
        found += _mostly_the_other(given.base, paired, paired.base)
        found += _mostly_the_other(given.candidate, paired, paired.candidate)
    if floor is not None:
        found += [*floor.copies, *([] if floor.caution is None else [floor.caution])]
    spaced = _spaces([*models, *([] if given.labels is None else [given.labels])])
    return (*_missing(given), *spaced, *found)


def _missing(given: Inputs) -> tuple[str, ...]:
    """Warn when the candidate has no prediction for many of base's rows."""
    paired = given.paired
    if paired.missing <= MAX_MISSING:
        return ()
    return (
        f"{given.candidate.name} has no prediction for {paired.n_base - paired.n:,} of the "
        f"{paired.n_base:,} rows of {given.base.name} ({percent(paired.missing)}), which are left "
        "out",
    )


def _spaces(parts: Sequence[Predictions | Labels]) -> tuple[str, ...]:
    """Warn of classes with spaces around their names."""
    spaced = [part for part in parts if part.spaced is not None]
    if not spaced:
        return ()
    where = ", ".join(part.name for part in spaced)
    odd = f"classes have spaces around their names, such as {spaced[0].spaced!r}"
    return (f"{odd}, which do not count: {where}",)


def _mostly_the_other(model: Predictions, paired: Paired, predicted: IntArray) -> tuple[str, ...]:
    """Warn when most rows scored below 0.5 really are of the positive class.

    The score is then no probability of that class, but a logit, which is above 0 where the class is
    likelier, or the probability of the other class.
    """
    if model.halved is None or paired.labels is None:
        return ()
    rest, one = model.probabilities
    if not {rest, one} <= set(paired.classes):
        return ()
    low = (predicted == paired.classes.index(rest)) & (paired.labels != UNLABELLED)
    n = int(low.sum())
    of_class = int((paired.labels[low] == paired.classes.index(one)).sum())
    if 2 * of_class - n <= STRIKING * np.sqrt(n):
        return ()
    return (
        f"{model.name}: {of_class:,} of the {n:,} rows in which {model.halved!r} is below one half "
        f"are {one}: is it a logit, or of another class? It is taken for the probability of {one}",
    )
