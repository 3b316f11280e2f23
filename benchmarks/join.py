"""Our own hash table against Polars' join, on ids that cannot index an array.

Both find the row of each id in a shuffled copy; they take turns at beginning a round. Shown are
medians over rounds of seconds, with the least and the most, and of processor seconds. Both must
find the same rows.

Usage: python benchmarks/join.py [rows [rounds]], ten million and fifteen unless given
"""

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from unchurn.comparison.inputs.ids.lookup import _by_hash, _by_join
from unchurn.core.arrays import IntArray

WAYS: dict[str, Callable[[pl.Series, pl.Series], IntArray | None]] = {
    "hash table": _by_hash,
    "Polars' join": _by_join,
}


def time_ways(
    ids: pl.Series, among: pl.Series, rounds: int
) -> dict[str, list[tuple[float, float]]]:
    """Seconds and processor seconds of every round."""
    names = list(WAYS)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        rows = []
        for name in (*names[first:], *names[:first]):
            start, used = time.perf_counter(), time.process_time()
            rows.append(WAYS[name](ids, among))
            times[name].append((time.perf_counter() - start, time.process_time() - used))
        np.testing.assert_array_equal(rows[0], rows[1])
    return times


def _far_apart(rng: np.random.Generator, n: int) -> pl.Series:
    """Distinct random numbers of up to 62 bits."""
    drawn = pl.Series(rng.integers(0, 2**62, n + n // 100)).unique(maintain_order=True)
    return drawn.head(n)


def main() -> None:
    """Time both on whole numbers that lie far apart, and on text."""
    n, rounds, *_ = [*(int(a) for a in sys.argv[1:]), *(10_000_000, 15)[len(sys.argv) - 1 :]]
    rng = np.random.default_rng(0)
    numbers = pl.int_range(n, eager=True)
    kinds = {
        "numbers far apart": _far_apart(rng, n),
        "text": numbers.cast(pl.String).str.zfill(12),
    }
    for kind, ids in kinds.items():
        times = time_ways(ids, ids.gather(rng.permutation(n)), rounds)
        medians = {}
        for name, both in times.items():
            seconds, processor = zip(*both, strict=True)
            medians[name] = statistics.median(seconds)
            print(
                f"{n:,} {kind}, {name}: {medians[name]:.2f} s ({min(seconds):.2f} to "
                f"{max(seconds):.2f}), processor {statistics.median(processor):.2f} s",
                flush=True,
            )
        table, join = medians.values()
        print(f"  the table is {join / table:.2f} times as fast", flush=True)


if __name__ == "__main__":
    main()
