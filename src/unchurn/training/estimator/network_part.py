"""What a method changes of the network itself: weights fit only a network changed likewise."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

from unchurn.methods import Method, combine
from unchurn.methods.base import overrides
from unchurn.methods.control import Control
from unchurn.methods.registry import written
from unchurn.training.estimator.references import Answers, Model, needs_weights
from unchurn.training.learners.base import RemarkWarning, levels_up


def network_part(method: Method) -> Method:
    """The part of a method that changes the network, such as `smelu`; control if none does.

    >>> from unchurn.methods import make_method
    >>> network_part(make_method("smelu(beta=0.5)+ema")), network_part(make_method("ema"))
    (Smelu(beta=0.5), Control())
    """
    return combine(*(one for one in method.simplest().combined if overrides(one, "adapt")))


def why_no_way_back(before: Method, method: Method) -> str | None:
    """Why a method cannot serve weights between a reference's and its own; None if it can.

    Networks that were changed otherwise answer otherwise, even with the reference's own weights.
    """
    if not overrides(method.simplest(), "settle"):
        return None
    now = network_part(method)
    if before == now:
        return None
    return (
        f"serves weights between the reference's, which were learned with {_named(before)}, and "
        f"its own, with {_named(now)}: use the same in both"
    )


def ways_back(reference: Model | None, said: Answers | None) -> Callable[[Method], str | None]:
    """`why_no_way_back` from the reference of a fit; without one, from the plain fit it trains."""
    if said is not None and said.weights is None:  # of which the method itself tells
        return lambda method: None
    model: Model = reference
    before = Control() if said is None else network_part(model.method_)
    return partial(why_no_way_back, before)


def warn_of_other_network(reference: Model, said: Answers | None, method: Method) -> None:
    """Warn if training starts from weights that were learned with other activations."""
    if said is None or said.weights is None or not needs_weights(method):
        return
    before, now = network_part(reference.method_), network_part(method)
    if before != now:
        warnings.warn(
            f"the reference's weights were learned with {_named(before)}, and training goes on "
            f"with {_named(now)}, so that they give other answers: use the same in method=",
            RemarkWarning,
            stacklevel=levels_up(),
        )


def _named(part: Method) -> str:
    return "the network's own activations" if type(part) is Control else written(part)
