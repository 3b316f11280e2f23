"""`decide`: may the candidate replace the base? A comparison against a policy's limits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn.comparison.outcomes import BAD, FLIPPED
from unchurn.comparison.slices import SliceCounts, take_rare_together
from unchurn.core.errors import InputError
from unchurn.gate.policy import Limit, Policy, make_policy, read_policy
from unchurn.gate.verdict import Check, Decision, Verdict
from unchurn.metrics.intervals import LEVEL, Interval
from unchurn.report.numbers import percent

if TYPE_CHECKING:
    from unchurn.comparison.result import Comparison


def decide(comparison: Comparison, policy: Policy | dict[str, Any] | str | Path) -> Verdict:
    """Hold a comparison against a policy."""
    if isinstance(policy, str | Path):
        policy = read_policy(Path(policy))
    elif isinstance(policy, dict):
        policy = make_policy(policy)
    policy.explain()  # says so if there is no limit at all
    slices = take_rare_together(comparison.slice_counts, policy.min_slice)
    checks = []
    for name, limit in policy.limits.items():
        if name.removeprefix("slice_") in ("bad_flips", "accuracy_loss"):
            _need_labels(comparison, name)
        if name.startswith("slice_"):
            checks += _slice_checks(slices, name, limit, policy.min_slice)
        elif name == "excess_churn":
            checks.append(_excess(comparison, limit))
        else:
            measure = {"accuracy_loss": "accuracy_difference"}.get(name, name)
            checks.append(_check(name, _loss(comparison.estimates[measure], name), limit))
    if policy.must_not_flip:
        checks.append(_must_not_flip(comparison, policy.must_not_flip))
    return Verdict(tuple(checks))


def _need_labels(comparison: Comparison, name: str) -> None:
    if comparison.labels_cover is None:
        raise InputError(f"max_{name} needs true labels, and there are none: give labels=")


def _loss(interval: Interval, name: str) -> Interval:
    """What is limited: of a difference in accuracy, the loss."""
    if not name.endswith("accuracy_loss"):
        return interval
    return Interval(-interval.value, -interval.high, -interval.low, interval.note)


def _check(name: str, found: Interval, limit: Limit, level: float = LEVEL) -> Check:
    """Inside the limit with the whole interval, wholly outside, or neither."""
    if np.isnan(found.low):
        raise InputError(f"{name} has no interval to check: {found.note or 'too few examples'}")
    shown = f"{percent(found.value)} [{percent(found.low)}, {percent(found.high)}]"
    if level != LEVEL:
        shown += f" at {percent(level)}, for all slices at once"
    what = f"{shown}, limit {percent(limit.limit)}"
    if found.high <= limit.limit:
        return Check(name, "promote", f"{what}: the interval lies inside")
    if found.low > limit.limit:
        return Check(name, "reject", f"{what}: the interval lies outside")
    if limit.burden == "prove-harm":
        return Check(name, "promote", f"{what}: harm is not proven")
    return Check(name, "hold", f"{what}: the data leave it open")


def _excess(comparison: Comparison, limit: Limit) -> Check:
    """Excess over the floor; a candidate that may be one more retraining is never rejected for it.

    The interval of the excess is for this candidate. A retraining is itself a draw, and would be
    above zero half of the time: it is rejected only if it lies beyond what one more draw may do.
    """
    floor = comparison.floor
    if floor is None:
        raise InputError("max_excess_churn needs other retrainings of base: give retrains=")
    if np.isnan(floor.excess.low):
        raise InputError("max_excess_churn needs at least two retrainings: one gives no interval")
    check = _check("excess_churn", floor.excess, limit)
    if check.decision == "reject" and floor.is_another_retraining:
        low, high = floor.expected
        may = f"one more retraining may churn {percent(low)} to {percent(high)}"
        reason = f"{check.reason}, but {may}"
        decision: Decision = "promote" if limit.burden == "prove-harm" else "hold"
        return Check(check.name, decision, reason)
    return check


def _slice_checks(
    slices: list[SliceCounts], name: str, limit: Limit, min_slice: int
) -> list[Check]:
    """A check of every slice, at a level that holds for all of them at once (Bonferroni).

    A slice of too few examples could hardly ever prove that it is safe: it only may prove harm.
    """
    if not slices:
        raise InputError(f"max_{name} needs slices: give slices=")
    level = 1 - (1 - LEVEL) / len(slices)
    checks = []
    for one in slices:
        label = f"{name} of {one.column}={one.value}"
        if name != "slice_churn" and one.counts.number(one.counts.judged) == 0:
            raise InputError(f"max_{label}: there are no true labels")
        found = _loss(_of_slice(one, name, level), name)
        if one.n >= min_slice:
            checks.append(_check(label, found, limit, level))
        elif np.isnan(found.low):
            checks.append(Check(label, "promote", f"only {one.n} examples, {found.note}"))
        else:
            harm = limit.model_copy(update={"burden": "prove-harm"})
            checks.append(_check(f"{label} ({one.n} examples)", found, harm, level))
    return checks


def _of_slice(one: SliceCounts, name: str, level: float) -> Interval:
    """What a limit of slices is on."""
    if name == "slice_churn":
        return one.counts.rate(FLIPPED, level=level)
    if name == "slice_bad_flips":
        return one.counts.rate_of_judged(BAD, level)
    return one.counts.difference(level)


def _must_not_flip(comparison: Comparison, ids: list[str | int]) -> Check:
    """Reject if any of the named examples flips; every one of them has to be there."""
    import polars as pl

    there = comparison.paired.ids.cast(pl.String)
    wanted = pl.Series([str(one) for one in ids])
    missing = wanted.filter(~wanted.is_in(there.implode()))
    if len(missing):
        raise InputError(
            f"must_not_flip: {len(missing)} ids are not among the examples compared, such as "
            f"{missing[0]!r}"
        )
    flipped = there.filter(pl.Series(comparison.outcomes.flipped) & there.is_in(wanted.implode()))
    name = "must_not_flip"
    if len(flipped):
        shown = ", ".join(flipped[:5].to_list()) + (" …" if len(flipped) > 5 else "")
        return Check(name, "reject", f"{len(flipped)} of {len(ids)} flipped: {shown}")
    return Check(name, "promote", f"none of {len(ids)} flipped")
