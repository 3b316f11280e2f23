import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from unchurn.core.files import atomic_write, check_place, remove, safe_cell, write_text


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
