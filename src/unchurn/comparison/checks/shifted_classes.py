"""Doubt files whose classes are numbered from different starts, such as 0 and 1."""

from __future__ import annotations

import re

import numpy as np

from unchurn.comparison.inputs.classes import count
from unchurn.comparison.inputs.pairs import Paired
from unchurn.report.numbers import percent

ENOUGH = 20  # fewest rows of which most cannot agree by accident
MOST = 0.5
ABSENT = -1  # position of a class that does not exist


def doubt_numbers(paired: Paired) -> str | None:
    """Warn that most rows differ, but agree if one model's class numbers are shifted; or None."""
    if paired.n < ENOUGH or not all(re.fullmatch("-?[0-9]+", name) for name in paired.classes):
        return None
    numbers = np.array([int(name) for name in paired.classes], object)  # of any size
    ours, theirs = (
        numbers[count(side, len(numbers)) > 0] for side in (paired.base, paired.candidate)
    )
    shift = theirs.min() - ours.min()
    if shift == 0 or theirs.max() - ours.max() != shift or len(ours) < 2:
        return None
    places = {number: place for place, number in enumerate(numbers)}
    moved = np.array([places.get(number + shift, ABSENT) for number in numbers])
    agree = float((paired.base == paired.candidate).mean())
    alike = float((moved[paired.base] == paired.candidate).mean())
    if agree > MOST or alike <= MOST:
        return None
    return (
        f"classes begin with {ours.min()} in one model and with {theirs.min()} in the other: "
        f"{percent(agree)} of the rows agree, {percent(alike)} would if both were numbered alike"
    )
