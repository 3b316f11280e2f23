"""What is attacked: every reader and command, each with files that it takes."""

import contextlib
import gzip
import hashlib
import io
import json
import random
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import typer.main

from unchurn import cli
from unchurn.core.errors import InputError

Files = dict[str, bytes]
GOLDEN = Path(__file__).parent.parent / "tests/study/golden/runs"
ALLOWED = (0, 1, 2, 3)  # done, rejected, bad input, held
OPTIONS = (
    (), (), (), (), (), (), (), ("--json",), ("--markdown",), ("--slices", "country"),
    ("--cluster", "user"),
    ("--id", "id"), ("--prediction", "prediction"), ("--probabilities", "p_"), ("--min-slice", "1"),
    ("--flips", "flips.csv"), ("--threshold", "0.5"), ("--positive", "a"), ("--id", "nothing"),
    ("--slices", "p_a,country"), ("--threshold", "nan"), ("--slices", ""), ("--label", "label"),
)  # fmt: skip


class WrongError(Exception):
    """It neither crashed nor refused, and yet what came of it is wrong."""


@dataclass(frozen=True)
class Target:
    """What reads files: `call` is made in a folder that holds them, some of them spoiled."""

    name: str
    files: Files
    call: Callable[[random.Random], object]  # raises InputError or OSError for bad input
    weight: int = 10
    mend: Callable[[Files], Files] = lambda files: files  # such as checksums of what was spoiled


def command(*arguments: str) -> str:
    """Run the command line in this process, hold it to its promises; give what it printed."""
    out, err = io.StringIO(), io.StringIO()
    before, app = sys.argv, cli.app
    sys.argv = ["unchurn", *arguments]
    cli.app = _built()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.argv, cli.app = before, app
    said = err.getvalue()
    if code not in ALLOWED:
        raise WrongError(f"exit code {code}: {_last_frame(said)}")
    if left := [path.name for path in Path().iterdir() if path.name.startswith(".unchurn-")]:
        raise WrongError(f"left behind: {left}")
    if code == 2:
        if not said.startswith("unchurn: ") or said.count("\n") != 1:
            raise WrongError(f"not one line: {said[:200]!r}")
        raise InputError(said)
    return out.getvalue()


@cache
def _built() -> Any:
    """All commands; Typer builds them anew at every call, which takes longer than a case."""
    return typer.main.get_command(cli.app)


def _last_frame(trace: str) -> str:
    """Where a traceback ends and what it says: equal for equal faults."""
    lines = trace.splitlines()
    frames = [
        line.strip() for line in lines if line.strip().startswith("File ") and "unchurn" in line
    ]
    said = [line for line in lines if line and not line.startswith((" ", "unchurn:"))]
    return f"{frames[-1] if frames else ''} {said[-1][:150] if said else ''}"


def predictions(seed: int, suffix: str) -> bytes:
    """A file of predictions with all columns there may be."""
    rng = np.random.default_rng(seed)
    n = 40
    p = rng.dirichlet(np.ones(3), n)
    columns = {
        "id": np.arange(100, 100 + n),
        "prediction": np.array(["a", "b", "c"])[p.argmax(axis=1)],
        "label": np.array(["a", "b", "c"])[np.random.default_rng(0).integers(0, 3, n)],
        "country": np.array(["de", "fr"])[np.arange(n) % 2],
        "user": np.arange(n) // 4,
        **{f"p_{name}": p[:, i] for i, name in enumerate("abc")},
    }
    buffer = io.BytesIO()
    if suffix == ".npz":
        np.savez(buffer, **columns)
    elif suffix == ".csv":
        pl.DataFrame(columns).write_csv(buffer)
    elif suffix == ".parquet":
        pl.DataFrame(columns).write_parquet(buffer)
    else:
        pl.DataFrame(columns).write_ndjson(buffer)
    return buffer.getvalue()


POLICY = b"""max_churn = 0.2
max_bad_flips = {limit = 0.1, burden = "prove-harm"}
max_slice_churn = 0.5
min_slice = 5
must_not_flip = ["101", 102]
"""
CONFIG = {
    "data": "table.csv", "target": "y", "methods": ["control", "knn_ls(k=3)+ema", "ensemble(m=2)"],
    "runs": 2, "epochs": 1, "preset": "quick", "model": "mlp", "seed": 1, "model_args": {},
}  # fmt: skip


def compare_targets() -> Iterator[Target]:
    """`compare`, `gate` and `plan` on files of every kind."""
    for suffix in (".csv", ".parquet", ".jsonl", ".npz"):
        base, cand = f"base{suffix}", f"cand{suffix}"
        files = {base: predictions(1, suffix), cand: predictions(2, suffix)}

        def compare(rng: random.Random, base: str = base, cand: str = cand) -> None:
            command("compare", base, cand, *rng.choice(OPTIONS), *rng.choice(OPTIONS))

        yield Target(f"compare {suffix}", files, compare, weight=20)
    files = {"base.csv": predictions(1, ".csv"), "cand.parquet": predictions(2, ".parquet")}
    several = {**files, "r1.npz": predictions(3, ".npz"), "r2.jsonl": predictions(4, ".jsonl"),
               "r3.csv": predictions(5, ".csv")}  # fmt: skip
    retrains = ("--retrains", "r1.npz", "--retrains", "r2.jsonl", "--retrains", "r3.csv")
    yield Target(
        "compare --retrains", several, lambda rng: command("compare", *files, *retrains), weight=5
    )
    yield Target(
        "plan", several, lambda rng: command("plan", "--excess", "0.01", *retrains), weight=5
    )
    yield Target(
        "gate",
        {**files, "policy.toml": POLICY, "ids.txt": b"101\n102\n"},
        lambda rng: command(
            "gate", *files, "--policy", "policy.toml", "--must-not-flip", "ids.txt",
            "--junit", "junit.xml", "--slices", "country", *rng.choice(OPTIONS),
        ),
        weight=15,
    )  # fmt: skip


def smooth_targets() -> Iterator[Target]:
    """`smooth` on files of every kind."""
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
    for suffix in (".npy", ".npz", ".csv", ".parquet"):
        made = []
        for name, array in (("logits", logits), ("labels", labels[:, None])):
            buffer = io.BytesIO()
            if suffix == ".npy":
                np.save(buffer, array)
            elif suffix == ".npz":
                np.savez(buffer, **{name: array})  # type: ignore[arg-type]
            else:
                named = ["a", "b", "c"] if name == "logits" else ["label"]
                table = pl.DataFrame(array, schema=named)
                table.write_csv(buffer) if suffix == ".csv" else table.write_parquet(buffer)
            made.append(buffer.getvalue())
        files = {f"logits{suffix}": made[0], f"labels{suffix}": made[1]}

        def smooth(rng: random.Random, suffix: str = suffix) -> None:
            out = f"out{rng.choice(('.npy', '.npz', '.csv', '.parquet'))}"
            command("smooth", f"logits{suffix}", f"labels{suffix}", "-o", out, "-k", "3")

        yield Target(f"smooth {suffix}", files, smooth)


def bench_targets() -> Iterator[Target]:
    """A table of one's own and a file of settings, up to the plan of a study."""
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {"x": rng.normal(size=60), "n": rng.integers(0, 9, 60), "c": ["u", "v", "w"] * 20,
         "y": ["no", "yes"] * 30}
    )  # fmt: skip
    csv, parquet = io.BytesIO(), io.BytesIO()
    table.write_csv(csv)
    table.write_parquet(parquet)
    plan = ("--methods", "control", "--dry-run", "--target", "y", "--model",
            "sklearn.naive_bayes:GaussianNB")  # fmt: skip
    for name, content in (("table.csv", csv.getvalue()), ("table.parquet", parquet.getvalue())):

        def bench(rng: random.Random, name: str = name) -> None:
            command("bench", name, *plan)

        yield Target(f"bench {name}", {name: content}, bench, weight=5)
    for name in ("bench.toml", "bench.json"):
        text = json.dumps(CONFIG) if name.endswith("json") else _toml(CONFIG)

        def config(rng: random.Random, name: str = name) -> None:
            command("bench", "--config", name, "--dry-run")

        files = {name: text.encode(), "table.csv": csv.getvalue()}
        yield Target(f"bench --config {name}", files, config)


def _toml(fields: dict[str, object]) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items())


def dataset_targets() -> Iterator[Target]:
    """The published datasets' files, in small."""
    from scipy.io import savemat

    from unchurn.datasets import load
    from unchurn.datasets.phishing import FEATURES, TARGET

    rng = np.random.default_rng(0)

    def idx(array: np.ndarray) -> bytes:
        header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
        return gzip.compress(header + array.tobytes(), mtime=0)

    mnist = {}
    for part in ("train", "t10k"):
        images, labels = rng.integers(0, 256, (5, 4, 4), np.uint8), rng.integers(0, 10, 5, np.uint8)
        mnist[f"mnist/{part}-images-idx3-ubyte.gz"] = idx(images)
        mnist[f"mnist/{part}-labels-idx1-ubyte.gz"] = idx(labels)
    yield Target("mnist", mnist, lambda rng: _load(load, "mnist"))

    table = rng.integers(-1, 2, (20, 31))
    table[:, -1] = np.where(table[:, -1] == 0, 1, table[:, -1])
    csv = "\n".join([",".join((*FEATURES, TARGET)), *(",".join(map(str, row)) for row in table)])
    attributes = [f"@attribute {name} {{ -1,0,1 }}" for name in (*FEATURES, TARGET)]
    rows = [",".join(map(str, row)) for row in table]
    arff = "\n".join(["@relation phishing", *attributes, "@data", *rows]) + "\n"
    yield Target(
        "phishing .csv",
        {"phishing/phishing.csv": csv.encode()},
        lambda rng: _load(load, "phishing"),
    )
    yield Target(
        "phishing .arff",
        {"phishing/Training Dataset.arff": arff.encode()},
        lambda rng: _load(load, "phishing"),
    )

    mat = io.BytesIO()
    savemat(
        mat, {"X": rng.integers(0, 256, (4, 4, 3, 3), np.uint8), "y": np.array([[1], [2], [10]])}
    )
    svhn = {f"svhn/{part}_32x32.mat": mat.getvalue() for part in ("train", "test")}
    # Each takes a process of its own, twice.
    yield Target("svhn", svhn, lambda rng: _load(load, "svhn"), weight=1)
    yield from _celeba(lambda rng: _load(load, "celeba_smiling"))


def _load(load: Callable[..., object], name: str) -> None:
    load(name, Path())


def _celeba(call: Callable[[random.Random], None]) -> Iterator[Target]:
    from PIL import Image

    images = {}
    for number in range(1, 7):
        buffer = io.BytesIO()
        Image.new("RGB", (12, 14), (20 * number, 0, 9)).save(buffer, "JPEG")
        images[f"{number:06d}.jpg"] = buffer.getvalue()
    rows = [f"{name} -1 {1 if i % 2 else -1}" for i, name in enumerate(images)]
    lists = {
        "celeba/list_attr_celeba.txt": "\n".join(["6", "Bald Smiling", *rows, ""]).encode(),
        "celeba/list_eval_partition.txt": "".join(
            f"{name} {part}\n" for name, part in zip(images, (0, 0, 0, 1, 2, 2), strict=True)
        ).encode(),
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in images.items():
            file.writestr(zipfile.ZipInfo(f"img_align_celeba/{name}"), content)
    yield Target("celeba .zip", {**lists, "celeba/img_align_celeba.zip": archive.getvalue()}, call)
    folder = {f"celeba/img_align_celeba/{name}": content for name, content in images.items()}
    yield Target("celeba folder", {**lists, **folder}, call)


def study_targets() -> Iterator[Target]:
    """What a study leaves: its runs, its result, a trained model."""
    from unchurn.study.believed import believed
    from unchurn.study.parts import Parts
    from unchurn.study.result import Result
    from unchurn.study.store import DamagedError, Store

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
            kept = believed(stored, parts, is_reference=False)
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

    from unchurn import StableClassifier

    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 2))
    model = StableClassifier(epochs=1).fit(features, rng.integers(0, 2, 30))
    with _elsewhere() as folder:
        model.save(folder / "model.safetensors")
        saved = (folder / "model.safetensors").read_bytes()

    def restore(_: random.Random) -> None:
        found = StableClassifier.load("model.safetensors").predict_proba(features)
        if not np.isfinite(found).all():
            raise WrongError("a model that predicts no numbers is taken")

    yield Target("model", {"model.safetensors": saved}, restore, weight=5)


def _result_files() -> Files:
    """The files of a small result, made up rather than trained."""
    from unchurn import make_setting
    from unchurn.metrics.registry import Runs
    from unchurn.study.examples import Example
    from unchurn.study.folder import save
    from unchurn.study.result import Result, SettingResult
    from unchurn.study.subject import DataFacts, Subject
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
    with _elsewhere() as folder:
        save(Result(subject, settings, examples=examples), folder)
        return {name: (folder / name).read_bytes() for name in ("result.json", "result.npz")}


@contextlib.contextmanager
def _elsewhere() -> Iterator[Path]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


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


def encoding_target() -> Target:
    """One table in many types and formats gives one answer, or a refusal."""
    return Target("encodings", {}, _encodings, weight=20)


def _encodings(rng: random.Random) -> None:
    n = rng.randrange(5, 30)
    ids = rng.sample(range(rng.choice((50, 300, 2**20))), n)
    said = [[rng.choice(("1", "2", "10")) for _ in ids] for _ in range(2)]
    expected = sum(a != b for a, b in zip(*said, strict=True))
    names, written = [], []
    for name, labels in zip(("base", "cand"), said, strict=True):
        order = rng.sample(range(n), n)
        columns = {
            "id": _encoded([ids[i] for i in order], rng),
            "prediction": _encoded([int(labels[i]) for i in order], rng),
        }
        suffix = rng.choice((".csv", ".parquet", ".jsonl", ".npz"))
        names.append(f"{name}{suffix}")
        written.append({key: str(series.dtype) for key, series in columns.items()})
        if suffix == ".npz":
            arrays = {
                key: np.array(series.cast(pl.String).to_list())  # NumPy has no such type
                if series.dtype in (pl.Int128, pl.Categorical, pl.Decimal)
                else series.to_numpy().astype("U" if series.dtype == pl.String else None)
                for key, series in columns.items()
            }
            np.savez(names[-1], **arrays)  # type: ignore[arg-type]
        else:
            Path(names[-1]).write_bytes(_table(pl.DataFrame(columns), suffix))
    answer = json.loads(command("compare", *names, "--json"))
    flips = round(answer["churn"]["value"] * answer["n"])
    if (flips, answer["n"]) != (expected, n):
        raise WrongError(f"{flips} of {answer['n']} flip, not {expected} of {n}: {written}")


def _encoded(numbers: list[int], rng: random.Random) -> pl.Series:
    """Whole numbers as one of the types that hold them exactly."""
    kinds: list[Any] = [
        pl.Int64, pl.UInt32, pl.Int32, pl.Float64, pl.String, pl.Categorical, pl.Int128,
        pl.Decimal(20, 0), pl.UInt64, pl.Float32,
    ]  # fmt: skip
    kind = rng.choice([k for k in kinds if k != pl.Float32 or max(numbers) < 2**24])
    series = pl.Series(numbers)
    return series.cast(pl.String).cast(kind) if kind == pl.Categorical else series.cast(kind)


def _table(table: pl.DataFrame, suffix: str) -> bytes:
    target = io.BytesIO()
    if suffix == ".csv":
        table.write_csv(target)
    elif suffix == ".parquet":
        table.write_parquet(target)
    else:
        table.write_ndjson(target)
    return target.getvalue()


def all_targets() -> list[Target]:
    """Every reader and command."""
    makers = (compare_targets, smooth_targets, bench_targets, dataset_targets, study_targets)
    return [target for maker in makers for target in maker()] + [encoding_target()]
