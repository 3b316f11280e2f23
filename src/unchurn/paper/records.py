"""Results small enough to publish: every run's predictions, which are right, and how made.

A result is three files: NAME.json (what was trained, by which command, commit and versions),
NAME.npz (predictions) and NAME.csv (the numbers). They hold no data and no weights; of the test
labels, only those that a run or its base predicted.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unchurn.core.arrays import Array
from unchurn.core.errors import InputError
from unchurn.core.files import atomic_write, reading, write_text
from unchurn.core.numpy_files import load_arrays
from unchurn.core.version import __version__
from unchurn.methods.registry import PLUS, named_method
from unchurn.metrics.churn import Given
from unchurn.metrics.registry import Runs
from unchurn.paper.beyond.tables import ALL_TABLES
from unchurn.paper.experiments import smaller
from unchurn.paper.record_numbers import numbers
from unchurn.paper.studies import RECIPES, STUDIES
from unchurn.study.design.settings import Setting, combined_setting
from unchurn.study.results.result import Result, SettingResult
from unchurn.study.results.subject import DataFacts, Subject
from unchurn.study.scenarios import make_scenario
from unchurn.study.scenarios.retrain import Retrain
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.config import Training

NEVER_RIGHT = -1  # stands for a label that no run predicted
BASE = "base"  # the array of the older models' predictions


@dataclass(frozen=True)
class Record:
    """A published result, read back; `facts` is the content of its JSON file."""

    name: str
    result: Result
    facts: dict[str, Any]

    @property
    def study(self) -> str:
        """The table, figure or trial that it belongs to."""
        return str(self.facts["study"])

    @property
    def dataset(self) -> str:
        """The name of its dataset."""
        return self.result.subject.data.name

    @property
    def label(self) -> str:
        """Its dataset, and how it is smaller than the paper's."""
        less = ", ".join(smaller(self.result.subject))
        return self.dataset + (f" ({less})" if less else "")

    @property
    def is_main(self) -> bool:
        """Whether it is the study itself, not some of its methods or a smaller version."""
        return self.name == f"{self.study}-{self.dataset}"


def as_published(result: Result) -> Result:
    """A result with the paper's correct and incorrect churn: by the first run of each pair."""
    return replace(
        result,
        settings=[
            replace(one, runs={part: replace(r, given="first") for part, r in one.runs.items()})
            for one in result.settings
        ],
    )


def keep(
    folder: Path,
    name: str,
    study: str,
    result: Result,
    command: str,
    more: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """Write a result's three files; `more` has further facts on each setting."""
    archive = _archive(result)
    facts = _facts(study, result, command, hashlib.sha256(archive).hexdigest())
    for row, extra in zip(facts["settings"], more or (), strict=more is not None):
        row.update(extra)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(folder / f"{name}.npz") as temporary:
        temporary.write_bytes(archive)
    write_text(folder / f"{name}.csv", numbers(study, result, command))
    write_text(folder / f"{name}.json", json.dumps(facts, indent=1, ensure_ascii=False) + "\n")


def write_numbers(folder: Path, records: Sequence[Record]) -> list[Path]:
    """Rewrite every result's NAME.csv from its predictions; return their paths."""
    for record in records:
        text = numbers(record.study, record.result, record.facts["command"])
        write_text(folder / f"{record.name}.csv", text)
    return [folder / f"{record.name}.csv" for record in records]


def _archive(result: Result) -> bytes:
    """NAME.npz: (examples, settings, runs) predictions, and the labels that a run got right."""
    labels, rows = result.subject.labels["test"], [row for row in result.settings if row.runs]
    # In this order an example's predictions, which are mostly equal, compress best.
    shape = (len(labels), len(rows), result.subject.runs)
    predictions = [row.predictions["test"].T for row in rows]
    stacked = np.stack(predictions, axis=1) if rows else np.empty(shape, int)
    is_right = (stacked == labels[:, None, None]).any(axis=(1, 2))
    bases = _bases(rows)  # the older models that runs are compared with, if any
    for base in bases.values():
        is_right |= (base == labels[:, None]).any(axis=1)
    right = np.where(is_right, labels, NEVER_RIGHT)
    n_classes = len(result.subject.data.classes)
    buffer = io.BytesIO()
    small = np.min_scalar_type(n_classes - 1)
    arrays: dict[str, Any] = {
        "predictions": stacked.astype(small),
        "right": right.astype(np.min_scalar_type(-n_classes)),
        **{name: base.astype(small) for name, base in bases.items()},
    }
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _bases(rows: list[SettingResult]) -> dict[str, Array]:
    """(examples, runs) predictions of the runs' bases, the same for every setting."""
    base = rows[0].runs["test"].base if rows else None
    return {} if base is None else {BASE: base.T}


def _facts(study: str, result: Result, command: str, sha256: str) -> dict[str, Any]:
    """NAME.json: what was trained, and by which command, commit and versions."""
    subject = result.subject
    return {
        "study": study,
        "data": {
            "name": subject.data.name,
            "fingerprint": subject.data.fingerprint,
            "train": subject.data.n_train,
            "classes": subject.data.classes,
            "notes": subject.data.notes,
        },
        **subject.learner,
        **({} if subject.scenario == Retrain() else {"scenario": subject.scenario.text}),
        "runs": subject.runs,
        "seed": subject.seed,
        "settings": [
            {
                "method": row.setting.name,
                "parameters": _alone(row.setting.methods),
                "failures": row.failures,
            }
            for row in result.settings
        ],
        "command": command,
        "commit": commit(),
        "made_by": result.made_by,
        "seconds": round(result.seconds),
        "sha256": sha256,
    }


def _alone(methods: tuple[dict[str, Any], ...]) -> Any:
    """The parameters of a method; for a combination, those of each of its methods."""
    return methods[0] if len(methods) == 1 else methods


def read(path: Path) -> Record:
    """Read a result back from its JSON file and the predictions beside it."""
    with reading(path, "a kept result"):
        facts = json.loads(path.read_text("utf-8"))
        archive = path.with_suffix(".npz").read_bytes()
        if missing := {"study", "command", "commit"} - set(facts):
            raise InputError(f"without {sorted(missing)[0]!r}")
        if facts["data"]["name"] not in (*RECIPES, *ALL_TABLES):
            raise InputError(f"no dataset {facts['data']['name']!r} is in the paper")
        if hashlib.sha256(archive).hexdigest() != facts["sha256"]:
            raise InputError(
                f"{path.with_suffix('.npz')}: its checksum is not the one recorded: run the "
                "command again that made it"
            )
        arrays = load_arrays(path.with_suffix(".npz"))
        predictions, right = arrays["predictions"], arrays["right"].astype(np.int64)
        base = arrays[BASE].T if BASE in arrays else None
        return Record(path.stem, _result(facts, predictions, right, base), facts)


def _result(facts: dict[str, Any], predictions: Array, right: Array, base: Array | None) -> Result:
    """Rebuild a result from what was recorded."""
    settings, column = [], 0
    scenario = make_scenario(facts.get("scenario", Retrain.name))
    for row in facts["settings"]:
        setting = _setting(row["method"], row["parameters"]).facts(scenario)
        if row["failures"]:
            settings.append(SettingResult(setting, {}, tuple(row["failures"])))
            continue
        given: Given = "first" if facts["study"] in STUDIES else "either"
        runs = Runs(predictions=predictions[:, column].T, labels=right, base=base, given=given)
        column += 1
        settings.append(SettingResult(setting, {"test": runs}))
    return Result(
        subject=replace(_subject(facts, right), scenario=scenario),
        settings=settings,
        made_by=tuple(facts["made_by"]),
        seconds=facts["seconds"],
    )


def _setting(name: str, parameters: Any) -> Setting:
    """Rebuild a setting from its recorded name and parameters."""
    each = parameters if isinstance(parameters, list) else [parameters]
    names = name.split(PLUS)
    return combined_setting(
        [(n, named_method(n, **given)) for n, given in zip(names, each, strict=True)]
    )


def _subject(facts: dict[str, Any], labels: Array) -> Subject:
    """Rebuild the subject: what was trained, on what, how long and how often."""
    about, learner = facts["data"], TorchLearner(facts["model"], Training(**facts["training"]))
    return Subject(
        data=DataFacts(
            name=about["name"],
            classes=tuple(about["classes"]),
            fingerprint=about["fingerprint"],
            n_train=about["train"],
            n_validation=0,
            notes=tuple(about["notes"]),
        ),
        labels={"test": labels},
        learner=learner.identity,
        learner_label=learner.label,
        learner_facts=learner.facts,
        length=learner.length,
        runs=facts["runs"],
        seed=facts["seed"],
    )


def read_all(folder: Path) -> list[Record]:
    """Every result in a folder, sorted by name; without its JSON, written last, it is skipped."""
    paths = [path for path in sorted(folder.glob("*.json")) if path.with_suffix(".npz").exists()]
    return [read(path) for path in paths]


def commit() -> str:
    """The last commit of the package's code, or the version if it is not in a repository."""
    package = Path(__file__).parents[1]
    commit = _git(package, "log", "-1", "--abbrev=12", "--format=%h", "--", ".")
    changed = _git(package, "status", "--porcelain", "--", ".")
    return f"{commit}{' with changes' if changed else ''}" if commit else f"version {__version__}"


def _git(folder: Path, *arguments: str) -> str:
    """Git's output for a folder; empty without git, or if the folder is in no repository."""
    git = shutil.which("git")
    if git is None:
        return ""
    answer = subprocess.run(  # noqa: S603
        [git, "-C", str(folder), *arguments], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip()
