"""Where nothing can be written: one line with file and cause, exit code 2, old files whole."""

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import toys
from unchurn import bench
from unchurn.core.errors import InputError

FULL = "No space left on device\n"


@pytest.mark.parametrize("option", ["--html", "--flips"])
def test_pages_and_flips(run, files, option):
    code, out, err = run("compare", *files, option, "/dev/full")
    assert (code, out, err) == (2, "", f"unchurn: cannot write /dev/full: {FULL}")


def test_a_verdict_for_machines(run, files):
    code, out, err = run("gate", *files, "--max-churn", "0.5", "--junit", "/dev/full")
    assert (code, out, err) == (2, "", f"unchurn: cannot write /dev/full: {FULL}")


def test_soft_targets(run, tmp_path, rng):
    np.save(tmp_path / "logits.npy", rng.normal(size=(2000, 5)))
    np.save(tmp_path / "labels.npy", rng.integers(0, 5, 2000))
    run("smooth", "logits.npy", "labels.npy", "-o", "out.npy")
    before = (tmp_path / "out.npy").read_bytes()
    for suffix in ("npy", "npz", "csv", "parquet"):
        (tmp_path / f"out.{suffix}").write_bytes(before)
        with limit(1000):
            code, out, err = run("smooth", "logits.npy", "labels.npy", "-o", f"out.{suffix}")
        assert (code, out) == (2, "")
        assert err == f"unchurn: cannot write out.{suffix}: File too large\n"
        assert (tmp_path / f"out.{suffix}").read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


class limit:  # noqa: N801
    """No file may become larger: what needs no rights and is nearest to a full disk."""

    def __init__(self, size):
        self.size = size

    def __enter__(self):
        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, self.before[1]))

    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_FSIZE, self.before)


def test_what_is_printed(files, run, tmp_path):
    command = [sys.executable, "-m", "unchurn", "compare", *files]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == f"unchurn: cannot write the output: {FULL}"


def test_runs(run, tmp_path):
    command = ("bench", "digits", "--methods", "control", "--runs", "2", "--epochs", "1",
               "--out", "b", "--workers", "1")  # fmt: skip
    with limit(3000):
        code, _, err = run(*command)
    assert code == 2
    assert err == "unchurn: cannot keep a run in b/runs: File too large\n"
    assert list((tmp_path / "b/runs").iterdir()) == []
    assert run(*command)[0] == 0  # with room again it goes on


NAMES = ("table.csv", "table.md", "table.tex", "result.json", "result.npz",
         "predictions/control-1.parquet", "predictions/written.json")  # fmt: skip


@pytest.fixture(scope="module")
def results():
    """Of two studies that differ in all of their files."""
    return [
        bench(toys.dataset(200, seed=seed), ["control"], runs=2 + seed, epochs=1, workers=1)
        for seed in (0, 1)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_file_of_a_study(results, tmp_path, monkeypatch, name):
    first, second = results
    first.save(tmp_path)
    before = (tmp_path / name).read_bytes()
    real = Path.replace

    def full(path, target):
        if Path(target) == tmp_path / name:
            raise OSError(28, "No space left on device")
        return real(path, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match=rf"^cannot write {tmp_path / name}: No space left on dev"):
        second.save(tmp_path)
    assert (tmp_path / name).read_bytes() == before
    assert not list(tmp_path.rglob(".unchurn-*"))
    monkeypatch.undo()
    second.save(tmp_path)  # with room again
    assert (tmp_path / name).read_bytes() != before
