"""The cost of a method: number of plain trainings, and of networks that serve."""

from __future__ import annotations

import math

from unchurn.methods.base import Method

PLAIN = 100  # epochs, of which a method may make more


def n_fits(method: Method) -> int:
    """Number of fits of one run: members, their candidates, and references."""
    need = method.reference()
    fits = sum(len(member.candidates()) for member in method.members())
    return fits + (0 if need is None else need.m)


def training_cost(method: Method) -> int:
    """How many networks a run trains, longer trainings as more; plain training is 1.

    >>> from unchurn.methods import make_method
    >>> [training_cost(make_method(m)) for m in ("ema", "knn_ls+ema", "ensemble(m=5)", "twin")]
    [1, 2, 5, 2]
    """
    need = method.reference()
    nets = [one.n_nets for member in method.members() for one in member.candidates()]
    longer = method.epochs(PLAIN) / PLAIN
    return math.ceil(sum(nets) * longer) + (0 if need is None else need.m)


def serving_cost(method: Method) -> int:
    """How many models must answer for one prediction; plain training is 1."""
    need = method.reference()
    beside = 1 if need is not None and need.serves else 0
    return sum(member.n_served for member in method.members()) + beside
