"""Whether `result.json` and `result.npz` can be what a study left: anyone may have edited them.

Only what tables and pages use is looked at; further keys are let be.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError, field_problem

IMAGE = r"^(data:image/png;base64,[A-Za-z0-9+/=]*)?$"  # never an address that a page would fetch


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


class _Subject(_Part):
    data: _Data
    learner: dict[str, Any]
    learner_label: str
    learner_facts: dict[str, str]
    length: str
    runs: int = Field(ge=2)
    seed: int
    scenario: str


class _MethodPart(_Part):
    name: str
    parameters: dict[str, Any]


class _Setting(_Part):
    method: str
    parts: list[_MethodPart] = Field(min_length=1)
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
    """Refuse a record, as JSON, whose values are of another kind, by the name of the first."""
    try:
        _Record.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        shown = str(first["input"])
        first["input"] = shown if len(shown) < 80 else shown[:80] + "…"
        problem = field_problem(first, "field", ())
        raise InputError(f"damaged, or not a bench's result: {problem}") from error


def check_arrays(record: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Refuse predictions and labels that are not classes, or not of the runs and rows recorded."""
    n_classes, runs = len(record["subject"]["data"]["classes"]), record["subject"]["runs"]
    if "labels/test" not in arrays:
        raise InputError("without the labels of the test part")
    rows = {
        name.removeprefix("labels/"): array.shape
        for name, array in arrays.items()
        if name.startswith("labels/")
    }
    for name, array in arrays.items():
        number, _, part = name.partition("/")
        shape = rows.get(part, ()) if number == "labels" else (runs, *rows.get(part, ()))
        is_class = array.dtype.kind in "iu" and array.size and 0 <= array.min() <= array.max()
        if array.shape != shape or len(rows.get(part, ())) != 1 or not is_class:
            raise InputError(f"{name} is not of so many runs, rows and classes")
        if array.max() >= n_classes:
            raise InputError(f"{name} holds class {array.max()} of {n_classes}")
    for place, setting in enumerate(record["settings"]):
        found = [part for part in rows if f"{place}/{part}" in arrays]
        if found != ([] if setting["failures"] else list(rows)):
            raise InputError(f"setting {place} has neither all of its runs nor a reason why not")
    n_test = rows["test"][0]
    if any(example["number"] >= n_test for example in record["examples"]):
        raise InputError(f"shows an example that is none of the {n_test} of the test part")
