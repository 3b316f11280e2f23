import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from unchurn.core.errors import InputError
from unchurn.core.files import atomic_write, check_place, remove, write_text
from unchurn.core.tables import read_table


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


def test_a_csv_of_numbers_alone_has_no_header(tmp_path):
    (tmp_path / "bare.csv").write_text("1,1,2\n3,4,5\n")
    assert read_table(tmp_path / "bare.csv").shape == (2, 3)
    (tmp_path / "named.csv").write_text("a,b,c\n3,4,5\n")
    assert read_table(tmp_path / "named.csv").columns == ["a", "b", "c"]


def test_column_types_are_decided_by_all_rows(tmp_path):
    (tmp_path / "late.csv").write_text("a\n" + "1\n" * 500 + "1.5\n")
    assert read_table(tmp_path / "late.csv")["a"].to_list()[-1] == 1.5


def test_a_byte_order_mark_is_no_header(tmp_path):
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf1,2\n3,4\n")
    assert read_table(tmp_path / "bom.csv").shape == (2, 2)


def test_names_are_names_not_patterns(tmp_path):
    for name in ("logits[1].csv", "*.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
        assert read_table(tmp_path / name).shape == (1, 2)
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(InputError, match=r"folder\.parquet: is a folder"):
        read_table(tmp_path / "folder.parquet")


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
