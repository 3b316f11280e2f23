"""`compare`, `gate`, `blend`, `plan` on files of every kind; one table in many types is one."""

import codecs
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fuzzing.base import Files, Target, WrongError, command, table_bytes
from unchurn.core.errors import InputError

OPTIONS = (
    (), (), (), (), (), (), (), ("--json",), ("--markdown",), ("--slices", "country"),
    ("--cluster", "user"),
    ("--id", "id"), ("--prediction", "prediction"), ("--probabilities", "p_"), ("--min-slice", "1"),
    ("--flips", "flips.csv"), ("--threshold", "0.5"), ("--positive", "a"), ("--id", "nothing"),
    ("--slices", "p_a,country"), ("--threshold", "nan"), ("--slices", ""), ("--label", "label"),
)  # fmt: skip
TEXTS = (
    (), (), (), (), (), (), (), ("--delimiter", "tab"), ("--delimiter", ";", "--decimal", ","),
    ("--encoding", "latin-1"), ("--encoding", "utf-16"), ("--encoding", "cp037"),
)  # fmt: skip
ROWS = (
    (), (), (), ("--id", "id"), ("--prediction", "prediction"), ("--positive", "a"),
    ("--min-overlap", "0"),
)  # fmt: skip
BESIDES = ((), (), ("--cluster", "user"), ("--label", "label"))  # which a candidate may have alone
BUDGET = 0.3  # of churn, of which the two models have more
POLICY = b"""max_churn = 0.2
max_bad_flips = {limit = 0.1, burden = "prove-harm"}
max_slice_churn = 0.5
min_slice = 5
must_not_flip = ["101", 102]
"""


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
    if suffix != ".npz":
        return table_bytes(pl.DataFrame(columns), suffix)
    buffer = io.BytesIO()
    np.savez(buffer, **columns)
    return buffer.getvalue()


def compare_targets() -> Iterator[Target]:
    """`compare`, `gate` and `plan` on files of every kind."""
    for suffix in (".csv", ".parquet", ".jsonl", ".npz"):
        base, cand = f"base{suffix}", f"cand{suffix}"
        files = {base: predictions(1, suffix), cand: predictions(2, suffix)}

        def compare(rng: random.Random, base: str = base, cand: str = cand) -> None:
            command("compare", base, cand, *rng.choice(OPTIONS), *rng.choice(OPTIONS))

        yield Target(f"compare {suffix}", files, compare, weight=20)
    yield from _other_tables()
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
    yield from _blends()


def _blends() -> Iterator[Target]:
    """`blend` on files of every kind: its budget holds, and `compare` reads what it wrote alike."""
    for suffix in (".csv", ".parquet", ".jsonl", ".npz"):
        files = {f"base{suffix}": predictions(1, suffix), f"cand{suffix}": predictions(2, suffix)}

        def blend(rng: random.Random, files: Files = files) -> None:
            out = f"served{rng.choice(('.csv', '.parquet', '.jsonl'))}"
            budget = ("--max-churn", f"{BUDGET}", "-o", out, "--json")
            options = rng.choice(ROWS)
            said = command("blend", *files, *budget, *options, *rng.choice(BESIDES))
            churn = json.loads(said)["served"]["churn"]["value"]
            if churn > BUDGET:
                raise WrongError(f"churn of {churn}")
            try:
                said = command("compare", next(iter(files)), out, "--json", *options)
            except InputError as error:
                raise WrongError(f"not read back: {error}") from error
            if (again := json.loads(said)["churn"]["value"]) != churn:
                raise WrongError(f"{churn} is read back as {again}")

        yield Target(f"blend {suffix}", files, blend, weight=5)


def _other_tables() -> Iterator[Target]:
    """Text that is packed or in another encoding, and a workbook."""
    marked = codecs.BOM_UTF8 + predictions(2, ".csv")
    files = {"base.tsv.gz": predictions(1, ".tsv.gz"), "cand.csv": marked}
    yield Target("compare text", files, lambda rng: command("compare", *files, *rng.choice(TEXTS)))
    for suffix in (".feather", ".xlsx"):  # each takes a process of its own
        one = {f"base{suffix}": predictions(1, suffix), "cand.csv": predictions(2, ".csv")}

        def compare(rng: random.Random, one: Files = one) -> None:
            command("compare", *one, *rng.choice(OPTIONS))

        yield Target(f"compare {suffix}", one, compare, weight=2)


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
        suffix = rng.choice((".csv", ".parquet", ".jsonl", ".npz", ".tsv", ".csv.gz"))
        if rng.random() < 0.01:  # which take a process of their own
            suffix = rng.choice((".xlsx", ".feather"))
        names.append(f"{name}{suffix}")
        written.append({key: str(series.dtype) for key, series in columns.items()})
        if suffix in (".npz", ".xlsx"):  # which have no such types
            rare = (pl.Int128, pl.Categorical, pl.Decimal)
            columns = {
                key: series.cast(pl.String) if series.dtype in rare else series
                for key, series in columns.items()
            }
        if suffix == ".npz":
            arrays = {
                key: series.to_numpy().astype("U" if series.dtype == pl.String else None)
                for key, series in columns.items()
            }
            np.savez(names[-1], **arrays)  # type: ignore[arg-type]
        else:
            Path(names[-1]).write_bytes(table_bytes(pl.DataFrame(columns), suffix))
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
