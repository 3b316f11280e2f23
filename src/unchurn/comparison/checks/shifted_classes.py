"""Are classes numbered from 0 in one file and from 1 in the other? Then nearly all rows differ."""

from __future__ import annotations

import re

import numpy as np

from unchurn.comparison.inputs.classes import count
from unchurn.comparison.inputs.pairs import Paired
from unchurn.report.numbers import percent

ENOUGH = 20  # rows of which most agree by no accident
MOST = 0.5
ABSENT = -1  # the place of a class that there is none of


def doubt_numbers(paired: Paired) -> str | None:
    """That most rows differ, and agree if all classes of one model are counted from elsewhere."""
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
