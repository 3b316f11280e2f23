"""One result per dataset, even if it was made in parts, some of its methods at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.paper.records import Record, read_all
from unchurn.study.results.result import SettingResult

SAME = ("model", "training", "scenario", "runs", "seed")  # what all parts of a result share


class _WithRecipe(Protocol):
    @property
    def recipe(self) -> str: ...


R = TypeVar("R", bound=_WithRecipe)


def by_dataset(folder: Path, study: str) -> dict[str, Record]:
    """The results of a study in a folder, one for each dataset; parts are united."""
    parts: dict[str, list[Record]] = {}
    for record in read_all(folder):
        if record.study == study:
            parts.setdefault(record.dataset, []).append(record)
    return {dataset: united(own) for dataset, own in parts.items()}


def united(parts: Sequence[Record]) -> Record:
    """Unite results of equal trainings on one dataset; a setting in several is taken once."""
    first = parts[0]
    for part in parts[1:]:
        if odd := [name for name, value in _same(first).items() if _same(part)[name] != value]:
            raise InputError(f"{part.name} is of other {odd[0]} than {first.name}")
    settings: dict[str, tuple[SettingResult, dict[str, Any]]] = {}
    for part in parts:
        for one, facts in zip(part.result.settings, part.facts["settings"], strict=True):
            key = f"{one.setting.name} {one.setting.text}"
            if key not in settings or not settings[key][0].runs:  # what failed may be made again
                settings[key] = one, facts
    # A label that no run of one part got right may be known from another.
    labels = reduce(np.maximum, (part.result.subject.labels["test"] for part in parts))
    return Record(
        name=f"{first.study}-{first.dataset}",
        result=replace(
            first.result,
            subject=replace(first.result.subject, labels={"test": labels}),
            settings=[_with_labels(one, labels) for one, _ in settings.values()],
        ),
        facts={**first.facts, "settings": [facts for _, facts in settings.values()]},
    )


def of_recipe(rows: Iterable[R], recipe: str, study: str) -> R:
    """The row of a recipe; InputError if there is none."""
    for row in rows:
        if row.recipe == recipe:
            return row
    raise InputError(
        f"the page needs results of {recipe}: unchurn reproduce {study} --dataset … makes them"
    )


def _same(part: Record) -> dict[str, Any]:
    """What all parts of a result have in common."""
    return {"data": part.facts["data"]["fingerprint"], **{n: part.facts.get(n) for n in SAME}}


def _with_labels(one: SettingResult, labels: Array) -> SettingResult:
    return replace(one, runs={part: replace(r, labels=labels) for part, r in one.runs.items()})
