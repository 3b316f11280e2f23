"""Workers that are killed do not end the work."""

import os
import signal
import time
from pathlib import Path

from unchurn.core.executors.local import execute


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


def test_undisturbed_work_is_done_once(tmp_path):
    calls = [(number, str(tmp_path)) for number in (1, 2, 4)]
    for workers in (1, 2):
        assert sorted(execute(worker(), calls, workers, lambda: -1)) == [(0, 1), (1, 4), (2, 16)]


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
