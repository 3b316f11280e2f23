"""`Policy`: a gate's limits, read from a TOML file, options or a dict, and explained in words."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from unchurn.comparison.checks.cautions import MAX_MISSING
from unchurn.core.errors import InputError, field_problem
from unchurn.core.toml_json import read_plain
from unchurn.gate.measured import least_units
from unchurn.report.numbers import limit_percent

LISTS = (list, tuple, set, frozenset)  # of ids, as pydantic takes them
NO_LIMITS = ("max_missing", "min_slice")  # fields that alone make no policy
WORDS = {
    "churn": "predictions that change",
    "bad_flips": "right predictions that become wrong",
    "excess_churn": "churn beyond that of retraining alone",
    "accuracy_loss": "accuracy lost",
    "excess_loss": "accuracy lost beyond that of retraining alone",
    "slice_churn": "predictions that change in any slice",
    "slice_bad_flips": "right predictions that become wrong in any slice",
    "slice_accuracy_loss": "accuracy lost in any slice",
}


class Limit(BaseModel):
    """The largest value allowed, as a fraction, and the burden of proof."""

    model_config = ConfigDict(extra="forbid")

    limit: float = Field(ge=-1, le=1)
    burden: Literal["prove-safety", "prove-harm"] = "prove-safety"

    @model_validator(mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        """Accept a bare number as a limit, but not `true`, which Python counts as 1."""
        if isinstance(value.get("limit") if isinstance(value, dict) else value, bool):
            raise ValueError("a limit is a number, not true or false")
        return {"limit": value} if isinstance(value, int | float | str) else value


class Share(Limit):
    """A limit on a measure that cannot be negative."""

    limit: float = Field(ge=0, le=1)


class Policy(BaseModel):
    """The limits for a candidate; each is a number, or a table of limit and burden."""

    model_config = ConfigDict(extra="forbid")

    max_churn: Share | None = None
    max_bad_flips: Share | None = None
    max_excess_churn: Limit | None = None
    max_accuracy_loss: Limit | None = None
    max_excess_loss: Limit | None = None
    max_slice_churn: Share | None = None
    max_slice_bad_flips: Share | None = None
    max_slice_accuracy_loss: Limit | None = None
    max_missing: float = Field(default=MAX_MISSING, ge=0, le=1, strict=True)
    min_slice: int = Field(default=50, ge=1)
    must_not_flip: list[str | int] = []

    def __init__(self, **fields: Any) -> None:
        """Check the fields; InputError names those that are wrong."""
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise InputError("; ".join(map(_problem, error.errors()))) from error

    @property
    def limits(self) -> dict[str, Limit]:
        """The limits that are set, by the name of the limited measure."""
        values = {name: getattr(self, f"max_{name}") for name in WORDS}
        return {name: limit for name, limit in values.items() if limit is not None}

    def explain(self) -> list[str]:
        """The policy in words, a line for each limit; InputError if there is none."""
        lines = []
        for name, limit in self.limits.items():
            unproven = (
                "if the data leave it open, promote"
                if limit.burden == "prove-harm"
                else "if the data leave it open, hold"
            )
            lines.append(f"{WORDS[name]}: at most {limit_percent(limit.limit)}; {unproven}")
            if limit.burden == "prove-safety":
                lines[-1] += _least(name, limit.limit)
        if any(name.startswith("slice_") for name in self.limits):
            lines.append(
                f"slices of fewer than {self.min_slice} examples count as one of their column; if "
                "that is still too small, it can reject, but not hold"
            )
        if self.must_not_flip:
            lines.append(f"{len(self.must_not_flip)} examples must not flip: one that does rejects")
        if not lines:
            limits = [key for key in Policy.model_fields if key not in NO_LIMITS]
            raise InputError(f"the policy sets no limit: set one of {', '.join(limits)}")
        allowed = limit_percent(self.max_missing)
        lines.append(
            f"rows of base for which the candidate has no prediction: at most {allowed}, else hold"
        )
        return lines


def _least(name: str, limit: float) -> str:
    """Words on the number of examples below which a limit can only hold."""
    least = least_units(limit)
    if math.isfinite(least):
        where = " of a slice" if name.startswith("slice_") else ""
        return f"; with fewer than {least:,} examples{where} even one without a flip is held"
    if name.endswith("loss") or name == "excess_churn":
        return ""
    return "; it never promotes: no number of examples shows that nothing flips"


def read_policy(path: Path | None, options: dict[str, Any] | None = None) -> Policy:
    """A policy from a TOML file and options, as `make_policy` joins them."""
    fields = {} if path is None else read_plain(path)
    return make_policy(fields, options, str(path) if path else "policy")


def make_policy(
    fields: dict[str, Any], options: dict[str, Any] | None = None, name: str = "policy"
) -> Policy:
    """A policy from its fields; InputError if one is wrong, or no limit is set.

    Options override fields, but add to `must_not_flip`; those that are None are not given.
    """
    given = {key: value for key, value in (options or {}).items() if value is not None}
    before, more = (each.get("must_not_flip") for each in (fields, given))
    if isinstance(before, LISTS) and isinstance(more, LISTS):
        given["must_not_flip"] = [*before, *more]
    try:
        policy = Policy(**{**fields, **given})
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    policy.explain()
    return policy


def _problem(error: Any) -> str:
    """One key's problem in a few words."""
    allowed = ["limit", "burden"] if len(error["loc"]) > 1 else Policy.model_fields
    hint = " (a fraction: 0.05 is 5 %)" if error["type"] == "less_than_equal" else ""
    return f"{field_problem(error, 'key', allowed)}{hint}"
