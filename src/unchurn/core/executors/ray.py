"""`Ray`: run calls on a Ray cluster; each is a task on one core, data reach each node once.

Ray itself schedules, restarts tasks whose process or node died, and restores lost objects. This
module decides how many tasks are submitted and what happens to those that die repeatedly, and
checks that all nodes have the same versions.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import platform
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Self

from unchurn.core.errors import InputError
from unchurn.core.executors.base import Call
from unchurn.core.version import __version__

# Read when Ray is loaded. Ray would report every death of a worker; unchurn reports what matters.
os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".*")
# Ray would retry a task that is out of memory for ever, with as many others beside it.
os.environ.setdefault("RAY_task_oom_retries", "0")

import ray
from ray import exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

Versions = dict[str, str]
RETRIES = 3  # by Ray itself, of a task whose process or node died
# Tasks under way for each core: one runs, one waits in its place.
AHEAD = 2
PATIENCE = 30  # seconds without any result, after which tasks that fit no node are taken back
# Errors for the death of a task or the loss of its result; other errors are the call's own.
DEATHS = (
    exceptions.WorkerCrashedError,
    exceptions.OutOfMemoryError,
    exceptions.NodeDiedError,
    exceptions.ObjectLostError,
)


class Ray:
    """The executor of the cluster at an address, or of a new one on this machine's cores.

    `workers` is the number of tasks at a time; by default one per core of the cluster.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self.address = address or os.environ.get("RAY_ADDRESS") or "local"
        self.workers = workers

    def __enter__(self) -> Self:
        self._is_guest = ray.is_initialized()
        if not self._is_guest:
            _connect(self.address, self.workers)
        try:
            self._versions = _same_versions()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if not self._is_guest:
            ray.shutdown()

    def share(self, value: Any) -> Any:
        """Put a value into the object store, from which each node fetches it once."""
        _send_own_files()
        return ray.put(value)

    def execute(self, calls: deque[Call], killed: Callable[[], Any]) -> Iterator[tuple[Any, Any]]:
        """Make calls while there is room; killed ones again, last, on more and more cores.

        On twice the cores a task has fewer others beside it, and so more of its node's memory. If
        it is killed again on all cores of the largest node, its result is that of `killed`.
        """
        flying: dict[Any, _Flight] = {}
        again: deque[_Flight] = deque()
        try:
            while calls or again or flying:
                room = self.workers or AHEAD * max(1, sum(map(_cpus, _nodes())))
                while len(flying) < room and (calls or again):
                    flight = _Flight(calls.popleft()) if calls else again.popleft()
                    flying[self._start(flight)] = flight
                ready, _ = ray.wait(list(flying), num_returns=1, timeout=PATIENCE)
                if not ready:
                    again.extend(_take_back(flying))
                for finished in ready:
                    flight = flying.pop(finished)
                    key = flight.call.key
                    try:
                        result = ray.get(finished)
                    except DEATHS:
                        largest = _largest()
                        if flight.is_retry and flight.cores >= largest:
                            yield key, killed()
                        else:
                            cores = min(2 * flight.cores, largest)
                            again.append(_Flight(flight.call, cores, is_retry=True))
                    except exceptions.RayTaskError as error:
                        raise error.cause from error
                    except exceptions.RayError as error:
                        reason = str(error).strip().partition("\n")[0]
                        raise InputError(
                            f"the Ray cluster failed, the same command goes on: {reason}"
                        ) from error
                    else:
                        yield key, flight.result if flight.call.stays else result
        finally:
            if self._is_guest:  # otherwise tasks end with the connection, more safely
                for reference in flying:
                    ray.cancel(reference)

    def _start(self, flight: _Flight) -> Any:
        """Submit a task; return the reference to wait for."""
        call = flight.call
        task = _task.options(
            num_cpus=flight.cores,
            num_gpus=call.gpus,
            max_retries=RETRIES,
            num_returns=2 if call.stays else 1,
        )
        started = task.remote(self._versions, call.stays, call.function, *call.arguments)
        if call.stays:
            started, flight.result = started
        return started


@dataclass
class _Flight:
    """A call under way."""

    call: Call
    cores: int = 1
    is_retry: bool = False
    result: Any = None  # the handle of the result, if the call has `stays`


def _take_back(flying: dict[Any, _Flight]) -> list[_Flight]:
    """Cancel tasks that need more cores than any node has, after the largest node was lost."""
    largest = _largest()
    stuck = [reference for reference, flight in flying.items() if flight.cores > largest]
    for reference in stuck:
        ray.cancel(reference, force=True)
    return [replace(flying.pop(reference), cores=largest) for reference in stuck]


@ray.remote
def _task(versions: Versions, stays: bool, function: Callable[..., Any], *arguments: Any) -> Any:
    """Make a call on a node; with `stays`, return None to wait for, and then the result.

    Versions are checked, as the node may have joined after they were compared.
    """
    _check(versions, _own_versions(), ray.util.get_node_ip_address())
    result = function(*arguments)
    return (None, result) if stays else result


def _connect(address: str, workers: int | None) -> None:
    """Join a cluster, or start one that ends with this process and that only it can reach."""
    try:
        if address == "local":
            _start_own(workers)
            return
        host, colon, port = address.removeprefix("ray://").rpartition(":")
        if colon:  # Ray itself would wait for many minutes
            socket.create_connection((host, int(port)), timeout=10).close()
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"no Ray cluster to work with at {address}: {reason}") from error


def _start_own(workers: int | None) -> None:
    """Start a cluster on this machine whose ports are open on the loopback interface alone.

    Whoever reaches a port of Ray can run code. Asked for 127.0.0.1, Ray uses the machine's own
    address instead, and listens on all interfaces; only this switch, meant for the firewalls of
    other systems, prevents it. If a later Ray ignores the switch, InputError is raised.
    """
    from ray._private import ray_constants

    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        ray.init(
            "local",
            num_cpus=workers,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before
    address = ray.util.get_node_ip_address()
    if not ipaddress.ip_address(address).is_loopback:
        ray.shutdown()
        raise InputError(f"this Ray would listen on {address}, open to others: start one yourself")


def _nodes() -> list[dict[str, Any]]:
    """The present nodes on which tasks can run."""
    return [node for node in ray.nodes() if node["Alive"] and _cpus(node)]


def _cpus(node: dict[str, Any]) -> int:
    return int(node["Resources"].get("CPU", 0))


def _largest() -> int:
    """The cores of the largest node."""
    return max((_cpus(node) for node in _nodes()), default=1)


def _own_versions() -> Versions:
    """The versions on which results depend."""
    return {
        "Python": platform.python_version(),
        "unchurn": __version__,
        "torch": _version("torch"),
        "numpy": _version("numpy"),
    }


def _version(package: str) -> str:
    """A package's version, without importing it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"


def _same_versions() -> Versions:
    """Ask every node for its versions; InputError if any differ from this process's."""
    ours = _own_versions()
    asked = {}
    for node in _nodes():
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ask = ray.remote(_own_versions).options(num_cpus=0, scheduling_strategy=there)
        asked[node["NodeManagerAddress"], node["NodeID"]] = ask.remote()
    for (address, node), answer in asked.items():
        try:
            theirs = ray.get(answer)
        except (*DEATHS, exceptions.TaskUnschedulableError):
            continue  # it is gone
        except exceptions.RayError as error:
            reason = str(error).strip().splitlines()[-1]
            raise InputError(
                f"Ray node {address} ({node[:8]}) cannot run unchurn: {reason}"
            ) from error
        _check(ours, theirs, f"{address} ({node[:8]})")
    return ours


def _check(ours: Versions, theirs: Versions, node: str) -> None:
    """Refuse a node with other versions, whose results may differ."""
    for name, version in ours.items():
        if theirs[name] != version:
            raise InputError(
                f"Ray node {node} has {name} {theirs[name]}, here it is {version}: install the same"
            )


def _send_own_files() -> None:
    """Send functions of files in the current folder by value: other nodes lack these files."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and Path(file).parent == Path.cwd():
            ray.cloudpickle.register_pickle_by_value(module)
