"""Workers that are killed do not end the work; what is short is made here."""

import os
import platform
import re
import resource
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from unchurn.core.errors import InputError
from unchurn.core.executors import Call, pool
from unchurn.core.executors.local import START_UP, Local, makespan
from unchurn.core.executors.memory import SHARED_MEMORY, Shared, clear_memory, pack


def results(function, arguments, workers, killed=lambda: -1, **options):
    """The results of calls, by their numbers."""
    calls = deque(Call(n, function, values, **options) for n, values in enumerate(arguments))
    return dict(Local(workers).execute(calls, killed))


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


@pytest.mark.parametrize("forks", [True, False])
def test_what_was_killed_is_done_again_and_what_kills_alone_fails(tmp_path, monkeypatch, forks):
    monkeypatch.setattr(pool, "FORKS", forks)
    numbers = [1, 2, 3, 4, 5, 6, 7]
    found = results(worker(), [(number, str(tmp_path)) for number in numbers], 2)
    assert found == {i: -1 if n == 5 else n**2 for i, n in enumerate(numbers)}


@pytest.mark.parametrize("workers", [1, 2])
def test_sums_have_one_thread_wherever_they_are_made(workers):
    """Else the bytes of a result would depend on the number of workers."""

    def work() -> set[int]:
        import numpy as np
        from threadpoolctl import threadpool_info

        np.ones((2, 2)) @ np.ones((2, 2))
        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        assert results(work, [()] * 2, workers) == {0: {1}, 1: {1}}


def test_a_killed_worker_takes_no_other_with_it(tmp_path):
    """3 is killed while the other worker is at 10, which is done once."""

    def work(number: int, folder: str) -> int:
        with (Path(folder) / f"log{number}").open("a") as log:
            log.write("made\n")
        if number == 10:
            time.sleep(0.5)
        elif (Path(folder) / "log3").read_text() == "made\n":
            os.kill(os.getpid(), signal.SIGKILL)
        return os.getpid()

    found = results(work, [(10, str(tmp_path)), (3, str(tmp_path))], 2)
    assert len(set(found.values())) == 2
    assert (tmp_path / "log10").read_text() == "made\n"
    assert (tmp_path / "log3").read_text() == "made\nmade\n"


def test_work_given_up_with_results_that_nobody_took_says_nothing(tmp_path):
    """As an interruption does: one result is taken, others are finished or under way."""
    calls = deque(Call(n, worker(), (n, str(tmp_path))) for n in (1, 2, 4, 6))
    going = Local(2).execute(calls, int)
    next(going)
    time.sleep(0.2)  # for others to be finished
    going.close()  # where a warning is an error


def test_undisturbed_work_is_done_once(tmp_path):
    calls = [(number, str(tmp_path)) for number in (1, 2, 4)]
    for workers in (1, 2):
        assert results(worker(), calls, workers) == {0: 1, 1: 4, 2: 16}


@pytest.mark.parametrize(
    ("seconds", "workers", "is_here"),
    [
        (START_UP / 2 - 0.1, 2, True),  # four of them take as long as two, and the start
        (START_UP / 2 + 0.1, 2, False),
        (START_UP / 2 + 0.1, 1, True),
        (START_UP / 3 + 0.1, 4, False),
        (None, 2, False),  # not known
    ],
)
def test_workers_start_only_where_they_pay_off(seconds, workers, is_here):
    found = results(os.getpid, [()] * 4, workers, seconds=seconds)
    assert (set(found.values()) == {os.getpid()}) is is_here
    assert is_here or os.getpid() not in found.values()


def test_calls_that_are_added_may_pay_for_workers_which_then_stay():
    calls = deque([Call(0, os.getpid, (), seconds=1.0)])
    found = []
    with Local(2) as executor:
        for number, process in executor.execute(calls, int):
            found.append(process)
            if number == 0:
                calls += [Call(n, os.getpid, (), seconds=100.0) for n in (1, 2, 3)]
        again = dict(executor.execute(deque([Call(4, os.getpid, (), seconds=0.0)]), int))
    assert [process == os.getpid() for process in found] == [True, False, False, False]
    assert again[4] in found[1:]


@pytest.mark.parametrize("seconds", [0.0, None])
def test_blas_has_one_thread_wherever_the_choice_falls(seconds):
    def threads() -> set[int]:
        from threadpoolctl import threadpool_info

        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    found = results(threads, [()] * 2, 2, seconds=seconds)
    assert found == {0: {1}, 1: {1}}


def test_the_last_worker_to_be_done_counts():
    assert makespan([], 2) == 0
    assert makespan([5], 2) == 5
    assert makespan([3, 3, 3, 3, 3], 2) == 9
    assert makespan([1, 2, 3], 1) == 6
    assert makespan([2, 1, 1, 1, 1], 2) == 3  # the longest first
    assert makespan([1, 1, 1, 1, 2], 2) == 4


@pytest.mark.parametrize("seconds", [0.0, None])
def test_handles_are_values_here_and_in_workers(seconds, rng):
    """A shared value, a result that stays, and what is small or has no bytes in it."""

    def double(shared: dict[str, np.ndarray], number: int) -> dict[str, object]:
        array = shared["array"]
        return {"sum": array.sum() + number, "writeable": array.flags.writeable, "array": 2 * array}

    value = {"array": rng.normal(size=(50, 3)), "none": np.zeros(0), "text": "as it is"}
    with Local(2) as executor:
        shared = executor.share(value)
        calls = deque(Call(n, double, (shared, n), stays=n == 0, seconds=seconds) for n in range(2))
        found = dict(executor.execute(calls, int))
        assert found[1]["sum"] == value["array"].sum() + 1
        assert found[1]["writeable"] is (seconds is not None)
        assert isinstance(found[0], Shared)
        calls = deque(Call(n, double, (found[0], n), seconds=seconds) for n in range(2))
        for _, each in executor.execute(calls, int):
            np.testing.assert_array_equal(each["array"], 4 * value["array"])
    np.testing.assert_array_equal(found[0].value["array"], 2 * value["array"])
    assert executor.share("text").parcel.value() == "text"


def test_the_file_of_a_value_goes_with_its_handle():
    handle = Shared(np.zeros(1000))
    file = handle.parcel.file
    assert file.stat().st_size == 8000
    del handle
    assert not file.exists()


def test_an_error_of_the_call_is_raised_as_it_is():
    def fails(number: int) -> None:
        raise InputError(f"no {number} today")

    class UnsendableError(Exception):
        def __reduce__(self) -> str:
            raise TypeError

    def fails_badly(number: int) -> None:
        raise UnsendableError(f"not even {number}")

    with pytest.raises(InputError) as caught:
        results(fails, [(7,), (7,)], 2)
    assert str(caught.value) == "no 7 today"
    with pytest.raises(RuntimeError, match="not even 8"):
        results(fails_badly, [(8,), (8,)], 2)


def test_the_cause_of_an_error_comes_with_it_if_it_can_be_sent():
    class OfTwoError(Exception):
        def __init__(self, one: int, other: int) -> None:
            super().__init__(f"{one} and {other}")  # from which none is made again

    def fails(kind: type[Exception], *arguments: int) -> None:
        raise InputError("not today") from kind(*arguments)

    with pytest.raises(InputError, match="not today") as caught:
        results(fails, [(KeyError, 7)] * 2, 2)
    assert repr(caught.value.__cause__) == "KeyError(7)"
    with pytest.raises(InputError, match="not today") as caught:
        results(fails, [(OfTwoError, 1, 2)] * 2, 2)
    assert caught.value.__cause__ is None
    assert "OfTwoError: 1 and 2" in caught.value.__notes__[0]


def test_own_code_that_sets_no_seed_draws_other_numbers_in_every_worker():
    """They are forked from one process, which has NumPy's generator."""

    def draw(_: int) -> tuple[int, float]:
        time.sleep(0.2)  # for the other worker to have a call, too
        return os.getpid(), np.random.random()  # noqa: NPY002

    found = results(draw, [(n,) for n in range(2)], 2).values()
    assert len({process for process, _ in found}) == len({number for _, number in found}) == 2


SCRIPT = """
import os
from unchurn.core.executors import Call
from unchurn.core.executors.local import Local
from collections import deque

def imported():
    import sys
    return "colorsys" in sys.modules

print("script")
names = ("colorsys", "no_such.module")
calls = deque(Call(n, imported, (), imports=names) for n in "ab")
print(sorted(Local(2).execute(calls, int)))
"""


def test_a_script_needs_no_guard_and_workers_have_what_calls_import(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "script\n[('a', True), ('b', True)]\n"
    assert done.stderr == ""


DRIVER = """
import os, sys, time
from collections import deque
import numpy as np
from unchurn.core.executors import Call
from unchurn.core.executors.local import Local

def work(array, number):
    os.write(1, b"working\\n")  # in one piece, as print does not
    time.sleep(60)

executor = Local(2)
shared = executor.share(np.zeros(1_000_000))
list(executor.execute(deque(Call(n, work, (shared, n)) for n in range(2)), int))
"""


def left(process, *places):
    """What the names in shared memory and temporary folders say is of a process."""
    return [
        path.name
        for place in places
        for path in place.iterdir()
        if re.search(rf"[@_]{process}[@_]", path.name)
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


def test_others_folders_stay(tmp_path, monkeypatch):
    """Named as ours would be, but for the process, which is none that we know of."""
    monkeypatch.setattr("unchurn.core.executors.memory.SHARED_MEMORY", tmp_path)
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    dead = 2**22 + 7
    for name in (f"joblib_memmapping_folder_{dead}_a_b", "unchurn-x"):
        (tmp_path / name).touch()
    before = sorted(tmp_path.iterdir())
    clear_memory()
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / f"unchurn-{platform.node()}@{dead}@abc").mkdir()
    clear_memory()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"joblib_memmapping_folder_{dead}_a_b",
        "unchurn-x",
    ]


def test_no_room_for_shared_data_names_the_place_and_leaves_nothing(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(InputError, match=f"into {tmp_path}: File too large; JOBLIB_TEMP"):
            pack(np.zeros(1000), tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


def interrupted():
    """What interrupts its own process, as Ctrl-C does all of a terminal's."""

    def work(number: int) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
        return number

    return work


def test_ctrl_c_is_left_to_the_parent():
    calls = [(number,) for number in range(4)]
    assert results(interrupted(), calls, 2) == {number: number for number in range(4)}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
