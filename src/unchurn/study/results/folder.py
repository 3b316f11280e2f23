"""Write the result of a study to a folder, and read it again.

runs/               every training (see `trainings/store.py`)
result.json         the subject of the study, and its numbers
result.npz          predictions of every setting's runs, fresh ones too, true classes, and ids
table.csv, .md, .tex
releases.csv        the numbers of every release; only in the scenario replay
predictions/        predictions of the reported runs of chosen settings (see `predictions.py`)

A folder is not trusted: it is read as numbers and text, and no code that it names is imported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.core.errors import InputError
from unchurn.core.files import atomic_write, reading, write_text
from unchurn.core.numpy_files import check_text, load_arrays
from unchurn.metrics.registry import Runs
from unchurn.report import formats
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.settings import SettingFacts
from unchurn.study.results.examples import Example
from unchurn.study.results.over_time import releases_table
from unchurn.study.results.predictions import write_predictions
from unchurn.study.results.result import SCHEMA, Result, SettingResult
from unchurn.study.results.result_file_check import check_record
from unchurn.study.results.stored_probabilities import StoredProbabilities
from unchurn.study.results.subject import Subject, subject_of
from unchurn.study.trainings.store import Store

JSON, ARRAYS, PREDICTIONS = "result.json", "result.npz", "predictions"
TABLES = {"csv": "table.csv", "markdown": "table.md", "latex": "table.tex"}
BASE, FIRST, FRESH = "base ", "first ", "fresh "  # prefixes of array names
LABELS, TESTED_BY, IDS = "labels/", "tested_by/", "ids"
RELEASES = "releases.csv"
Arrays = Mapping[str, npt.NDArray[Any]]


def check_room(folder: Path) -> None:
    """Refuse a folder in which a study would replace files that no study wrote."""
    if _is_of_a_study(folder):
        return
    for name in (*TABLES.values(), RELEASES, ARRAYS, JSON):
        if (folder / name).exists():
            raise InputError(
                f"{folder / name} would be replaced, and no bench wrote it: give another folder"
            )


def _is_of_a_study(folder: Path) -> bool:
    """Whether a study left its record in a folder, or, if it was interrupted, a training."""
    try:
        if json.loads((folder / JSON).read_text("utf-8"))["schema"] == SCHEMA:
            return True
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        pass  # no record, or none of ours
    return Store(folder).has_any()


def save(result: Result, folder: Path, said: StoredProbabilities | None = None) -> None:
    """Write all files but the runs; result.json last, so that all files it describes exist.

    Files of predictions have probabilities if the store is given, as `said`.
    """
    check_room(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for form, name in TABLES.items():
        write_text(folder / name, result.table(form))
    if result.subject.history is not None:
        write_text(folder / RELEASES, formats.render(releases_table(result), "csv"))
    write_predictions(result, folder / PREDICTIONS, said)
    arrays: dict[str, Any] = {name: _small(array) for name, array in _arrays(result)}
    if (ids := result.subject.ids) is not None:
        arrays[IDS] = ids
    with atomic_write(folder / ARRAYS) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)
    write_text(folder / JSON, json.dumps(_record(result), indent=1, allow_nan=False) + "\n")


def load(folder: Path) -> Result:
    """Read the result that `save` wrote; InputError if it is missing or damaged."""
    path = folder / JSON
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder: bench says where its runs are kept")
    if not path.is_file():
        raise InputError(
            f"{folder}: no finished bench is there ({JSON} is missing): run the same bench again, "
            "which keeps the trainings that are finished"
        )
    with reading(path, "a bench's result"):
        text = path.read_text("utf-8")
        record = json.loads(text)
        if record["schema"] != SCHEMA:
            raise InputError(f"of another version: {record['schema']}")
        check_record(text)
    with reading(folder / ARRAYS, "a bench's predictions"):
        arrays = load_arrays(folder / ARRAYS)
        check_text(arrays.get(IDS, np.zeros(0)), IDS)
    with reading(path, "a bench's result"):
        return _result(record, arrays)


def other_study(folder: Path, experiment: Experiment) -> Result | None:
    """The result of a different study in the folder, which this experiment would overwrite.

    None if there is none, or if the same study continues, perhaps with more settings or runs.
    """
    try:
        there = load(folder)
    except (InputError, OSError):  # no result, one in part, or an unreadable one
        return None
    old, new = there.subject, subject_of(experiment)
    settings = [setting.facts(experiment.scenario) for setting in experiment.settings]
    goes_on = (
        _what(old) == _what(new)
        and old.runs <= new.runs
        and all(one.setting in settings for one in there.settings)
    )
    return None if goes_on else there


def _what(subject: Subject) -> str:
    """The facts that tell one study from another, as text; neither runs nor settings."""
    facts = (
        subject.data.fingerprint,
        subject.learner,
        subject.seed,
        subject.scenario.text,
        subject.chosen_on,
        subject.budget.given,
    )
    return json.dumps(facts, sort_keys=True)  # as JSON, so that facts read from a file compare


def _arrays(result: Result) -> list[tuple[str, npt.NDArray[Any]]]:
    """Named arrays: true classes by part, predictions by number of the setting and part."""
    labels = [(f"{LABELS}{part}", array) for part, array in result.subject.labels.items()]
    if (history := result.subject.history) is not None:
        labels += [(f"{TESTED_BY}{part}", own) for part, own in history.tested_by.items()]
    runs = [
        (f"{fresh}{kind}{number}/{part}", array)
        for number, one in enumerate(result.settings)
        for fresh, those in (("", one), (FRESH, one.fresh))
        if those is not None
        for part, own in those.runs.items()
        for kind, array in (("", own.predictions), (BASE, own.base), (FIRST, own.first))
        if array is not None
    ]
    return [*labels, *runs]


def _record(result: Result) -> dict[str, Any]:
    """The result as plain values, with all facts that `_result` needs."""
    plain = result.to_dict()
    for one, given in zip(result.settings, plain["settings"], strict=True):
        given["facts"] = asdict(one.setting)
    return {**plain, "examples": [asdict(example) for example in result.examples]}


def _result(record: dict[str, Any], arrays: Arrays) -> Result:
    """A result from its record and arrays."""
    labels, tested_by = (
        {name.removeprefix(kind): own for name, own in arrays.items() if name.startswith(kind)}
        for kind in (LABELS, TESTED_BY)
    )
    ids = arrays.get(IDS)  # older folders have none
    subject = Subject.from_dict(record["subject"], labels, tested_by, ids)
    for part, classes in labels.items():
        _check(classes, (len(classes),), subject, part)
    if ids is not None and (ids.dtype.kind not in "iuU" or ids.shape != labels["test"].shape):
        raise InputError(f"{IDS} are not those of {len(labels['test'])} test rows")
    settings = []
    for number, one in enumerate(record["settings"]):
        facts = {**one["facts"], "methods": tuple(one["facts"]["methods"])}
        found = SettingResult(
            SettingFacts(**facts), _by_part(arrays, "", number, subject), tuple(one["failures"])
        )
        fresh = _by_part(arrays, FRESH, number, subject)
        if found.runs and fresh:
            found = replace(found, fresh=replace(found, runs=fresh))
        settings.append(found)
    return Result(
        subject=subject,
        settings=settings,
        notes=tuple(map(str, record["notes"])),
        made_by=tuple(map(str, record["made_by"])),
        seconds=float(record["seconds"]),
        examples=tuple(_example(one, len(labels["test"])) for one in record["examples"]),
    )


def _by_part(arrays: Arrays, fresh: str, number: int, subject: Subject) -> dict[str, Runs]:
    """The runs of a setting, or its fresh ones, by part; empty if there are none."""
    if f"{fresh}{number}/test" not in arrays:
        return {}
    found = {}
    for part, labels in subject.labels.items():
        base, first = (
            _runs(arrays, name, subject, part) if name in arrays else None
            for name in (f"{fresh}{kind}{number}/{part}" for kind in (BASE, FIRST))
        )
        if (subject.history is not None) and (base is None or first is None):
            raise InputError(f"what was before setting {number} on the {part} part is missing")
        found[part] = Runs(
            predictions=_runs(arrays, f"{fresh}{number}/{part}", subject, part),
            labels=labels,
            base=base,
            first=first,
        )
    return found


def _runs(arrays: Arrays, name: str, subject: Subject, part: str) -> npt.NDArray[Any]:
    """Classes predicted by a setting's runs on a part, checked."""
    return _check(arrays[name], (subject.runs, len(subject.labels[part])), subject, name)


def _check(
    classes: npt.NDArray[Any], shape: tuple[int, ...], subject: Subject, name: str
) -> npt.NDArray[Any]:
    """The array, if it holds class numbers in the right shape; InputError if not."""
    n_classes = len(subject.data.classes)
    is_fit = classes.dtype.kind in "iu" and classes.shape == shape
    if not is_fit or classes.min(initial=0) < 0 or classes.max(initial=0) >= n_classes:
        raise InputError(f"{name} does not fit {shape} predictions of {n_classes} classes")
    return classes


def _example(given: dict[str, Any], n: int) -> Example:
    """A test example from the record, checked; its picture must be an inline PNG."""
    image, number = given["image"], given["number"]
    if not (isinstance(number, int) and 0 <= number < n):
        raise InputError(f"there is no test example {number!r}")
    if image and not re.fullmatch(r"data:image/png;base64,[A-Za-z0-9+/=]+", image):
        raise InputError(f"the picture of example {number} is none")
    features = tuple((str(name), str(value)) for name, value in given["features"])
    return Example(number=number, image=image, features=features)


def _small(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Class numbers in the smallest type that holds them."""
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))
