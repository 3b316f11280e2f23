"""What the Ray executor costs, gains and loses on this machine, and what large data would take.

    python benchmarks/scaling.py [--rounds 3]

Measures the Ray executor beside the local one for short and long trainings, its wall time on one
and two workers, the time lost per injected failure, and the k-NN search that the plan on paper is
computed from; writes all of it into docs/scaling.md.
"""

import argparse
import multiprocessing
import os
import pickle
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sections import fill, machine

from unchurn import KNNLabels, load
from unchurn.core.executors import Executor, make_executor
from unchurn.core.executors.local import Local
from unchurn.core.executors.ray import Ray
from unchurn.neighbors.sharded import ROWS
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.parts import make_parts
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import make_setting
from unchurn.study.trainings.run import carry_out
from unchurn.study.trainings.store import Store
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.config import Training

SHORT, LONG = (200, 1), (8, 100)  # trainings, and epochs of each
# The plan: so many nodes of so many cores like ours, and the network between them.
NODES, CORES, GIGABYTES_PER_SECOND = 16, 32, 1.25
OnProgress = Callable[[int, int, Any], None]


def sweep(trainings: int, epochs: int, seed: int) -> Experiment:
    """An experiment: so many plain retrainings on digits."""
    data = load("digits")
    return Experiment(
        data=data,
        parts=make_parts(data),
        settings=(make_setting("control"),),
        learner=TorchLearner("mlp", Training(epochs)),
        runs=trainings,
        seed=seed,
    )


def seconds(
    experiment: Experiment, executor: Executor, on_progress: OnProgress = lambda *_: None
) -> tuple[float, float]:
    """Wall time of a sweep, and the mean time of its trainings."""
    with tempfile.TemporaryDirectory() as folder:
        each = []

        def note(done: int, total: int, last: Any) -> None:
            if last is not None:
                each.append(last[1].record["seconds"])
            on_progress(done, total, last)

        start = time.perf_counter()
        carry_out(make_schedule(experiment), Store(Path(folder)), executor, note)
        return time.perf_counter() - start, statistics.mean(each)


def overhead(rounds: int) -> str:
    """Ray beside local, in alternating rounds on warm workers."""
    rows = []
    start = time.perf_counter()
    with make_executor("ray", 2) as ray:
        starting = time.perf_counter() - start
        executors = {"local": Local(2), "ray": ray}
        for executor in executors.values():
            seconds(sweep(8, 1, 99), executor)
        for name, (trainings, epochs) in {"short": SHORT, "long": LONG}.items():
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in executors}
            for seed in range(rounds):
                for which, executor in executors.items():
                    found[which].append(seconds(sweep(trainings, epochs, seed), executor))
            own = {e: statistics.median(each for _, each in found[e]) for e in executors}
            around = {
                e: statistics.median(2 * wall / trainings - each for wall, each in found[e])
                for e in executors
            }
            rows.append(
                f"| {trainings} {name} | {own['local']:.2g} | {own['ray']:.2g} "
                f"| {1000 * around['local']:.0f} | {1000 * around['ray']:.0f} |"
            )
    return (
        f"Starting Ray on this machine and asking for its versions took {starting:.1f} s. On two\n"
        "workers, what a training takes itself, and what comes around it: to send it, to have its\n"
        "result back and to keep it, and idle workers in the end.\n\n"
        "| trainings | each, local, s | each, Ray, s | around, local, ms | around, Ray, ms |\n"
        "| --- | ---: | ---: | ---: | ---: |\n" + "\n".join(rows)
    )


def workers(rounds: int) -> str:
    """Wall time on one and two workers."""
    rows = []
    for count in (1, 2):
        with make_executor("ray", count) as ray:
            seconds(sweep(4, 1, 99), ray)
            walls = [seconds(sweep(*LONG, seed), ray)[0] for seed in range(rounds)]
        rows.append((count, statistics.median(walls)))
    lines = [f"| {count} | {wall:.2f} | {rows[0][1] / wall:.2f} |" for count, wall in rows]
    return "| workers | s | faster |\n| ---: | ---: | ---: |\n" + "\n".join(lines)


def failures(rounds: int) -> str:
    """Seconds lost to one failure in the middle of a sweep, on a cluster of two nodes."""
    from soak import NODE, Nodes

    nodes = Nodes()
    walls: dict[str, list[float]] = {"nothing": [], "a worker process": [], "a node": []}
    with Ray(nodes.cluster.address) as executor:
        seconds(sweep(4, 1, 99), executor)
        for seed in range(rounds):
            for kind, found in walls.items():

                def disturb(done: int, total: int, last: Any, kind: str = kind) -> None:
                    if last is None or done != total // 2:
                        return
                    if kind == "a worker process":
                        os.kill(random.choice(nodes.workers()), signal.SIGKILL)
                    elif kind == "a node":
                        nodes.cluster.remove_node(nodes.nodes.pop(), allow_graceful=False)
                        nodes.nodes.append(nodes.cluster.add_node(**NODE, wait=False))

                found.append(seconds(sweep(*LONG, seed), executor, disturb)[0])
    base = statistics.median(walls.pop("nothing"))
    lost = {kind: [wall - base for wall in found] for kind, found in walls.items()}
    lost["the driver, started again"] = [
        driver(nodes.cluster.address, True) - driver(nodes.cluster.address, False)
        for _ in range(rounds)
    ]
    nodes.cluster.shutdown()
    lines = [f"| {kind} | {statistics.median(times):.1f} |" for kind, times in lost.items()]
    return "| killed | seconds lost |\n| --- | ---: |\n" + "\n".join(lines)


def driver(address: str, is_killed: bool) -> float:
    """Seconds that `unchurn bench` takes in all; killed halfway and started again if asked."""
    trainings, epochs = LONG
    with tempfile.TemporaryDirectory() as folder:
        command = [
            str(Path(sys.executable).with_name("unchurn")), "bench", "digits",
            "--methods", "control", "--runs", str(trainings), "--epochs", str(epochs),
            "--engine", "ray", "--ray-address", address, "--out", folder,
        ]  # fmt: skip
        start = time.perf_counter()
        if is_killed:
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
                while len([*Path(folder).glob("runs/[0-9a-f]*")]) < trainings // 2:
                    time.sleep(0.02)
                process.kill()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start


def search(n: int, d: int, queries: int) -> dict[str, float]:
    """One core's time for some queries among n points, and what the index takes, in bytes a row.

    The peak counts the data too.
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rng = np.random.default_rng(0)
    labels = rng.integers(0, min(d, 100), n)
    centres = 2 * rng.standard_normal((100, d), np.float32)
    points = rng.standard_normal((n, d), np.float32)
    for row, label in enumerate(labels):  # in place: the peak is to be the index's
        points[row] += centres[label]
    start = time.process_time()
    index = KNNLabels(10, workers=1).fit(points, labels)
    fitting = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    order = index.search_order()
    index.answer_some(order[:100])  # compiles
    start = time.process_time()
    index.answer_some(order[n // 2 : n // 2 + queries])
    return {
        "n": n,
        "query": (time.process_time() - start) / queries,
        "fit": fitting / n,
        "index": len(pickle.dumps(index, 5)) / n,
        "peak": 1024 * peak / n,
    }


def plan() -> str:
    """The k-NN labels of large data on a cluster, from searches on one core of ours."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as pool:
        wide = pool.submit(search, 60_000, 1000, 1024).result()
        grown = [pool.submit(search, n, 10, ROWS).result() for n in (10**5, 3 * 10**5, 10**6)]
    logs = np.log([[line["n"], line["query"]] for line in grown])
    slope = float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
    last = grown[-1]
    cases = [
        ("1.28 million × 1000", 1_280_000, 1000, wide, wide["query"] / wide["n"] * 1_280_000),
        ("a billion × 10", 10**9, 10, last, last["query"] * (10**9 / last["n"]) ** slope),
    ]
    lines = []
    for name, n, classes, line, query in cases:
        core_hours = query * n / 3600
        index, answer = line["index"] * n / 1e9, 4 * n * classes / 1e9
        lines.append(
            f"| {name} | {1e3 * query:,.1f} | {core_hours:,.0f} "
            f"| {60 * core_hours / NODES / CORES:,.1f} | {line['fit'] * n / 60:,.1f} "
            f"| {index / GIGABYTES_PER_SECOND / 60:,.1f} | {index:,.0f} "
            f"| {line['peak'] * n / 1e9:,.0f} | {answer:,.0f} |"
        )
    measured = "; ".join(f"{line['n']:,} rows {1e6 * line['query']:.0f} µs" for line in grown)
    return f"""Measured on one core, k = 10. 1000 dimensions (matrix products, time ∝ rows):
{1e6 * wide["query"]:,.0f} µs a query among {wide["n"]:,} rows. 10 dimensions (kd-tree):
{measured}, which grows as
rows^{slope:.2f}; the billion is extrapolated by that power from a thousandth of its
rows, and so no more than an order of magnitude. The cluster: {NODES} nodes of {CORES} such cores,
{GIGABYTES_PER_SECOND} GB/s to each.

| logits | ms a query | core-hours | min on the cluster | min to make the index, on one core \
| min to send it to a node | index on each node, GB | peak where it is made, GB \
| answer at the driver, GB per k |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
""" + "\n".join(lines)


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    load = os.getloadavg()[0]
    # By default, Ray's workers let everything else on the machine go first.
    os.environ.setdefault("RAY_worker_niceness", "0")
    sections = {
        "Overhead": overhead(rounds),
        "One worker and two": workers(rounds),
        "What a failure costs": failures(rounds),
        "Large data, on paper": plan(),
    }
    text = (
        f"`python benchmarks/scaling.py` on {machine()}, medians of {rounds} rounds.\n"
        f"Other work on the machine meanwhile: a load of {load:.0f} before it began.\n"
    )
    for title, section in sections.items():
        text += f"\n### {title}\n\n{section}\n"
    print(text)
    fill("scaling", text)


if __name__ == "__main__":
    main()
