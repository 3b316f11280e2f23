"""Validate `result.json`, which may have been edited, before tables and pages use it.

Only keys that tables and pages use are checked; further keys are allowed.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from unchurn.core.errors import InputError, field_problem
from unchurn.datasets.base import TEXT, as_labels
from unchurn.study.scenarios.periods import MOST

Plain = str | int | float | bool | None  # types of a method's parameters
LABELS = rf"^({TEXT}|bool|u?int(8|16|32|64)|float(16|32|64))$"  # types of NumPy
IMAGE = r"^(data:image/png;base64,[A-Za-z0-9+/=]*)?$"  # never a URL that a page would fetch


class _Part(BaseModel):
    """A dictionary with at least these keys."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)


class _Data(_Part):
    name: str
    classes: list[str] = Field(min_length=1)
    fingerprint: str
    n_train: int
    n_validation: int
    notes: list[str]
    id_column: str = ""
    label_dtype: str = Field(default=TEXT, pattern=LABELS)

    @model_validator(mode="after")
    def _has_such_labels(self) -> Self:
        as_labels(self.classes, self.label_dtype)  # ValueError if they are not of that type
        return self


class _Budget(_Part):
    max_bad_flips: float | None = Field(default=None, ge=0, le=1)
    max_churn: float | None = Field(default=None, ge=0, le=1)


class _History(_Part):
    times: list[str] | list[float] = Field(min_length=2, max_length=MOST)
    trained_on: list[int]


class _Subject(_Part):
    data: _Data
    learner: dict[str, Any]
    learner_label: str
    learner_facts: dict[str, str]
    length: str
    runs: int = Field(ge=2)
    seed: int
    scenario: str
    budget: _Budget = _Budget()
    history: _History | None = None


class _Facts(_Part):
    name: str
    text: str
    parameters: dict[str, Plain]
    methods: list[dict[str, Plain]] = Field(min_length=1)
    n_models: int = Field(ge=1)
    n_trained: int = Field(default=1, ge=1)
    note: str


class _Setting(_Part):
    facts: _Facts
    failures: list[str]


class _Example(_Part):
    number: int = Field(ge=0)
    image: str = Field(pattern=IMAGE)
    features: list[tuple[str, str]]


class _Record(_Part):
    subject: _Subject
    settings: list[_Setting]
    notes: list[str]
    made_by: list[str]
    seconds: float = Field(ge=0)
    examples: list[_Example]


def check_record(text: str) -> None:
    """Refuse a record, as JSON, with a missing or wrong value; the error names the first."""
    try:
        _Record.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        shown = str(first["input"])
        first["input"] = shown if len(shown) < 80 else shown[:80] + "…"
        problem = field_problem(first, "field", ())
        raise InputError(f"damaged, or not a bench's result: {problem}") from error
