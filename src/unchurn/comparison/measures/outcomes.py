"""Outcome of each example between two models, such as a bad flip; counts, rates and intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unchurn.comparison.inputs.classes import count, cross, in_blocks
from unchurn.comparison.inputs.pairs import Paired
from unchurn.core.arrays import IntArray
from unchurn.metrics.intervals import (
    LEVEL,
    Interval,
    clustered_difference,
    clustered_proportion,
    paired_difference,
    proportion,
)

Mask = npt.NDArray[np.bool_]
# The outcomes of an example, stored as their number, one byte.
OUTCOMES = ("unlabelled", "unlabelled, flipped", "right", "wrong", "bad", "good", "wrong to wrong")
N_OUTCOMES = len(OUTCOMES)
OutcomeSet = Mask  # a subset of the seven outcomes


def _set(*names: str) -> OutcomeSet:
    return np.isin(OUTCOMES, names)


EVERY = np.ones(N_OUTCOMES, bool)
LABELLED = ~_set("unlabelled", "unlabelled, flipped")
FLIPPED = ~_set("unlabelled", "right", "wrong")
RIGHT_BEFORE, RIGHT_AFTER = _set("right", "bad"), _set("right", "good")
WRONG_BEFORE = LABELLED & ~RIGHT_BEFORE
BAD, GOOD, WRONG_TO_WRONG = _set("bad"), _set("good"), _set("wrong to wrong")
# Outcomes by bits: flipped (1), right before (2), right after (4), labelled (8).
_NAME_BY_BITS = {
    0: "unlabelled", 1: "unlabelled, flipped", 8 | 2 | 4: "right", 8: "wrong", 8 | 1 | 2: "bad",
    8 | 1 | 4: "good", 8 | 1: "wrong to wrong",
}  # fmt: skip
# Other combinations, such as right both times and yet flipped, cannot occur.
_BY_BITS = np.array(
    [OUTCOMES.index(_NAME_BY_BITS.get(bits, "unlabelled")) for bits in range(16)], np.uint8
)


@dataclass(frozen=True)
class Outcomes:
    """The number of each example's outcome; masks are computed on demand."""

    codes: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, paired: Paired) -> Outcomes:
        """Determine the outcome of each paired example."""
        codes = np.empty(paired.n, np.uint8)

        def one(block: slice) -> None:
            base, candidate = paired.base[block], paired.candidate[block]
            flipped = (base != candidate).view(np.uint8)
            if paired.labels is None:
                codes[block] = flipped
                return
            labels = paired.labels[block]
            before, after = (base == labels).view(np.uint8), (candidate == labels).view(np.uint8)
            known = (labels >= 0).view(np.uint8)
            codes[block] = _BY_BITS[flipped | before << 1 | after << 2 | known << 3]

        in_blocks(one, paired.n)
        return cls(codes)

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of examples with each outcome."""
        return count(self.codes, N_OUTCOMES)

    def number(self, wanted: OutcomeSet) -> int:
        """How many examples have one of these outcomes."""
        return int(self.counts[wanted].sum())

    def mask(self, wanted: OutcomeSet) -> Mask:
        """The examples that have one of these outcomes."""
        found: Mask = wanted[self.codes]
        return found

    @cached_property
    def flipped(self) -> Mask:
        """Examples that the candidate predicts differently."""
        return self.mask(FLIPPED)

    @cached_property
    def labelled(self) -> Mask:
        """Examples with a true label."""
        return self.mask(LABELLED)

    @cached_property
    def bad(self) -> Mask:
        """Examples that turn from right to wrong."""
        return self.mask(BAD)

    @cached_property
    def good(self) -> Mask:
        """Examples that turn from wrong to right."""
        return self.mask(GOOD)

    @cached_property
    def wrong_to_wrong(self) -> Mask:
        """Examples that turn from one wrong class to another."""
        return self.mask(WRONG_TO_WRONG)


@dataclass(frozen=True)
class Counts:
    """Counts of some examples by outcome; gives rates and paired differences, with intervals.

    `table` has the number of examples by outcome; with clusters, a row for each cluster. `judged`
    are the outcomes that are known to be bad flips, good flips or neither: those with a label, or
    all if every flip has one. `clusters` are the numbers of the clusters that have any of these
    examples: rows for the others, in each of many slices, would fill the memory.
    """

    table: npt.NDArray[np.int64]
    judged: OutcomeSet = field(default_factory=lambda: LABELLED)
    clusters: IntArray | None = None

    @classmethod
    def together(cls, several: Sequence[Counts]) -> Counts:
        """The sum of counts of different examples."""
        tables = [one.table for one in several]
        clusters = [one.clusters for one in several if one.clusters is not None]
        if not clusters:
            return replace(several[0], table=np.sum(tables, axis=0))
        own, rows = np.unique(np.concatenate(clusters), return_inverse=True)
        table = np.zeros((len(own), N_OUTCOMES), np.int64)
        np.add.at(table, rows, np.concatenate(tables))
        return replace(several[0], table=table, clusters=own)

    def number(self, wanted: OutcomeSet) -> int:
        """How many examples have one of these outcomes."""
        return int(self.each(wanted).sum())

    def each(self, wanted: OutcomeSet) -> npt.NDArray[np.int64]:
        """How many examples have one of these outcomes, for each cluster if there are any."""
        found: npt.NDArray[np.int64] = self.table[..., wanted].sum(axis=-1)
        return found

    @property
    def clustered(self) -> bool:
        """Whether examples come in clusters."""
        return self.clusters is not None

    def units(self, wanted: OutcomeSet) -> int:
        """Number of examples with these outcomes; with clusters, of clusters that have any."""
        return int(np.count_nonzero(self.each(wanted))) if self.clustered else self.number(wanted)

    def rate(self, events: OutcomeSet, among: OutcomeSet = EVERY, level: float = LEVEL) -> Interval:
        """The rate of events, among all examples or those of some outcomes."""
        if not self.clustered:
            return proportion(self.number(events & among), self.number(among), level)
        return clustered_proportion(self.each(events & among), self.each(among), level)

    def rate_of_judged(self, events: OutcomeSet, level: float = LEVEL) -> Interval:
        """The rate of a kind of flips, among the judged examples."""
        return self.rate(events, self.judged, level)

    def difference(self, level: float = LEVEL) -> Interval:
        """The difference in accuracy: the rate of good flips minus that of bad ones."""
        gained, lost, n = (self.each(wanted) for wanted in (GOOD, BAD, self.judged))
        if not self.clustered:
            return paired_difference(int(gained), int(lost), int(n), level)
        return clustered_difference(gained, lost, n, level)


@dataclass(frozen=True)
class Counting:
    """Counts outcomes, by cluster if there are clusters."""

    clusters: IntArray | None = None
    judged: OutcomeSet = field(default_factory=lambda: LABELLED)  # as in `Counts`

    def all(self, outcomes: Outcomes) -> Counts:
        """Count all examples."""
        if self.clusters is None:
            return Counts(outcomes.counts, self.judged)
        table = cross(self.clusters, outcomes.codes, (int(self.clusters.max()) + 1, N_OUTCOMES))
        return Counts(table, self.judged, np.arange(len(table)))

    def by_value(self, outcomes: Outcomes, numbers: IntArray, size: int) -> Iterator[Counts]:
        """Count the examples of each value; values are numbered from 0 to size − 1."""
        if self.clusters is None:
            for row in cross(numbers, outcomes.codes, (size, N_OUTCOMES)):
                yield Counts(row, self.judged)
            return
        for number in range(size):
            inside = numbers == number
            own, rows = np.unique(self.clusters[inside], return_inverse=True)
            table = cross(rows, outcomes.codes[inside], (len(own), N_OUTCOMES))
            yield Counts(table, self.judged, own)
