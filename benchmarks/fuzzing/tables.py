"""`smooth` on files of every kind; `bench` on a table of one's own and a file of settings."""

import io
import json
import random
from collections.abc import Iterator

import numpy as np
import polars as pl

from fuzzing.base import Target, command, table_bytes

CONFIG = {
    "data": "table.csv", "target": "y", "methods": ["control", "knn_ls(k=3)+ema", "ensemble(m=2)"],
    "runs": 2, "epochs": 1, "preset": "quick", "model": "mlp", "seed": 1, "model_args": {},
}  # fmt: skip


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
                buffer.write(table_bytes(pl.DataFrame(array, schema=named), suffix))
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
    plan = ("--methods", "control", "--dry-run", "--target", "y", "--model",
            "sklearn.naive_bayes:GaussianNB")  # fmt: skip
    # The last two take a process of their own.
    for suffix, weight in ((".csv", 5), (".parquet", 5), (".feather", 1), (".xlsx", 1)):
        name = f"table{suffix}"

        def bench(rng: random.Random, name: str = name) -> None:
            command("bench", name, *plan)

        yield Target(f"bench {name}", {name: table_bytes(table, suffix)}, bench, weight=weight)
    for name in ("bench.toml", "bench.json"):
        text = json.dumps(CONFIG) if name.endswith("json") else _toml(CONFIG)

        def config(rng: random.Random, name: str = name) -> None:
            command("bench", "--config", name, "--dry-run")

        files = {name: text.encode(), "table.csv": table_bytes(table, ".csv")}
        yield Target(f"bench --config {name}", files, config)


def _toml(fields: dict[str, object]) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items())
