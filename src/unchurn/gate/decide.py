"""`decide`: check a comparison against a policy's limits: promote, hold or reject."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unchurn.comparison.measures.slices import take_rare_together
from unchurn.core.errors import InputError
from unchurn.gate.measured import Measured, what_ends
from unchurn.gate.policy import Limit, Policy, make_policy, read_policy
from unchurn.gate.retraining_checks import excess_churn, excess_loss, of_a_retraining
from unchurn.gate.slice_checks import slice_checks
from unchurn.gate.verdict import Check, Decision, Verdict, held_against
from unchurn.report.numbers import fine_percent, limit_percent

if TYPE_CHECKING:
    from unchurn.comparison.inputs.pairs import Paired
    from unchurn.comparison.result import Comparison

NEED_LABELS = ("bad_flips", "accuracy_loss", "excess_loss")


def decide(
    comparison: Comparison,
    policy: Policy | dict[str, Any] | str | Path | None = None,
    **limits: Any,
) -> Verdict:
    """Check a comparison against a policy; `limits` override it, but add to `must_not_flip`."""
    if isinstance(policy, str | Path):
        policy = read_policy(Path(policy), limits)
    elif isinstance(policy, Policy):
        policy = make_policy(policy.model_dump(exclude_unset=True), limits)
    elif policy is None or isinstance(policy, dict):
        policy = make_policy(policy or {}, limits)
    else:
        raise InputError(f"policy must be a dict of limits or a TOML file's path, not {policy!r}")
    slices = take_rare_together(comparison.slice_counts, policy.min_slice)
    checks = []
    for name, limit in policy.limits.items():
        if name.removeprefix("slice_") in NEED_LABELS and comparison.labels_cover is None:
            raise InputError(
                f"max_{name} needs true labels, and there are none: give labels= (a file of them), "
                "or label= (their column in a model's file)"
            )
        if name.startswith("slice_"):
            checks += slice_checks(slices, name, limit, policy.min_slice)
        elif name == "excess_churn":
            checks.append(excess_churn(comparison.floor, limit))
        elif name == "excess_loss":
            checks.append(excess_loss(comparison, limit))
        else:
            checks.append(_check(comparison, name, limit))
    if policy.must_not_flip:
        checks.append(_must_not_flip(comparison, policy.must_not_flip))
    checks += _missing(comparison.paired, policy.max_missing)
    checks += [Check(doubt.check, "hold", doubt.reason) for doubt in comparison.doubts]
    return Verdict(tuple(checks))


def _missing(paired: Paired, limit: float) -> list[Check]:
    """Hold a candidate that has no prediction for too many of base's rows; else empty."""
    if paired.missing <= limit:
        return []
    allowed = math.ceil(paired.missing * 100) / 100
    return [
        Check(
            "missing",
            "hold",
            f"{paired.n_base - paired.n:,} of base's {paired.n_base:,} rows "
            f"({fine_percent(paired.missing)}) have no prediction of the candidate, limit "
            f"{limit_percent(limit)}: if that is meant, say max_missing = {allowed:g} in the "
            "policy",
        )
    ]


def _check(comparison: Comparison, name: str, limit: Limit) -> Check:
    """Promote if the whole interval is inside the limit, reject if wholly outside, else hold.

    With the burden prove-harm, promote instead of hold.
    """
    measured = Measured(name, comparison.counts)
    found = measured.interval()
    if math.isnan(found.low):
        raise InputError(f"{name} has no interval to check: {found.note or 'too few examples'}")
    decision: Decision = "promote"
    if found.high <= limit.limit:
        why = "the interval lies inside"
    elif found.low > limit.limit:
        hint = of_a_retraining(comparison.floor) if name == "accuracy_loss" else ""
        decision, why = "reject", f"the interval lies outside{hint}"
    elif limit.burden == "prove-harm":
        why = "harm is not proven"
    else:
        ends = what_ends(measured, limit.limit)
        decision, why = "hold", f"the data leave it open; {ends}"
    return held_against(name, decision, why, found, limit.limit)


def _must_not_flip(comparison: Comparison, ids: list[str | int]) -> Check:
    """Reject if any of the named examples flips; InputError if one is missing."""
    import polars as pl

    there = comparison.paired.ids.cast(pl.String)
    wanted = pl.Series([str(one) for one in ids])
    missing = wanted.filter(~wanted.is_in(there.implode()))
    if len(missing):
        are = "id is" if len(missing) == 1 else "ids are"
        is_header = len(wanted) > 1 and missing[0] == wanted[0]
        raise InputError(
            f"must_not_flip: {len(missing)} {are} not among the examples compared, such as "
            f"{missing[0]!r}{', the first: is it a header? Give ids alone' if is_header else ''}"
        )
    flipped = there.filter(pl.Series(comparison.outcomes.flipped) & there.is_in(wanted.implode()))
    name = "must_not_flip"
    if len(flipped):
        first = ", ".join(flipped[:5].to_list()) + (" …" if len(flipped) > 5 else "")
        return Check(name, "reject", f"{len(flipped)} of {len(ids)} flipped: {first}")
    return Check(name, "promote", f"none of {len(ids)} flipped")
