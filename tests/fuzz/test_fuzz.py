"""A thousand spoiled files, all that ever crashed a reader, and that a fault would be found."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS, FINDS = ROOT / "benchmarks", Path(__file__).parent / "finds"
pytestmark = [
    pytest.mark.skipif(not BENCHMARKS.exists(), reason="a source distribution has none"),
    pytest.mark.filterwarnings("ignore"),  # of what is spoiled
    pytest.mark.xdist_group("fuzz"),  # its targets take a while to make
]


@pytest.fixture(scope="module")
def fuzz():
    sys.path.insert(0, str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("fuzz", BENCHMARKS / "fuzz.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def attack(fuzz):
    return fuzz.Attack()


def test_a_thousand_cases(tmp_path):
    """In a process of its own, which a case may kill."""
    command = [sys.executable, BENCHMARKS / "fuzz.py", "--cases", "1000", "--seed", "0"]
    command += ["--out", tmp_path, "--record", tmp_path / "record.json", "--no-page"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1,000 cases tried, 0 that crashed" in done.stdout
    (entry,) = json.loads((tmp_path / "record.json").read_text())
    assert entry["done"] == 1000
    # Half refused and half answered would be best: all of one kind would try nothing.
    totals = [sum(counts[kind] for counts in entry["counts"].values()) for kind in
              ("answered", "refused")]  # fmt: skip
    assert min(totals) > 200
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.stdout == done.stdout  # nothing is left to do: another process has the same cases


@pytest.mark.parametrize("find", sorted(FINDS.iterdir()), ids=lambda path: path.name)
def test_what_once_crashed_is_answered_or_refused(fuzz, attack, find):
    ended, said = fuzz.replay(attack, find)
    assert ended in ("answered", "refused"), said


def test_every_target_takes_its_files_as_they_are(fuzz, attack):
    for target in attack.targets.values():
        ends = [attack.outcome(target, {}, seed)[0] for seed in range(1, 4)]
        assert "answered" in ends, target.name
        assert "find" not in ends, target.name


def test_equal_seeds_are_equal_cases(fuzz, attack):
    for number in range(50):
        (one, files, drawn), (other, same, as_drawn) = (attack.case(7, number) for _ in range(2))
        assert (one.name, files, drawn) == (other.name, same, as_drawn)


def test_the_record_adds_up_and_goes_on(fuzz, tmp_path):
    record, path = fuzz.record, tmp_path / "record.json"
    first = record.entry_of(path, "cases", 0)
    for ended in ("answered", "refused", "refused"):
        record.add(first, "gate", ended, 0.5)
    record.keep(path, first)
    assert record.entry_of(path, "cases", 0) == first
    assert record.entry_of(path, "cases", 1)["done"] == record.entry_of(path, "new", 0)["done"] == 0
    other = record.entry_of(path, "new", 0)
    record.add(other, "plan", "find", 1800)
    record.keep(path, other)
    record.add(first, "gate", "answered", 0.5)
    record.keep(path, first)
    assert record.load(path) == [first, other]
    page = record.table(record.load(path))
    assert "**5 cases tried, 1 that crashed, hung or were not one line**, in 0.5 hours" in page
    assert "| gate | 4 | 2 | 2 | 0 |\n| plan | 1 | 0 | 0 | 1 |" in page


def test_the_page_says_what_the_record_has(fuzz):
    from sections import section

    assert section("fuzz", fuzz.PAGE).strip() == fuzz.record.table(fuzz.record.load(fuzz.RECORD))


def test_a_run_ends_when_its_time_is_over(tmp_path):
    command = [sys.executable, BENCHMARKS / "fuzz.py", "--minutes", "0.001", "--out", tmp_path]
    command += ["--record", tmp_path / "record.json", "--no-page"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (entry,) = json.loads((tmp_path / "record.json").read_text())
    assert entry["done"] < 1000


def test_a_fault_is_found_and_made_small(fuzz, attack, tmp_path, monkeypatch):
    """A reader that stumbles over one byte in a large file."""

    def stumble(rng):
        if b"\x07" in Path("file.bin").read_bytes():
            raise ZeroDivisionError

    target = type(attack.targets["mnist"])("faulty", {"file.bin": b"x" * 5000}, stumble)
    spoiled = {"file.bin": b"x" * 3000 + b"\x07" + b"y" * 2000}
    assert attack.outcome(target, {}, 0) == ("answered", "")
    assert attack.outcome(target, spoiled, 0) == ("find", "ZeroDivisionError: ")
    small = attack.smaller(target, spoiled, 0)
    assert small == {"file.bin": b"\x07"}
    monkeypatch.setitem(attack.targets, "faulty", target)
    fuzz.keep(tmp_path, "faulty", small, 0, "ZeroDivisionError", "seed 0, case 0")
    (kept,) = (tmp_path / "finds").iterdir()
    assert fuzz.replay(attack, kept)[0] == "find"


def test_a_case_that_kills_its_process_is_a_find_and_the_rest_goes_on(tmp_path):
    """Case 3 ends the process, as a reader in C may; the others are tried all the same."""
    script = tmp_path / "fuzz.py"
    text = (BENCHMARKS / "fuzz.py").read_text()
    begun = "        target, spoiled, drawn = attack.case(seed, number)\n"
    assert begun in text
    script.write_text(
        text.replace(begun, f"        number == 3 and os.kill(os.getpid(), 11)\n{begun}")
    )
    command = [sys.executable, script, "--cases", "6", "--out", tmp_path / "out", "--no-page"]
    search = os.pathsep.join([str(BENCHMARKS), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "ended by -11" in done.stdout
    assert "6 cases tried, 1 that crashed" in done.stdout
    (kept,) = (tmp_path / "out/finds").iterdir()
    assert json.loads((kept / "find.json").read_text())["case"] == "seed 0, case 3"
