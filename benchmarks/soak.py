"""Kill something at random every few seconds while `unchurn bench` runs; compare the tables.

    python benchmarks/soak.py [--engine ray] [--minutes 20] [--seed 0]

Runs the whole grid on digits (257 settings × 5 runs), one seed after another until the time is
over, and kills by SIGKILL: on Ray (a cluster of two nodes on this machine) a worker process, a
whole node (a new one joins) or the driver, which is started again; on this machine's cores a worker
or the driver. Then every table is made once more undisturbed, and the summary is written into
docs/scaling.md.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster
from sections import fill, machine, section

from unchurn.study.trainings.run import KILLED

COMMAND = ("bench", "digits", "--preset", "grid", "--runs", "5", "--epochs", "3")
NODE: dict[str, Any] = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 200 << 20}
PAUSE = (2, 6)  # seconds between kills
WEIGHTS = {"worker": 6, "node": 2, "driver": 1}
TABLES = ("table.csv", "table.md", "table.tex")
# Every network that is made is noted, with its process.
NETWORK = """
import os
from pathlib import Path
from unchurn.training.networks.factories import mlp

def net(shape, n_classes):
    with Path({log!r}).open("a") as file:
        file.write(f"{{os.getpid()}}\\n")
    return mlp(shape, n_classes)
"""


class Nodes:
    """A Ray cluster of two nodes of one core, and a head on which nothing runs."""

    def __init__(self) -> None:
        # By default, Ray's workers let everything else on the machine go first.
        os.environ.setdefault("RAY_worker_niceness", "0")
        self.cluster = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0})
        self.nodes = [self.cluster.add_node(**NODE) for _ in range(2)]

    def replace(self) -> None:
        """Kill a node, and have another join."""
        self.cluster.remove_node(self.nodes.pop(random.randrange(2)), allow_graceful=False)
        self.nodes.append(self.cluster.add_node(**NODE))

    def workers(self) -> list[int]:
        """Processes in which tasks run."""
        raylets = [node.all_processes["raylet"][0].process.pid for node in self.nodes]
        return [pid for raylet in raylets for pid in children(raylet, "ray::_task")]


def children(parent: int, name: str) -> list[int]:
    """Processes started by a process, whose command line holds a name."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            status = (folder / "status").read_text()
            command = (folder / "cmdline").read_text()
        except OSError:  # no process, or gone
            continue
        if f"\nPPid:\t{parent}\n" in status and name in command:
            found.append(int(folder.name))
    return found


def forked(driver: int) -> list[int]:
    """The local workers of a driver: what its processes forked, or these if they forked none."""
    name = "unchurn.core.executors.worker"
    each = [children(first, name) or [first] for first in children(driver, name)]
    return [worker for workers in each for worker in workers]


@dataclass
class Soak:
    """One engine under fire."""

    engine: str
    folder: Path
    kills: Counter[str] = field(default_factory=Counter)
    seconds: float = 0
    lost: int = 0  # finished runs that a new driver did not find
    given_up: int = 0  # runs that failed as killed, and were made by the same command again
    rounds: int = 0
    drivers: set[int] = field(default_factory=set)

    def run(self, seconds: float) -> None:
        """Run grid after grid, under fire until the time is over."""
        nodes = Nodes() if self.engine == "ray" else None
        start = time.monotonic()
        while time.monotonic() < start + seconds:
            self._round(self.rounds, start + seconds, nodes)
            self.rounds += 1
            print(f"{self.engine}: {self.rounds} grids, {dict(self.kills)}", flush=True)
        self.seconds = time.monotonic() - start
        if nodes:
            nodes.cluster.shutdown()

    def _round(self, seed: int, end: float, nodes: Nodes | None) -> None:
        """Run one grid, until all of it is there and no run failed as killed."""
        out = self.folder / f"{self.engine}-{seed}"
        fire = self.folder / f"fire-{self.engine}"
        options = ["--engine", self.engine, "--out", str(out), "--seed", str(seed)]
        if nodes:
            options += ["--ray-address", nodes.cluster.address]
        while True:
            kept = n_kept(out)
            said = self.folder / "said"
            with (
                said.open("w") as file,
                subprocess.Popen(
                    [*command(fire), *options],
                    cwd=fire,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                ) as driver,
            ):
                self.drivers.add(driver.pid)
                while driver.poll() is None and time.monotonic() < end:
                    self._kill(driver, nodes)
            found = re.search(r"(\d+) of them are in", said.read_text())
            if re.search(r"^about ", said.read_text(), re.MULTILINE):  # it got far enough to look
                self.lost += kept - (int(found[1]) if found else 0)
            if driver.returncode not in (0, -signal.SIGKILL):
                raise SystemExit(f"the driver failed:\n{said.read_text()}")
            if driver.returncode == 0:
                if not (failed := n_given_up(out)):
                    return
                self.given_up += failed

    def _kill(self, driver: subprocess.Popen[bytes], nodes: Nodes | None) -> None:
        """Wait a while, then kill something."""
        until = time.monotonic() + random.uniform(*PAUSE)
        while driver.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        kinds = WEIGHTS if nodes else {k: w for k, w in WEIGHTS.items() if k != "node"}
        kind = random.choices(list(kinds), list(kinds.values()))[0]
        if driver.poll() is not None:
            return
        if kind == "node" and nodes:
            nodes.replace()
        elif kind == "worker":
            workers = nodes.workers() if nodes else forked(driver.pid)
            if not workers:  # the driver is just starting
                return
            os.kill(random.choice(workers), signal.SIGKILL)
        else:
            driver.kill()
        self.kills[kind] += 1


def command(folder: Path) -> list[str]:
    """`unchurn bench` with a network that logs itself in this folder."""
    folder.mkdir(exist_ok=True)
    (folder / "noted.py").write_text(NETWORK.format(log=str(folder / "log")))
    return [str(Path(sys.executable).with_name("unchurn")), *COMMAND, "--model", "noted:net"]


def n_kept(out: Path) -> int:
    """Number of finished runs in a folder."""
    return len([*out.glob("runs/[0-9a-f]*")])


def n_given_up(out: Path) -> int:
    """Number of finished runs that failed as killed."""
    records = [json.loads(path.read_text())["record"] for path in out.glob("runs/*/record.json")]
    return sum((record["failure"] or "").endswith(KILLED) for record in records)


def n_networks(log: Path, drivers: set[int]) -> int:
    """Number of networks trained; those that drivers make are probes for the plan."""
    return sum(int(pid) not in drivers for pid in log.read_text().split())


@cache
def undisturbed(folder: Path, seed: int) -> int:
    """Run the same grid undisturbed; return the number of networks that it needs."""
    peace = folder / f"peace-{seed}"
    with subprocess.Popen(
        [*command(peace), "--out", "out", "--seed", str(seed)],
        cwd=peace,
        stdout=subprocess.DEVNULL,
    ) as driver:
        pass
    if driver.returncode:
        raise SystemExit(f"the undisturbed run of seed {seed} failed with {driver.returncode}")
    return n_networks(peace / "log", {driver.pid})


def same_tables(soak: Soak, seed: int) -> bool:
    """Whether the tables of a grid are those of its undisturbed run."""
    one, two = soak.folder / f"peace-{seed}/out", soak.folder / f"{soak.engine}-{seed}"
    return all((one / name).read_bytes() == (two / name).read_bytes() for name in TABLES)


def summary(soak: Soak) -> str:
    """The engine's row of the page's table."""
    needed = sum(undisturbed(soak.folder, seed) for seed in range(soak.rounds))
    same = all(same_tables(soak, seed) for seed in range(soak.rounds))
    made = n_networks(soak.folder / f"fire-{soak.engine}/log", soak.drivers)
    kills = sum(soak.kills.values())
    repeated = f"{made - needed:,} ({(made - needed) / max(kills, 1):.1f} a kill)"
    by_kind = ", ".join(f"{kind} {n}" for kind, n in soak.kills.most_common())
    return (
        f"| {soak.engine} | {soak.seconds / 60:.0f} | {soak.rounds} | {kills}: {by_kind} "
        f"| {needed:,} | {soak.lost} | {repeated} | {soak.given_up} "
        f"| {'the same bytes' if same else '**different**'} |"
    )


def main() -> None:
    """Run under fire, then undisturbed, and write the engine's row of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="ray", choices=["ray", "local"])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(options.engine, Path(folder))
        soak.run(60 * options.minutes)
        row = summary(soak)
    print(row)
    others = [line for line in section("soak").splitlines() if re.match(r"\| (ray|local) \|", line)]
    rows = sorted([row, *(line for line in others if not line.startswith(f"| {soak.engine} |"))])
    fill("soak", TEMPLATE.format(machine=machine(), rows="\n".join(rows), pause=PAUSE))


TEMPLATE = """
`python benchmarks/soak.py` on {machine}: the whole grid on
digits (257 settings × 5 runs of 3 epochs), one seed after another; every {pause[0]} to {pause[1]}
seconds something is killed at random. *Networks* are those that the grids need. *Lost* are finished
runs that a driver started anew did not find; *repeated* are networks that were begun once more
because what trained them was killed; *given up* are runs that were killed so often that they failed
for the time being, and were made when the same command was given again.

| engine | minutes | grids | kills | networks | lost | repeated | given up | tables |
| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | --- |
{rows}
"""


if __name__ == "__main__":
    main()
