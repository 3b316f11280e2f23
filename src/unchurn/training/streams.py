"""Streams: where every random number of a fit comes from.

Stream (r, j) is the initialisation and batch order of one plain fit, the j-th of run r. Every
setting's own fit in run r is stream (r, 0), so settings are paired by run. The reference of run r
is stream (r, 1); a fixed one is (0, 1). Further members of an ensemble, and networks in tandem,
have the next streams; a method that looks at a reference leaves out the reference's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from unchurn.methods import Method

REFERENCE_FIT = 1
PURPOSES = ("weights", "order", "mixing", "sample")


@dataclass(frozen=True)
class Stream:
    """The random numbers of one plain fit: the `fit`-th of run `run` under a seed."""

    seed: int
    run: int
    fit: int

    def generator(self, purpose: str) -> np.random.Generator:
        """Independent random numbers for each of PURPOSES."""
        key = (self.run, self.fit, PURPOSES.index(purpose))
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))


def member_fits(method: Method, first: int = 0) -> list[list[int]]:
    """The number of each network's stream within a run, for each member of a method."""
    free = _free(method, first)
    return [[next(free) for _ in range(member.n_nets)] for member in method.members()]


def reference_stream(method: Method, seed: int, run: int) -> Stream:
    """The stream of the plain fit that is a method's reference in a run."""
    need = method.reference()
    return Stream(seed, 0 if need is not None and need.is_fixed else run, REFERENCE_FIT)


def _free(method: Method, first: int) -> Iterator[int]:
    """Numbers of streams from the first on, but for the reference's."""
    taken = REFERENCE_FIT if method.reference() is not None else None
    return (number for number in count(first) if number != taken)
