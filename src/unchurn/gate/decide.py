"""`gate`: may the candidate replace the base? Limits on what flips, and a verdict with reasons."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from xml.sax.saxutils import quoteattr

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from unchurn.comparison.outcomes import BAD, FLIPPED, LABELLED
from unchurn.comparison.slices import count_slices
from unchurn.core.errors import InputError, field_problem
from unchurn.metrics.intervals import LEVEL, Interval

if TYPE_CHECKING:
    from unchurn.comparison.compare import Comparison
    from unchurn.comparison.slices import Part

NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Decision = Literal["promote", "hold", "reject"]
EXIT_CODES: dict[str, int] = {"promote": 0, "reject": 1, "hold": 3}
WORDS = {
    "churn": "predictions that change",
    "bad_flips": "right predictions that become wrong",
    "excess_churn": "churn beyond that of retraining alone",
    "accuracy_loss": "accuracy lost",
    "slice_churn": "predictions that change in any slice",
    "slice_bad_flips": "right predictions that become wrong in any slice",
    "slice_accuracy_loss": "accuracy lost in any slice",
}


class Limit(BaseModel):
    """The most that is allowed, as a fraction; and who has to prove what."""

    model_config = ConfigDict(extra="forbid")

    limit: float = Field(ge=-1, le=1)
    burden: Literal["prove-safety", "prove-harm"] = "prove-safety"

    @model_validator(mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        """A bare number is a limit; `true` is none, though Python counts it as 1."""
        if isinstance(value.get("limit") if isinstance(value, dict) else value, bool):
            raise ValueError("a limit is a number, not true or false")
        return {"limit": value} if isinstance(value, int | float | str) else value


class Share(Limit):
    """The most of what cannot be negative."""

    limit: float = Field(ge=0, le=1)


class Policy(BaseModel):
    """What a candidate must keep to; each limit is a number, or a table of limit and burden."""

    model_config = ConfigDict(extra="forbid")

    max_churn: Share | None = None
    max_bad_flips: Share | None = None
    max_excess_churn: Limit | None = None
    max_accuracy_loss: Limit | None = None
    max_slice_churn: Share | None = None
    max_slice_bad_flips: Share | None = None
    max_slice_accuracy_loss: Limit | None = None
    min_slice: int = Field(default=50, ge=1)
    must_not_flip: list[str | int] = []

    @property
    def limits(self) -> dict[str, Limit]:
        """The limits that are set, by the name of what they limit."""
        values = {name: getattr(self, f"max_{name}") for name in WORDS}
        return {name: limit for name, limit in values.items() if limit is not None}

    def explain(self) -> list[str]:
        """The policy in words."""
        lines = []
        for name, limit in self.limits.items():
            unproven = (
                "if the data leave it open, promote"
                if limit.burden == "prove-harm"
                else "if the data leave it open, hold"
            )
            lines.append(f"{WORDS[name]}: at most {limit.limit:.2%}; {unproven}")
        if any(name.startswith("slice_") for name in self.limits):
            lines.append(
                f"slices of fewer than {self.min_slice} examples count as one of their column; if "
                "that is still too small, it can reject, but not hold"
            )
        if self.must_not_flip:
            lines.append(f"{len(self.must_not_flip)} examples must not flip: one that does rejects")
        if not lines:
            limits = [key for key in Policy.model_fields if key != "min_slice"]
            raise InputError(f"the policy sets no limit: set one of {', '.join(limits)}")
        return lines


@dataclass(frozen=True)
class Check:
    """One limit against what was measured."""

    name: str
    decision: Decision
    reason: str


@dataclass(frozen=True)
class Verdict:
    """Promote if every check does; reject if any does; hold otherwise."""

    checks: tuple[Check, ...]

    @property
    def decision(self) -> Decision:
        """What to do."""
        for decision in ("reject", "hold"):
            if any(check.decision == decision for check in self.checks):
                return decision
        return "promote"

    @property
    def exit_code(self) -> int:
        """Promote 0, reject 1, hold 3."""
        return EXIT_CODES[self.decision]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"decision": self.decision, "checks": [vars(check) for check in self.checks]}

    def junit(self) -> str:
        """As JUnit XML: a test case per check; hold and reject are failures."""

        def quoted(text: str) -> str:
            return quoteattr(NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))

        failures = sum(check.decision != "promote" for check in self.checks)
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuite name="unchurn gate" tests="{len(self.checks)}" failures="{failures}">',
        ]
        for check in self.checks:
            lines.append(f'  <testcase classname="unchurn.gate.decide" name={quoted(check.name)}>')
            if check.decision != "promote":
                text = quoted(check.reason)
                lines.append(f'    <failure type="{check.decision}" message={text}/>')
            lines.append("  </testcase>")
        return "\n".join([*lines, "</testsuite>"]) + "\n"


def read_policy(path: Path | None, options: dict[str, Any] | None = None) -> Policy:
    """A policy from a TOML file, options before it; errors name the key and what is allowed."""
    fields: dict[str, Any] = {}
    if path is not None:
        try:
            fields = tomllib.loads(path.read_text("utf-8-sig"))
        except ValueError as error:
            raise InputError(f"{path}: not a TOML file: {error}") from error
    given = {name: value for name, value in (options or {}).items() if value is not None}
    if "must_not_flip" in given and isinstance(fields.get("must_not_flip"), list):
        given["must_not_flip"] = [*fields["must_not_flip"], *given["must_not_flip"]]
    fields |= given
    return make_policy(fields, str(path) if path else "policy")


def make_policy(fields: dict[str, Any], name: str = "policy") -> Policy:
    """A checked policy."""
    try:
        policy = Policy(**fields)
    except ValidationError as error:
        raise InputError("; ".join(_problem(e, name) for e in error.errors())) from error
    policy.explain()
    return policy


def _problem(error: Any, name: str) -> str:
    """One key's problem in a few words."""
    allowed = ["limit", "burden"] if len(error["loc"]) > 1 else Policy.model_fields
    hint = " (a fraction: 0.05 is 5 %)" if error["type"] == "less_than_equal" else ""
    return f"{name}: {field_problem(error, 'key', allowed)}{hint}"


def decide(comparison: Comparison, policy: Policy | dict[str, Any] | str | Path) -> Verdict:
    """Hold a comparison against a policy."""
    if isinstance(policy, str | Path):
        policy = read_policy(Path(policy))
    elif isinstance(policy, dict):
        policy = make_policy(policy)
    policy.explain()  # says so if there is no limit at all
    checks = []
    for name, limit in policy.limits.items():
        if name.removeprefix("slice_") in ("bad_flips", "accuracy_loss"):
            _need_labels(comparison, name)
        if name.startswith("slice_"):
            checks += _slice_checks(comparison, name, limit, policy.min_slice)
        elif name == "excess_churn":
            checks.append(_excess(comparison, limit))
        else:
            measure = {"accuracy_loss": "accuracy_difference"}.get(name, name)
            checks.append(_check(name, _loss(comparison.estimates[measure], name), limit))
    if policy.must_not_flip:
        checks.append(_must_not_flip(comparison, policy.must_not_flip))
    return Verdict(tuple(checks))


def _need_labels(comparison: Comparison, name: str) -> None:
    if comparison.n_labelled == 0:
        raise InputError(f"max_{name} needs true labels, and there are none: give --labels")


def _loss(interval: Interval, name: str) -> Interval:
    """What is limited: of a difference in accuracy, the loss."""
    if not name.endswith("accuracy_loss"):
        return interval
    return Interval(-interval.value, -interval.high, -interval.low, interval.note)


def _check(name: str, found: Interval, limit: Limit, level: float = LEVEL) -> Check:
    """Inside the limit with the whole interval, wholly outside, or neither."""
    if np.isnan(found.low):
        raise InputError(f"{name} has no interval to check: {found.note or 'too few examples'}")
    shown = f"{found.value:.2%} [{found.low:.2%}, {found.high:.2%}]"
    if level != LEVEL:
        shown += f" at {level:.2%}, for all slices at once"
    what = f"{shown}, limit {limit.limit:.2%}"
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
        raise InputError("max_excess_churn needs other retrainings of base: give --retrains")
    if np.isnan(floor.excess.low):
        raise InputError("max_excess_churn needs at least two retrainings: one gives no interval")
    check = _check("excess_churn", floor.excess, limit)
    if check.decision == "reject" and floor.is_another_retraining:
        low, high = floor.expected
        reason = f"{check.reason}, but one more retraining may churn {low:.2%} to {high:.2%}"
        decision: Decision = "promote" if limit.burden == "prove-harm" else "hold"
        return Check(check.name, decision, reason)
    return check


def _slice_checks(comparison: Comparison, name: str, limit: Limit, min_slice: int) -> list[Check]:
    """A check of every slice, at a level that holds for all of them at once (Bonferroni).

    A slice of too few examples could hardly ever prove that it is safe: it only may prove harm.
    """
    if not comparison.paired.slices:
        raise InputError(f"max_{name} needs slices: give --slices")
    parts = count_slices(comparison.paired, comparison.outcomes, comparison.counting, min_slice)
    level = 1 - (1 - LEVEL) / len(parts)
    checks = []
    for part in parts:
        label = f"{name} of {part.column}={part.value}"
        if name != "slice_churn" and part.counts.number(LABELLED) == 0:
            raise InputError(f"max_{label}: there are no true labels")
        found = _loss(_of_slice(part, name, level), name)
        if part.n >= min_slice:
            checks.append(_check(label, found, limit, level))
        elif np.isnan(found.low):
            checks.append(Check(label, "promote", f"only {part.n} examples, {found.note}"))
        else:
            harm = limit.model_copy(update={"burden": "prove-harm"})
            checks.append(_check(f"{label} ({part.n} examples)", found, harm, level))
    return checks


def _of_slice(part: Part, name: str, level: float) -> Interval:
    """What a limit of slices is on."""
    if name == "slice_churn":
        return part.counts.rate(FLIPPED, level=level)
    if name == "slice_bad_flips":
        return part.counts.rate(BAD, LABELLED, level)
    return part.counts.difference(level)


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
