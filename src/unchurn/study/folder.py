"""What a study leaves in a folder, and how it is read again.

runs/               every training (see `store.py`)
result.json         what was studied, and its numbers
result.npz          what every setting's runs predicted, and the true classes
table.csv, .md, .tex
predictions/        what every chosen setting's runs predicted (see `predictions.py`)
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from unchurn.core.errors import InputError
from unchurn.core.files import atomic_write, reading, write_text
from unchurn.core.numpy_files import load_arrays
from unchurn.methods import Combination, Method, combine
from unchurn.methods.registry import named_method
from unchurn.metrics.registry import Runs
from unchurn.study.examples import Example
from unchurn.study.predictions import write_predictions
from unchurn.study.recorded import check_arrays, check_record
from unchurn.study.result import Result, SettingResult
from unchurn.study.settings import Setting
from unchurn.study.subject import Subject

JSON, ARRAYS, PREDICTIONS = "result.json", "result.npz", "predictions"
TABLES = {"csv": "table.csv", "markdown": "table.md", "latex": "table.tex"}


def save(result: Result, folder: Path) -> None:
    """Write all but the runs themselves; the record last, so that what it names is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for form, name in TABLES.items():
        write_text(folder / name, result.table(form))
    write_predictions(result, folder / PREDICTIONS)
    arrays = {f"labels/{part}": labels for part, labels in result.subject.labels.items()}
    for number, one in enumerate(result.settings):
        arrays |= {f"{number}/{part}": p for part, p in one.predictions.items()}
    with atomic_write(folder / ARRAYS) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **{name: _small(array) for name, array in arrays.items()})
    write_text(folder / JSON, json.dumps(_record(result), indent=1, allow_nan=False) + "\n")


def load(folder: Path) -> Result:
    """What `save` wrote."""
    path = folder / JSON
    if not path.is_file():
        raise InputError(
            f"{folder}: no finished bench is there ({JSON} is missing): run the same bench again, "
            "which keeps the trainings that are finished"
        )
    with reading(path, "a bench's result"):
        text = path.read_text("utf-8")
        record = json.loads(text)
        check_record(text)
    with reading(folder / ARRAYS, "a bench's predictions"):
        arrays = load_arrays(folder / ARRAYS)
        check_arrays(record, arrays)
    with reading(path, "a bench's result"):
        return _result(record, arrays)


def _record(result: Result) -> dict[str, Any]:
    """The result as plain values, with what it takes to make it again."""
    plain = result.to_dict()
    for one, given in zip(result.settings, plain["settings"], strict=True):
        given["parts"] = [_method(part) for part in _parts(one.setting.method)]
    return {**plain, "examples": [asdict(example) for example in result.examples]}


def _result(record: dict[str, Any], arrays: dict[str, Any]) -> Result:
    """A result from its record and arrays."""
    labels = {
        name.removeprefix("labels/"): array
        for name, array in arrays.items()
        if name.startswith("labels/")
    }
    settings = []
    for number, given in enumerate(record["settings"]):
        parts = [named_method(part["name"], **part["parameters"]) for part in given["parts"]]
        runs = {
            part: Runs(predictions=arrays[f"{number}/{part}"], labels=y)
            for part, y in labels.items()
            if f"{number}/{part}" in arrays
        }
        setting = Setting(given["method"], combine(*parts))
        settings.append(SettingResult(setting, runs, tuple(given["failures"])))
    return Result(
        subject=Subject.from_dict(record["subject"], labels),
        settings=settings,
        notes=tuple(record["notes"]),
        made_by=tuple(record["made_by"]),
        seconds=record["seconds"],
        examples=tuple(
            Example(**{**e, "features": tuple(map(tuple, e["features"]))})
            for e in record["examples"]
        ),
    )


def _parts(method: Method) -> tuple[Method, ...]:
    return method.parts if isinstance(method, Combination) else (method,)


def _method(method: Method) -> dict[str, Any]:
    from unchurn.methods.registry import name_of

    return {"name": name_of(method), "parameters": method.get_params()}


def _small(array: Any) -> Any:
    """Class numbers in the smallest type that holds them."""
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))
