"""Workers that are killed do not end the work."""

import os
import platform
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unchurn.core.executors.local import SHARED_MEMORY, Local, clear_memory, execute


def worker():
    """Squares; 3 kills its process the first time, 5 always. Made here to be sent as it is."""

    def work(number: int, folder: str) -> int:
        time.sleep(0.05)
        first = Path(folder) / str(number)
        if number == 5 or (number == 3 and not first.exists()):
            first.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number**2

    return work


def test_what_was_killed_is_done_again_and_what_kills_alone_fails(tmp_path):
    numbers = [1, 2, 3, 4, 5, 6, 7]
    calls = [(number, str(tmp_path)) for number in numbers]
    found = dict(execute(worker(), calls, 2, lambda: -1))
    assert found == {i: -1 if n == 5 else n**2 for i, n in enumerate(numbers)}


def test_work_given_up_with_results_that_nobody_took_says_nothing(tmp_path):
    """As an interruption does: one result is taken, others are finished or under way."""
    results = execute(worker(), [(number, str(tmp_path)) for number in (1, 2, 4, 6)], 2, int)
    next(results)
    time.sleep(1)  # for others to be finished
    results.close()  # where a warning is an error


def test_undisturbed_work_is_done_once(tmp_path):
    calls = [(number, str(tmp_path)) for number in (1, 2, 4)]
    for workers in (1, 2):
        assert sorted(execute(worker(), calls, workers, lambda: -1)) == [(0, 1), (1, 4), (2, 16)]


DRIVER = """
import os, sys, time
import numpy as np
from unchurn.core.executors.local import execute

def work(array, number):
    os.write(1, b"working\\n")  # in one piece, as print does not
    time.sleep(60)

shared = np.zeros(1_000_000)
list(execute(work, [(shared, 0), (shared, 1)], 2, lambda: None))
"""


def left(process, *places):
    """What the names in shared memory and temporary folders say is of a process."""
    return [
        path.name
        for place in places
        for path in place.iterdir()
        if re.search(rf"[-_]{process}[-_]", path.name)
    ]


@pytest.mark.skipif(not SHARED_MEMORY.is_dir(), reason=f"there is no {SHARED_MEMORY}")
@pytest.mark.parametrize("all_of_it", [False, True])
def test_what_a_killed_driver_shared_is_cleared_by_its_workers_or_the_next(tmp_path, all_of_it):
    places = (SHARED_MEMORY, tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        start_new_session=True,
    ) as driver:
        assert driver.stdout.readline() == b"working\n"
        before = left(driver.pid, *places)
        assert any(name.startswith("unchurn-") for name in before)
        assert any(name.startswith("sem.loky-") for name in before)
        clear_memory()  # it lives: nothing of it goes
        assert left(driver.pid, *places) == before
        if all_of_it:  # its workers, and who tracks what they share, as well
            os.killpg(driver.pid, signal.SIGKILL)
        else:
            os.kill(driver.pid, signal.SIGKILL)
        driver.stdout.read()  # until the last of them is gone
    if all_of_it:
        assert left(driver.pid, *places)
        with Local(1):  # as the next command does
            pass
    assert left(driver.pid, *places) == []


def test_others_semaphores_and_folders_stay(tmp_path, monkeypatch):
    """Named as ours would be, but for the process, which is none that we know of."""
    monkeypatch.setattr("unchurn.core.executors.local.SHARED_MEMORY", tmp_path)
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    dead = 2**22 + 7
    for name in (f"sem.loky-{dead}-abc", f"joblib_memmapping_folder_{dead}_a_b", "unchurn-x"):
        (tmp_path / name).touch()
    before = sorted(tmp_path.iterdir())
    clear_memory()
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / f"unchurn-{platform.node()}-{dead}-abc").mkdir()
    clear_memory()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"joblib_memmapping_folder_{dead}_a_b",
        "unchurn-x",
    ]


def interrupted():
    """What interrupts its own process, as Ctrl-C does all of a terminal's."""

    def work(number: int) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
        return number

    return work


def test_ctrl_c_is_left_to_the_parent():
    calls = [(number,) for number in range(4)]
    assert sorted(execute(interrupted(), calls, 2, lambda: -1)) == [(i, i) for i in range(4)]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
