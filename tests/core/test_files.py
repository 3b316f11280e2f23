import os
import resource
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
import pytest
import torch
from safetensors.torch import save_file

from unchurn.core.errors import InputError
from unchurn.core.files import atomic_write, check_place, remove, safe_cell, write_text
from unchurn.core.numpy_files import save_array


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "soft.npy"
    path.write_text("old")

    def fail() -> None:
        with atomic_write(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_written_files_have_ordinary_permissions(tmp_path):
    plain, atomic = tmp_path / "plain", tmp_path / "atomic"
    plain.touch()
    write_text(atomic, "x")
    assert stat.S_IMODE(atomic.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    private = tmp_path / "private"
    private.touch(mode=0o600)
    with atomic_write(private) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
        temporary.write_text("x")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


def test_a_link_stays_one_and_a_pipe_is_written_to(tmp_path):
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(target)
    for text in ("new", "η"):
        write_text(link, text)
        assert link.is_symlink()
        assert target.read_bytes() == text.encode("utf-8")
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_text)
        write_text(pipe, "through")
        assert read.result() == "through"
    for path in (link, pipe):
        check_place(path)
        remove(path)
    assert link.is_symlink()
    assert pipe.is_fifo()
    assert not target.exists()
    assert sorted(tmp_path.iterdir()) == [link, pipe]


@pytest.mark.parametrize(
    "text",
    ["=1+1", "\n=1+1", " \n =1+1", "\ufeff@SUM(A1)", "\x00+1+1", "＝1+1", "\u200b-2+3"],
)
def test_no_cell_is_a_formula_whatever_stands_before_it(text):
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-1.5", "+3", "a=b", "cat", "", " two words"])
def test_other_cells_stay_as_they_are(text):
    assert safe_cell(text) == text


def test_a_quote_before_a_formula_is_told_from_one_that_was_added():
    given = ["=x", "'=x", "'x", "''=x"]
    assert [safe_cell(text) for text in given] == ["'=x", "''=x", "'x", f"'{given[-1]}"]


def saved_by(name):
    """Writers of all libraries that write for us, of about a megabyte."""
    array = np.random.default_rng(0).random(100_000)
    table = pl.DataFrame({"a": array})
    chart = alt.Chart(table[:3000]).mark_point().encode(x="a", y="a")
    return {
        "a.csv": table.write_csv,
        "a.parquet": table.write_parquet,
        "a.npy": lambda path: save_array(path, array),
        "a.npz": lambda path: _savez(path, array),
        "a.txt": lambda path: path.write_text("x" * 1_000_000),
        "a.safetensors": lambda path: save_file({"a": torch.from_numpy(array)}, path),
        "a.svg": lambda path: chart.save(str(path), format="svg"),
    }[name]


def _savez(path, array):
    with path.open("wb") as file:
        np.savez_compressed(file, a=array)


KINDS = ("a.csv", "a.parquet", "a.npy", "a.npz", "a.txt", "a.safetensors", "a.svg")


@pytest.mark.parametrize("room", [0, 100, 1000, 30_000])
@pytest.mark.parametrize("name", KINDS)
def test_a_full_disk_is_one_line_whoever_writes(tmp_path, name, room):
    """A limit on the size of files is the nearest to a full disk that needs no rights."""
    path = tmp_path / name
    path.write_text("old")
    write = saved_by(name)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with (
            pytest.raises(InputError, match=rf"^cannot write .*{name}: File too large"),
            atomic_write(path) as temporary,
        ):
            write(temporary)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_without_room_is_one_line():
    with pytest.raises(InputError, match=r"^cannot write /dev/full: No space left on device$"):
        write_text(Path("/dev/full"), "x")


def test_a_name_as_long_as_may_be_is_written(tmp_path):
    path = tmp_path / ("x" * 251 + ".txt")
    write_text(path, "long")
    assert path.read_text() == "long"


def test_what_a_killed_process_was_writing_goes_with_the_next_write(tmp_path):
    code = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from unchurn.core.files import atomic_write\n"
        "with atomic_write(Path(sys.argv[1])) as temporary:\n"
        "    temporary.write_text('half')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "page.html"
    subprocess.run([sys.executable, "-c", code, path], check=False)
    (half,) = tmp_path.iterdir()
    assert half.read_text() == "half"
    with atomic_write(tmp_path / "other"):
        assert not half.exists()
