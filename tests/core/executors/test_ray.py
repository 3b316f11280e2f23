"""A Ray cluster gives the bytes that this machine's cores give, whatever dies meanwhile."""

import ipaddress
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from unchurn import Dataset, bench, knn_labels, load
from unchurn.core.errors import InputError
from unchurn.core.executors import Call
from unchurn.core.executors.local import Local
from unchurn.methods import Method
from unchurn.neighbors.sharded import sharded_knn_labels
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.parts import make_parts
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import Setting, make_setting
from unchurn.study.results.collect import collect
from unchurn.study.trainings.run import KILLED, carry_out
from unchurn.study.trainings.store import Store
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.config import Training
from unchurn.training.networks.factories import mlp

pytest.importorskip("ray", reason="Ray is not installed: pip install 'unchurn[ray]'")

import ray
from ray.cluster_utils import Cluster

from unchurn.core.executors.ray import Ray, _Flight, _take_back

# Ray's own files and processes are not ours to close.
pytestmark = [
    pytest.mark.xdist_group("ray"),  # one cluster, not one for each process of pytest's
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

NODE = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 80 << 20}
SETTINGS = [
    make_setting("control"),
    make_setting("knn_ls", k=5, a=0.5, b=0.5),
    make_setting("knn_ls", k=9, a=0.9, b=0.1),
    make_setting("anchor"),
    make_setting("ensemble", m=3),
]
METHODS = ["control", "l2_reg", "anchor"]


@pytest.fixture(scope="module")
def cluster():
    """A head on which nothing runs and two nodes of one core."""
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0})
    for _ in range(2):
        cluster.add_node(**NODE)
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def session(cluster):
    """A connection that tests share, and so its worker processes: each takes long to start."""
    ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
    yield cluster
    ray.shutdown()


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    """The networks and methods below are files of this folder: they are sent to the nodes."""
    monkeypatch.chdir(Path(__file__).parent)


@dataclass
class Logged:
    """The MLP; the process of every one that is made is noted in a file. `wait` lets it be slow."""

    path: str
    wait: float = 0

    def __call__(self, shape, n_classes):
        with Path(self.path).open("a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(self.wait)
        return mlp(shape, n_classes)


def toy(path, settings=SETTINGS, wait=0.0):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    x = (rng.normal(size=(120, 4)) + 1.5 * np.eye(3, 4)[y]).astype(np.float32)
    data = Dataset("toy", x[:60], y[:60], x[60:], y[60:], ("a", "b", "c"))
    training = Training(epochs=2, batch_size=32)
    learner = TorchLearner(Logged(str(path), wait), training)
    return Experiment(
        data=data, parts=make_parts(data), settings=tuple(settings), learner=learner, runs=3
    )


def pids(path):
    return [int(line) for line in Path(path).read_text().split()]


def stored(experiment, folder):
    """The bytes of every array that was kept, by job."""
    store = Store(folder)
    found = {}
    for job in make_schedule(experiment).jobs.values():
        run = store.get(experiment.identity(job))
        assert run.record["failure"] is None
        found[str(job)] = {name: array.tobytes() for name, array in run.arrays.items()}
    return found


def on_this_machine(experiment, folder):
    carry_out(make_schedule(experiment), Store(folder), Local(1))
    return stored(experiment, folder)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:1", "no Ray cluster to work with at 127.0.0.1:1: .*refused"),
        ("ray://127.0.0.1:1", "no Ray cluster to work with at ray://127.0.0.1:1: .*refused"),
        ("there", "no Ray cluster to work with at there: Invalid address format: there"),
    ],
)
def test_no_cluster_is_one_line(address, message):
    with pytest.raises(InputError, match=message), Ray(address):
        pass


def _listening(driver):
    """The addresses on which a process and all that it started listen, by /proc."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rpartition(")")[2].split()[1]
            )
        except OSError:  # it is gone
            continue
    family = {driver}
    while more := {p for p, parent in parents.items() if parent in family} - family:
        family |= more
    sockets = set()
    for process in family:
        try:
            sockets |= {str(f.readlink()) for f in Path(f"/proc/{process}/fd").iterdir()}
        except OSError:
            continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and f"socket:[{cells[9]}]" in sockets:  # in the state LISTEN
                raw = bytes.fromhex(cells[1].partition(":")[0])
                words = [raw[i : i + 4][::-1] for i in range(0, len(raw), 4)]
                found.add(ipaddress.ip_address(b"".join(words)))
    return found


OWN_CLUSTER = """
import os, ray, sys
from collections import deque
from unchurn.core.executors import Call
from unchurn.core.executors.ray import Ray

with Ray(workers=1) as executor:
    print(list(executor.execute(deque([Call("key", len, ("four",))]), lambda: None)), flush=True)
    sys.stdin.read()
"""


def test_a_cluster_of_its_own_listens_on_the_loopback_interface_alone():
    """Ports of Ray's give whoever reaches them the user's rights."""
    with subprocess.Popen(
        [sys.executable, "-c", OWN_CLUSTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"},
    ) as driver:
        assert driver.stdout.readline() == b"[('key', 4)]\n"
        found = _listening(driver.pid)
        driver.stdin.close()
    assert driver.returncode == 0
    assert len(found) > 1  # mapped IPv4 and plain
    mapped = {getattr(address, "ipv4_mapped", None) or address for address in found}
    assert mapped == {ipaddress.ip_address("127.0.0.1")}


def test_the_same_bytes_as_here_and_every_training_once(cluster, tmp_path):
    log = tmp_path / "log"
    experiment = toy(log)
    with Ray(cluster.address) as executor:
        carry_out(make_schedule(experiment), Store(tmp_path / "ray"), executor)
        assert len(pids(log)) == len(make_schedule(experiment).jobs)
        carry_out(make_schedule(experiment), Store(tmp_path / "ray"), executor)
        assert len(pids(log)) == len(make_schedule(experiment).jobs)  # all is kept
    assert not ray.is_initialized()
    assert os.getpid() not in pids(log)
    assert stored(experiment, tmp_path / "ray") == on_this_machine(experiment, tmp_path / "here")


def test_out_of_memory_is_a_failed_run(tmp_path, monkeypatch):
    """Ray kills tasks when its node has no memory left: here it thinks that it never has."""
    short = {"memory_usage_threshold": 0.01, "memory_monitor_refresh_ms": 50}
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "_system_config": short})
    experiment = toy(tmp_path / "log", [make_setting("control")], wait=5)
    store = Store(tmp_path / "ray")
    executor = Ray(cluster.address)
    monkeypatch.setattr("unchurn.core.executors.ray._same_versions", dict)  # it would be killed too
    monkeypatch.setattr("unchurn.core.executors.ray._check", lambda *versions: None)
    with executor:
        result = collect(carry_out(make_schedule(experiment), store, executor))
    cluster.shutdown()
    assert result.settings[0].failures == tuple(f"run {run}: {KILLED}" for run in range(3))


def test_the_driver_is_killed_interrupted_and_started_again(cluster, tmp_path):
    unchurn = Path(sys.executable).with_name("unchurn")
    command = [unchurn, "bench", "digits", "--preset", "grid", "--methods", ",".join(METHODS),
               "--runs", "3", "--epochs", "2", "--engine", "ray", "--ray-address", cluster.address,
               "--out", tmp_path / "ray"]  # fmt: skip
    runs = tmp_path / "ray/runs"
    kept = 0
    for goal, stop in ((4, signal.SIGKILL), (12, signal.SIGINT)):
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            while not runs.exists() or len(list(runs.iterdir())) < goal:
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(stop)
            out, err = process.communicate()
        assert f"{kept} of them are in" in out or not kept
        kept = sum(not run.name.startswith(".") for run in runs.iterdir())
    assert process.returncode == 130
    assert err.endswith("unchurn: interrupted\n")  # Ray may tell of a task that ends with us before
    assert "the same command goes on" in out
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert f"{kept} of them are in" in done.stdout
    assert done.stderr == ""
    here = bench(load("digits"), METHODS, preset="grid", runs=3, epochs=2, workers=1)
    for form, name in (("csv", "table.csv"), ("markdown", "table.md"), ("latex", "table.tex")):
        assert (tmp_path / "ray" / name).read_text() == here.table(form)


def test_a_worker_is_killed_and_a_node_removed_in_the_middle(session, tmp_path):
    log = tmp_path / "log"
    experiment = toy(log, wait=0.1)
    jobs = len(make_schedule(experiment).jobs)
    doomed = session.add_node(**NODE)

    def disturb(done, total, last):
        if done in (2, 8):
            time.sleep(0.05)
            os.kill(pids(log)[-1], signal.SIGKILL)
        if done == 5:
            session.remove_node(doomed, allow_graceful=False)

    with Ray(session.address) as executor:
        carry_out(make_schedule(experiment), Store(tmp_path / "ray"), executor, disturb)
    # Each kill repeats what its process was at; the node, what it was at or had not yet given away.
    assert jobs < len(pids(log)) <= jobs + 2 + 2
    assert stored(experiment, tmp_path / "ray") == on_this_machine(experiment, tmp_path / "here")


@dataclass
class Greedy(Method):
    """Has its process killed in run 1, as the system's OOM killer would."""

    path: str = ""

    def batch(self, batch, rng):
        if rng.bit_generator.seed_seq.spawn_key[0] == 1:
            with Path(self.path).open("a") as file:
                file.write(f"{os.environ['OMP_NUM_THREADS']}\n")
            os.kill(os.getpid(), signal.SIGKILL)
        return batch


def test_what_is_killed_again_and_again_is_a_failed_run(session, tmp_path, monkeypatch):
    monkeypatch.setattr("unchurn.core.executors.ray.RETRIES", 1)
    large = session.add_node(**{**NODE, "num_cpus": 2})
    greedy = Setting("greedy", Greedy(str(tmp_path / "tries")))
    experiment = toy(tmp_path / "log", [make_setting("control"), greedy])
    store = Store(tmp_path / "ray")
    with Ray(session.address) as executor:
        trainings = carry_out(make_schedule(experiment), store, executor)
    control, greedy = collect(trainings).settings
    assert control.failures == ()
    assert greedy.failures == (f"run 1: {KILLED}",)
    # Ray tries twice on one core, then on two, which is all that the largest node has.
    assert sorted(pids(tmp_path / "tries")) == [1, 1, 2, 2]
    session.remove_node(large)


def test_a_node_with_other_versions_is_refused_at_the_start(session, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "from unchurn.core import version\nversion.__version__ = '0.0.9'\n"
    )
    places = filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")])
    old = session.add_node(**NODE, env_vars={"PYTHONPATH": os.pathsep.join(places)})
    message = r"Ray node [\d.]+ \(\w{8}\) has unchurn 0.0.9, here it is .*: install the same"
    with pytest.raises(InputError, match=message), Ray(session.address):
        pass
    session.remove_node(old)


def test_an_error_of_the_call_is_raised_as_it_is(session, tmp_path):
    def broken(shape, n_classes):
        raise InputError("no net today")

    experiment = toy(tmp_path / "log", [make_setting("control")])
    object.__setattr__(experiment.learner, "model", broken)
    with Ray() as executor, pytest.raises(InputError, match=r"^no net today$"):
        carry_out(make_schedule(experiment), Store(tmp_path / "ray"), executor)
    assert ray.is_initialized()  # the session was here before, and stays


@pytest.mark.parametrize("values", [None, 5])
def test_knn_labels_in_shards(session, values):
    """Read-only arrays of the object store, ties and duplicates, k = n."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 3)) if values is None else rng.integers(0, values, (1500, 3))
    y = rng.integers(0, 4, 1500)
    with Ray() as executor:
        found = sharded_knn_labels(x, y, [1, 10, 1500], on=executor, rows=400)
    for ours, expected in zip(found, knn_labels(x, y, [1, 10, 1500]), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_a_task_for_more_cores_than_are_left_gets_those_that_are(session):
    """The largest node is lost while a task waits for all of its cores."""
    again = _Flight(Call("key", str, (5,)), cores=2, is_retry=True)
    with Ray() as executor:
        flying = {executor._start(again): again}
        assert ray.wait(list(flying), timeout=0.5)[0] == []
        (back,) = _take_back(flying)
        assert flying == {}
        assert ray.get(executor._start(back)) == "5"
