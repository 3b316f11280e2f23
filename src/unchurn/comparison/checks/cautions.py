"""Warnings shown above a comparison when the input may not be what the user meant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from unchurn.comparison.inputs.classes import UNLABELLED, count
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
    found = [warning for model in models for warning in model.warnings]
    if cover == "all":  # on labelled flips alone, one of the two models is usually wrong
        found += _mostly_the_other(given.base, paired, paired.base)
        found += _mostly_the_other(given.candidate, paired, paired.candidate)
    if floor is not None:
        found += [*floor.copies, *([] if floor.caution is None else [floor.caution])]
    spaced = _spaces([*models, *([] if given.labels is None else [given.labels])])
    return (*_itself(given), *_missing(given), *spaced, *_cases(paired), *found)


def _itself(given: Inputs) -> tuple[str, ...]:
    """Warn when a file is compared with itself, as after copying a path without editing it."""
    if not given.is_one_file:
        return ()
    name = given.base.taken["prediction"]
    return (f"base and candidate are one file, and one column of it ({name}): nothing can flip",)


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


def _cases(paired: Paired) -> tuple[str, ...]:
    """Warn of classes that differ only in case, unless one side has both, such as `a` and `A`."""
    sides = [paired.base, paired.candidate, *([] if paired.labels is None else [paired.labels])]
    known = [count(side, len(paired.classes)) > 0 for side in sides]
    spelled: dict[str, list[int]] = {}
    for number, name in enumerate(paired.classes):
        spelled.setdefault(name.casefold(), []).append(number)
    odd = [
        (paired.classes[one], paired.classes[two])
        for spellings in spelled.values()
        for one, two in combinations(spellings, 2)
        if not any(side[one] and side[two] for side in known)
    ]
    if not odd:
        return ()
    shown = ", ".join(f"{one!r} and {two!r}" for one, two in odd[:3])
    return (f"classes differ only in case, and so count as different ones: {shown}",)


def _mostly_the_other(model: Predictions, paired: Paired, predicted: IntArray) -> tuple[str, ...]:
    """Warn when most rows scored below 0.5 really are of the positive class.

    The score is then a logit, which is above 0 where the class is likelier, or the probability of
    the other class; a probability of the class itself does not do that.
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
