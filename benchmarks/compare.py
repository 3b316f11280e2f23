"""`unchurn.compare` on two Parquet files against the script that one writes with pandas.

All read the same files, each in a process of its own; they take turns at beginning a round. Shown
are medians over rounds: the call's seconds (without imports) with the least and the most, processor
seconds, and the peak memory of the whole process. A ratio is no finer than the spread beside it.
All must find the same numbers. "pandas" finds churn, accuracies, bad and good flips with Wilson's
intervals, the mean change of a probability and a table by slice; "pandas, all" finds what compare
reports beyond that, too: that ids are distinct, Jensen–Shannon divergence, flips by class, and
churn and accuracies at 19 thresholds.

Usage: python benchmarks/compare.py [rows [rounds]], ten million and five unless given; only ten
million rows go to docs/benchmarks.md
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from page import keep

ROWS, GOAL = 10_000_000, 10
N_SLICES = 20
Numbers = dict[str, float]


@dataclass(frozen=True)
class Variant:
    """One kind of files, and who reads them."""

    name: str
    n: int
    shuffled: bool = True
    text_ids: bool = False
    peers: tuple[str, ...] = ("pandas",)


def write(variant: Variant, folder: Path) -> None:
    """Write two models' predictions of two classes, wrong on a few per cent and slightly apart."""
    rng, n = np.random.default_rng(0), variant.n
    truth = (rng.random(n) < 0.3).astype(np.int64)
    before = np.clip(np.where(truth == 1, 0.8, 0.2) + 0.2 * rng.normal(size=n), 0, 1)
    after = np.clip(before + 0.03 * rng.normal(size=n), 0, 1)
    numbers = pl.int_range(n, eager=True)
    ids = numbers.cast(pl.String).str.zfill(12) if variant.text_ids else numbers
    countries = pl.Series([f"country {i:02}" for i in range(N_SLICES)])
    country = countries.gather(rng.integers(0, N_SLICES, n))
    order = rng.permutation(n) if variant.shuffled else slice(None)
    for name, p in (("base", before), ("candidate", after)):
        table = pl.DataFrame(
            {
                "id": ids, "prediction": (p >= 0.5).astype(np.int64), "label": truth,
                "p_0": 1 - p, "p_1": p, "country": country,
            }
        )  # fmt: skip
        (table[order] if name == "candidate" else table).write_parquet(folder / f"{name}.parquet")


def ours(base: str, candidate: str) -> Numbers:
    """The numbers of one call of `compare`."""
    from unchurn.comparison.compare import compare

    found = compare(base, candidate, slices=["country"]).to_dict()
    numbers = {"mean_absolute": found["movement"]["mean_absolute"]}
    for name in ("churn", "accuracy_base", "accuracy_candidate", "bad_flips", "good_flips"):
        numbers |= {f"{name} {end}": found[name][end] for end in ("value", "low", "high")}
    for one in found["slices"]:
        numbers[f"churn of {one['value']}"] = one["churn"]["value"]
        numbers[f"bad flips of {one['value']}"] = one["bad_flips"]["value"]
        numbers[f"difference of {one['value']}"] = one["accuracy_difference"]["value"]
    numbers["jensen_shannon"] = found["movement"]["jensen_shannon"]
    numbers |= {f"flips from {c['class']}": c["flips_from"] for c in found["classes"]}
    for row in found["thresholds"]:
        numbers |= {f"{k} at {row['threshold']}": v for k, v in row.items() if k != "threshold"}
    return numbers


def pandas_script(base: str, candidate: str) -> tuple[Any, Numbers]:
    """What one writes with pandas: the rows of both, and the numbers."""
    import pandas as pd
    from scipy.stats import binomtest

    both = pd.read_parquet(base).merge(
        pd.read_parquet(candidate), on="id", suffixes=("", "_candidate")
    )
    both["flip"] = both["prediction"] != both["prediction_candidate"]
    both["right"] = both["prediction"] == both["label"]
    both["right_candidate"] = both["prediction_candidate"] == both["label"]
    both["bad"] = both["right"] & ~both["right_candidate"]
    both["good"] = both["right_candidate"] & ~both["right"]
    numbers: Numbers = {}
    for name, column in (
        ("churn", "flip"), ("accuracy_base", "right"), ("accuracy_candidate", "right_candidate"),
        ("bad_flips", "bad"), ("good_flips", "good"),
    ):  # fmt: skip
        test = binomtest(int(both[column].sum()), len(both))
        low, high = test.proportion_ci(method="wilson")
        numbers |= {f"{name} value": test.statistic, f"{name} low": low, f"{name} high": high}
    slices = both.groupby("country").agg(
        churn=("flip", "mean"), bad=("bad", "mean"), good=("good", "mean")
    )
    for country, row in slices.iterrows():
        numbers[f"churn of {country}"] = row["churn"]
        numbers[f"bad flips of {country}"] = row["bad"]
        numbers[f"difference of {country}"] = row["good"] - row["bad"]
    moved = [(both[f"p_{c}"] - both[f"p_{c}_candidate"]).abs().mean() for c in (0, 1)]
    numbers["mean_absolute"] = sum(moved) / 2
    return both, numbers


def pandas_all(base: str, candidate: str) -> Numbers:
    """The same, and the rest of what compare reports."""
    from scipy.special import rel_entr

    both, numbers = pandas_script(base, candidate)
    if both["id"].duplicated().any():
        raise ValueError("ids are there twice")
    divergence = 0.0
    for c in (0, 1):
        p, q = both[f"p_{c}"], both[f"p_{c}_candidate"]
        middle = (p + q) / 2
        divergence += (rel_entr(p, middle).mean() + rel_entr(q, middle).mean()) / 2
    numbers["jensen_shannon"] = divergence / np.log(2)
    flips = both[both["flip"]].groupby("prediction").size()
    numbers |= {f"flips from {c}": int(n) for c, n in flips.items()}
    for threshold in (round(0.05 * i, 2) for i in range(1, 20)):
        one, two = both["p_1"] >= threshold, both["p_1_candidate"] >= threshold
        numbers[f"churn at {threshold}"] = (one != two).mean()
        numbers[f"accuracy_base at {threshold}"] = (one == both["label"]).mean()
        numbers[f"accuracy_candidate at {threshold}"] = (two == both["label"]).mean()
    return numbers


def reading_alone(base: str, candidate: str) -> Numbers:
    """Read both files into memory, and do nothing else: no reader can be faster."""
    for path in (base, candidate):
        pl.read_parquet(path)
    return {}


READERS: dict[str, Callable[[str, str], Numbers]] = {
    "unchurn": ours,
    "pandas": lambda base, candidate: pandas_script(base, candidate)[1],
    "pandas, all": pandas_all,
    "reading alone": reading_alone,
}


def measure(reader: str, base: str, candidate: str) -> None:
    """In a process of its own: one call's time, memory and numbers, as JSON."""
    import scipy.stats  # noqa: F401

    if reader == "unchurn":
        import unchurn.comparison.compare  # noqa: F401
    elif reader != "reading alone":
        import pandas  # noqa: F401
        import pyarrow.parquet  # noqa: F401
    start, used = time.perf_counter(), time.process_time()
    numbers = READERS[reader](base, candidate)
    found = {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - used,
        "GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "numbers": {name: float(value) for name, value in numbers.items()},
    }
    print(json.dumps(found))


def compare_readers(variant: Variant, rounds: int) -> dict[str, Any]:
    """The time and memory of each reader; all must find the same numbers."""
    readers = ("unchurn", *variant.peers)
    rows: dict[str, list[dict[str, Any]]] = {reader: [] for reader in readers}
    with tempfile.TemporaryDirectory() as folder:
        settings = json.dumps(vars(variant))
        subprocess.run([sys.executable, __file__, "--write", settings, folder], check=True)
        files = [f"{folder}/{name}.parquet" for name in ("base", "candidate")]
        for number in range(rounds):
            first = number % len(readers)
            for reader in (*readers[first:], *readers[:first]):
                command = [sys.executable, __file__, "--measure", reader, *files]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                rows[reader].append(json.loads(done.stdout))
    for reader in variant.peers:
        theirs = rows[reader][0]["numbers"]
        same = {name: rows["unchurn"][0]["numbers"][name] for name in theirs}
        np.testing.assert_allclose(list(same.values()), list(theirs.values()), rtol=1e-9)
    found = {reader: _summary(rows[reader]) for reader in readers}
    return {
        "key": f"compare {variant.name}", "files": variant.name, "rounds": rounds, "goal": GOAL,
        "readers": found,
    }  # fmt: skip


def _summary(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Medians over rounds, and the spread of the seconds."""
    seconds = [row["seconds"] for row in rows]
    medians = {key: statistics.median(row[key] for row in rows) for key in ("processor", "GiB")}
    spread = {"least": min(seconds), "most": max(seconds)}
    return {"seconds": statistics.median(seconds), **spread, **medians}


def main() -> None:
    """Time every variant; or, in a process started for it, write files or measure a reader."""
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:])
        return
    if sys.argv[1:2] == ["--write"]:  # not in the parent, whose peak memory its children inherit
        write(Variant(**json.loads(sys.argv[2])), Path(sys.argv[3]))
        return
    n, rounds, *_ = [*(int(a) for a in sys.argv[1:]), *(ROWS, 5)[len(sys.argv) - 1 :]]
    for variant in (
        Variant(f"{n:,} rows, shuffled", n, peers=("pandas", "pandas, all", "reading alone")),
        Variant(f"{n:,} rows, in order", n, shuffled=False),
        Variant(f"{n:,} rows, text ids, shuffled", n, text_ids=True),
        Variant(f"{n // 10:,} rows, shuffled", n // 10, peers=("pandas", "pandas, all")),
    ):
        line = compare_readers(variant, rounds)
        if n == ROWS:
            keep(line)
        else:
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
