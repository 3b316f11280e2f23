"""Checks of a candidate's churn and loss of accuracy beyond those of retraining alone.

The interval of an excess is for this candidate. A retraining is itself a random draw, whose excess
is above zero half of the time: with three retrainings or more, which give a prediction interval of
one more, a candidate is rejected only if it lies beyond that, too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unchurn.comparison.noise.floor import ENOUGH
from unchurn.core.errors import InputError
from unchurn.gate.measured import WITHOUT_GAIN, more, n_more, times_to_end, too_few
from unchurn.gate.policy import Limit
from unchurn.gate.verdict import Check, Decision, held_against
from unchurn.metrics.intervals import Interval
from unchurn.metrics.over_runs import Excess
from unchurn.report.numbers import percent

if TYPE_CHECKING:
    from unchurn.comparison.noise.floor import Accuracies, Floor
    from unchurn.comparison.result import Comparison

MOST_RUNS = 100  # retrainings: advising more is useless


def excess_churn(floor: Floor | None, limit: Limit) -> Check:
    """Check the candidate's churn minus the retrainings' mean."""
    name = "excess_churn"
    if floor is None:
        raise InputError(f"max_{name} needs other retrainings of base: give retrains=")
    low, high = map(percent, floor.expected)
    may = f"one more retraining may churn {low} to {high}"
    shield = f"{may}; {_what_tells(floor)}" if floor.is_another_retraining else None
    return _check(name, floor.beyond, floor, limit, shield)


def excess_loss(comparison: Comparison, limit: Limit) -> Check:
    """Check the candidate's loss of accuracy against the retrainings' mean."""
    name, floor = "excess_loss", comparison.floor
    if floor is None:
        raise InputError(f"max_{name} needs other retrainings of base: give retrains=")
    if floor.accuracy is None:
        raise InputError(
            f"max_{name} needs true labels of what the retrainings predict, not of the flips alone"
        )
    found = floor.accuracy
    low, high = map(percent, found.expected)
    may = f"one more retraining may have an accuracy of {low} to {high}"
    shield = f"{may}; {_what_tells(found)}" if found.is_another_retraining else None
    return _check(name, found.lost, floor, limit, shield)


def of_a_retraining(floor: Floor | None) -> str:
    """A hint that one more retraining may lose as much accuracy; else empty."""
    if floor is None or floor.accuracy is None or not floor.accuracy.is_another_retraining:
        return ""
    low, high = map(percent, floor.accuracy.expected)
    return (
        f"; but one more retraining may have an accuracy of {low} to {high}, and so has the "
        "candidate: max_excess_loss takes that into account"
    )


def _what_tells(found: Floor | Accuracies) -> str:
    """Say how many more retrainings like these would tell the candidate from a retraining."""
    there = len(found.each)
    for count in range(there + 1, MOST_RUNS + 1):
        low, high = found.expected_of(count)
        if not low <= found.candidate <= high:
            return f"about {n_more(count - there, 'retrainings')} like these would reject"
    return "no number of retrainings like these would tell it from one more"


def _check(name: str, excess: Excess, floor: Floor, limit: Limit, shield: str | None) -> Check:
    """Promote if the interval is inside the limit, reject if outside and without `shield`.

    `shield` says that one more retraining may do as much. If retrainings seem to be of another
    recipe than base's, nothing is promoted; if they seem to be copies, nothing is decided.
    """
    found, n_runs = excess.interval(), len(floor.each)
    if floor.copies and n_runs > 1:
        why = "retrainings seem to be copies, which say nothing of noise: give others"
        return Check(name, "hold", f"{percent(found.value)}, limit {percent(limit.limit)}: {why}")
    if math.isnan(found.low):
        why = "needs at least two retrainings: one gives no interval"
        raise InputError(f"max_{name} {why if n_runs < 2 else 'has no interval: a single cluster'}")
    is_outside = found.low > limit.limit
    decision: Decision = "promote" if limit.burden == "prove-harm" else "hold"
    if found.high <= limit.limit:
        decision, why = "promote", "the interval lies inside"
    elif is_outside and shield is not None:
        why = f"the interval lies outside, but {shield}"
    elif is_outside:
        few = ""
        if n_runs < ENOUGH:
            few = f"; {n_runs} retrainings do not tell what one more may do: retrain once more"
        decision, why = "reject", f"the interval lies outside{few}"
    elif decision == "promote":
        why = "harm is not proven"
    else:
        unless = WITHOUT_GAIN if name == "excess_loss" else "unless it moves less than they do "
        why = f"the data leave it open; {_what_ends(excess, n_runs, limit.limit, unless)}"
    if decision == "promote" and floor.caution is not None:
        decision, why = "hold", f"{why}, but retrainings seem to be of another recipe than base's"
    return held_against(name, decision, why, found, limit.limit)


def _what_ends(excess: Excess, n_runs: int, limit: float, unless: str) -> str:
    """Say how many more examples or retrainings like these would end a hold."""
    clustered = excess.units < excess.n
    if excess.value >= 0 and (few := too_few(excess.units, limit, clustered, unless)):
        return few
    is_inside = excess.value <= limit
    decision = "promote" if is_inside else "reject"

    def times(*, examples: bool, runs: bool) -> float:
        def with_more(k: float) -> Interval:
            return excess.interval(k if examples else 1, k if runs else 1)

        return times_to_end(with_more, limit, inside=is_inside)

    ways = {
        "examples": (excess.n, times(examples=True, runs=False)),
        "retrainings": (n_runs, times(examples=False, runs=True)),
    }
    said = [more(there, k, what) for what, (there, k) in ways.items() if k < math.inf]
    if said:
        return f"about {' or '.join(said)} like these would {decision}"
    if (both := times(examples=True, runs=True)) < math.inf:
        return f"about {both:.2g} times as many examples and retrainings would {decision}"
    return "it lies so near the limit that no more of either is likely to decide"
