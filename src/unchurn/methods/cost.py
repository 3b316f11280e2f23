"""The cost of a method: how many networks it trains, and how many serve."""

from __future__ import annotations

import math

from unchurn.methods.base import Method

PLAIN = 100  # epochs of plain training, to see how many a method makes of them


def n_fits(method: Method) -> int:
    """Number of fits of one run: members, their candidates, and references."""
    need = method.reference()
    fits = sum(len(member.candidates()) for member in method.members())
    return fits + (0 if need is None else need.m)


def training_cost(method: Method) -> int:
    """How many plain trainings a run costs, rounded up; a longer training counts for more.

    >>> from unchurn.methods import make_method
    >>> [training_cost(make_method(m)) for m in ("ema", "knn_ls+ema", "ensemble(m=5)", "twin")]
    [1, 2, 5, 2]
    """
    need = method.reference()
    nets = [one.n_nets for member in method.members() for one in member.candidates()]
    return math.ceil(sum(nets) * longer(method)) + (0 if need is None else need.m)


def longer(method: Method) -> float:
    """How many times as many epochs as plain training a method takes."""
    return method.epochs(PLAIN) / PLAIN


def serving_cost(method: Method) -> int:
    """How many networks must run for one prediction; 1 for plain training."""
    need = method.reference()
    beside = 1 if need is not None and need.serves else 0
    return sum(member.n_served for member in method.members()) + beside
