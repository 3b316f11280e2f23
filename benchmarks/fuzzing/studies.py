"""What a study leaves: its runs, its result; trained models."""

import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone

from fuzzing.base import Files, Target, WrongError, elsewhere
from unchurn.core.errors import InputError

GOLDEN = Path(__file__).parents[2] / "tests/study/golden/runs"


def study_targets() -> Iterator[Target]:
    """What a study leaves: its runs, its result, a trained model."""
    from unchurn.study.design.parts import Parts
    from unchurn.study.results.result import Result
    from unchurn.study.trainings.store import DamagedError, Store
    from unchurn.study.trainings.store_check import checked_run

    key = "3efa5fbb1ecb202d75c1dd9299f001f3"
    run = {f"runs/{key}/{p.name}": p.read_bytes() for p in sorted((GOLDEN / key).iterdir())}
    identity = json.loads(run[f"runs/{key}/record.json"])["identity"]
    rows = len(np.load(GOLDEN / key / "test_predictions.npy"))
    n_classes = np.load(GOLDEN / key / "test.npy").shape[1]
    x, y = np.zeros((rows, 1), np.float32), np.zeros(rows, np.int64)
    parts = Parts(x_train=x, y_train=y, n_classes=n_classes, x={"test": x}, y={"test": y})

    def get(rng: random.Random) -> None:
        try:
            stored = Store(Path()).get(identity)
            if stored is None:
                raise WrongError("the run is not found")
            kept = checked_run(stored, parts, is_reference=False)
        except DamagedError as error:
            raise InputError(str(error)) from error
        if not all(np.isfinite(array).all() for array in kept.arrays.values()):
            raise WrongError("numbers that are none are believed")

    yield Target("store", run, get)
    yield Target("store, checksums mended", run, get, mend=_mend_run)

    result = _result_files()

    def report(rng: random.Random) -> None:
        loaded = Result.load(Path())
        for form in ("text", "markdown", "latex", "csv", "json", "html"):
            loaded.table(form)
        loaded.to_dict()
        loaded.report("page.html")

    yield Target("report", result, report, weight=5)


def model_targets() -> Iterator[Target]:
    """Trained models: of arrays, and of a table that it keeps the preparation of."""
    from unchurn import StableClassifier, load_table

    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    rows = pl.DataFrame({"x": features[:, 0], "c": ["u", "v", None] * 10})
    data = load_table(rows.with_columns(y=labels), target="y")
    model = StableClassifier(epochs=1, random_state=0)
    examples: dict[str, tuple[Any, Any]] = {
        "model": (model.fit(features, labels), features),
        "model of a table": (clone(model).fit(data), rows),
    }
    for name, (fitted, inputs) in examples.items():
        with elsewhere() as folder:
            fitted.save(folder / "model.safetensors")
            saved = (folder / "model.safetensors").read_bytes()

        def restore(_: random.Random, inputs: Any = inputs) -> None:
            loaded = StableClassifier.load("model.safetensors")
            if inputs is rows and loaded.preparation_ is None:
                raise InputError("without its preparation it takes no rows")
            found = loaded.predict_proba(inputs)
            if not np.isfinite(found).all():
                raise WrongError("a model that predicts no numbers is taken")

        yield Target(name, {"model.safetensors": saved}, restore, weight=5)


def _result_files() -> Files:
    """The files of a small result, made up rather than trained."""
    from unchurn import make_setting
    from unchurn.metrics.registry import Runs
    from unchurn.study.results.examples import Example
    from unchurn.study.results.folder import save
    from unchurn.study.results.result import Result, SettingResult
    from unchurn.study.results.subject import DataFacts, Subject
    from unchurn.training.learners.torch import TorchLearner

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 30)
    settings = [
        SettingResult(
            make_setting(name).facts(),
            {"test": Runs(predictions=rng.integers(0, 3, (3, 30)), labels=labels)},
        )
        for name in ("control", "knn_ls(k=3)", "knn_ls(k=5)+ema")
    ]
    settings.append(SettingResult(make_setting("mixup").facts(), {}, ("run 0: loss is nan",)))
    data = DataFacts(name="toy", classes=("a", "b", "c"), fingerprint="0", n_train=9,
                     n_validation=0, notes=("a note",))  # fmt: skip
    learner = TorchLearner()
    subject = Subject(
        data=data, labels={"test": labels}, learner=learner.identity, learner_label=learner.label,
        learner_facts=learner.facts, length=learner.length, runs=3, seed=0,
    )  # fmt: skip
    examples = (Example(number=3, image="", features=(("x", "1"),)),)
    with elsewhere() as folder:
        save(Result(subject, settings, examples=examples), folder)
        return {name: (folder / name).read_bytes() for name in ("result.json", "result.npz")}


def _mend_run(files: Files) -> Files:
    """Give a spoiled run right checksums, as who edits it on purpose would."""
    (path,) = [name for name in files if name.endswith("record.json")]
    try:
        content = json.loads(files[path])
        content.pop("checksum", None)
        for name in content["sha256"]:
            array = files.get(path.replace("record.json", f"{name}.npy"), b"")
            content["sha256"][name] = hashlib.sha256(array).hexdigest()
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        return {**files, path: json.dumps({**content, "checksum": digest}).encode()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return files
