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
from unchurn.paper.studies import RECIPES, STUDIES
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


def with_wholes(records: Sequence[Record]) -> list[Record]:
    """Results of the paper's studies: parts that make up a whole one are replaced by it.

    A part is of some methods, at the study's own size. While a setting lacks, parts stay apart:
    a study without some of its settings would look like a whole one.
    """
    parts: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        is_part = record.facts["command"].startswith(f"{_command(record)} --methods ")
        if is_part and record.study in STUDIES:
            parts.setdefault((record.study, record.dataset), []).append(record)
    found = list(records)
    for own in parts.values():
        if (whole := _whole(own)) is not None:
            found = [record for record in found if record not in own] + [whole]
    return found


def _whole(parts: Sequence[Record]) -> Record | None:
    """The result that parts of a study make up, in the study's order; None if any setting lacks."""
    study = STUDIES[parts[0].study]
    if len(study.variants(RECIPES[parts[0].dataset])) > 1:
        return None  # each variant has a result of its own
    record = united(parts)
    there = {
        f"{one.setting.name} {one.setting.text}": (one, facts)
        for one, facts in zip(record.result.settings, record.facts["settings"], strict=True)
    }
    wanted = [f"{one.name} {one.text}" for one in study.settings(record.dataset)]
    if set(wanted) - set(there):
        return None
    settings = [there[one] for one in wanted]
    return replace(
        record,
        result=replace(record.result, settings=[one for one, _ in settings]),
        facts={
            **record.facts,
            "settings": [facts for _, facts in settings],
            "command": _command(record),
        },
    )


def with_curves(records: Sequence[Record]) -> list[Record]:
    """Results of Figure 2, and those of Table 3 that have its settings, too."""
    own = [record for record in records if record.study == "figure2"]
    names = {record.name for record in own}
    tables = [record for record in records if record.study == "table3" and _has_curves(record)]
    also = [
        replace(
            record,
            name=record.name.replace("table3", "figure2", 1),
            facts={**record.facts, "study": "figure2"},
        )
        for record in tables
    ]
    return own + [record for record in also if record.name not in names]


def _has_curves(record: Record) -> bool:
    there = {one.setting.text for one in record.result.settings}
    return there >= {one.text for one in STUDIES["figure2"].settings(record.dataset)}


def _command(record: Record) -> str:
    """The command that makes a whole study on a record's dataset."""
    return f"unchurn reproduce {record.study} --dataset {record.dataset}"


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
