"""What happened to each example between two models, and how often, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unchurn.arrays import IntArray
from unchurn.pairing import Paired
from unchurn.stats import (
    LEVEL,
    Interval,
    clustered_difference,
    clustered_proportion,
    paired_difference,
    proportion,
)

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Counting:
    """Rates and paired differences with their intervals, over examples or over clusters of them."""

    clusters: IntArray | None = None

    def rate(self, events: Mask, among: Mask | None = None, level: float = LEVEL) -> Interval:
        """The rate of events, among all examples or some."""
        if self.clusters is None:
            if among is not None:
                events = events & among
            n = len(events) if among is None else int(np.count_nonzero(among))
            return proportion(int(np.count_nonzero(events)), n, level)
        among = np.ones(len(events), bool) if among is None else among
        counts = self._by_cluster(events & among), self._by_cluster(among)
        return clustered_proportion(*counts, level)

    def difference(self, gained: Mask, lost: Mask, among: Mask, level: float = LEVEL) -> Interval:
        """The rate gained less the rate lost, on the same examples."""
        gained, lost = gained & among, lost & among
        if self.clusters is None:
            n = int(np.count_nonzero(among))
            up, down = int(np.count_nonzero(gained)), int(np.count_nonzero(lost))
            return paired_difference(up, down, n, level)
        counts = self._by_cluster(gained), self._by_cluster(lost), self._by_cluster(among)
        return clustered_difference(*counts, level)

    def _by_cluster(self, mask: Mask) -> npt.NDArray[np.int64]:
        assert self.clusters is not None  # noqa: S101
        return np.bincount(self.clusters[mask], minlength=int(self.clusters.max()) + 1)


@dataclass(frozen=True)
class Outcomes:
    """What happened to each example, as masks; `labelled` are those with a true label."""

    flipped: Mask
    labelled: Mask
    right_before: Mask
    right_after: Mask

    @classmethod
    def of(cls, paired: Paired) -> Outcomes:
        """Sort the examples of two models."""
        flipped = paired.base != paired.candidate
        if paired.labels is None:
            nothing = np.zeros(paired.n, bool)
            return cls(flipped, nothing, nothing, nothing)
        labelled = paired.labels >= 0
        return cls(
            flipped,
            labelled,
            (paired.base == paired.labels) & labelled,
            (paired.candidate == paired.labels) & labelled,
        )

    @property
    def bad(self) -> Mask:
        """Right → wrong."""
        return self.right_before & ~self.right_after

    @property
    def good(self) -> Mask:
        """Wrong → right."""
        return self.right_after & ~self.right_before

    @property
    def wrong_to_wrong(self) -> Mask:
        """Wrong → another wrong."""
        return self.flipped & self.labelled & ~self.right_before & ~self.right_after
