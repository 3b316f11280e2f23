"""`Stream`: the source of every random number of a fit.

Stream (r, j) gives the initialisation and batch order of the j-th plain fit of run r. Every
setting's own fit in run r uses stream (r, 0), so settings are paired by run. The references of run
r use streams (r, 1), (r, 2) …, and fixed references (0, 1) …. Further members of an ensemble,
candidates, and networks in tandem use the next streams, skipping those of the method's references.
The older model of an upgrade uses stream (b, BASE_FIT). If a run is a chain of releases, its k-th
release uses (r, k·BASE_FIT), (r, k·BASE_FIT + 1) … instead of (r, 0), (r, 1) ….
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count

import numpy as np

from unchurn.methods import Method, Need
from unchurn.methods.base import Rows

REFERENCE_FIT = 1
BASE_FIT = 1 << 20  # number of the older model's stream, larger than that of any other fit
PURPOSES = ("weights", "order", "mixing", "sample", "held", "extras", "resample", "budget")


@dataclass(frozen=True)
class Stream:
    """The random numbers of one plain fit: the `fit`-th of run `run` of a seed."""

    seed: int
    run: int
    fit: int

    def generator(self, purpose: str) -> np.random.Generator:
        """A random generator for one of PURPOSES, independent of those for the others."""
        key = (self.run, self.fit, PURPOSES.index(purpose))
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))


def release_of(fit: int) -> int:
    """The number of the release that a stream of a run belongs to."""
    return fit // BASE_FIT


def member_fits(method: Method, first: int = 0) -> list[list[int]]:
    """The number of each network's stream within a run, for each member of a method.

    If a member has several candidates, the first candidate's networks come first.
    """
    need = method.reference()
    begin = release_of(first) * BASE_FIT + REFERENCE_FIT
    taken = range(begin, begin + (0 if need is None else need.m))
    free = (number for number in count(first) if number not in taken)
    return [
        [next(free) for candidate in member.candidates() for _ in range(candidate.n_nets)]
        for member in method.members()
    ]


def reference_streams(method: Method, seed: int, run: int) -> list[Stream]:
    """The streams of a method's references in a run, which are plain fits; at least one."""
    need = method.reference() or Need()
    return [Stream(seed, 0 if need.is_fixed else run, REFERENCE_FIT + i) for i in range(need.m)]


def hold_out(method: Method, stream: Stream, n: int) -> tuple[Rows, Rows]:
    """The examples, of n, that a member's fits may see, and those held out, both in order."""
    n_held = min(math.ceil(method.holds_out() * n), n - 1)
    order = stream.generator("held").permutation(n) if n_held else np.arange(n)
    return np.sort(order[n_held:]), np.sort(order[:n_held])
