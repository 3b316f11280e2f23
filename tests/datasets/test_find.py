"""Where files come from: a folder, the cache, or a server, which here is one of our own."""

import hashlib
import http.server
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unchurn.core.errors import InputError
from unchurn.datasets import DATASETS
from unchurn.datasets.base import RemoteFile
from unchurn.datasets.find import cache_dir, data_folder, fetch, locate, obtain

CONTENT = bytes(range(256)) * 20_000  # 5 MB: several chunks


class Server(http.server.ThreadingHTTPServer):
    """Serves CONTENT; can break off, ignore ranges or refuse."""

    break_after: int | None = None
    resumes = True
    status: int | None = None

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ranges: list[str | None] = []


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers["Range"]
        self.server.ranges.append(wanted)
        if self.server.status is not None:
            self.send_error(self.server.status)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if self.server.resumes else 0
        self.send_response(206 if self.server.resumes else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        stop = self.server.break_after or len(CONTENT)
        self.wfile.write(CONTENT[start:stop])

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def remote(server: Server) -> RemoteFile:
    url = f"http://127.0.0.1:{server.server_port}/numbers.bin"
    return RemoteFile(
        path="some/numbers.bin",
        url=url,
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
    )


def test_a_download_is_kept_in_the_cache_and_made_once(server, remote):
    path = fetch(remote)
    assert path == cache_dir() / "some/numbers.bin"
    assert path.read_bytes() == CONTENT
    fetch(remote)
    assert len(server.ranges) == 1
    assert [p.name for p in path.parent.iterdir()] == ["numbers.bin"]


def test_a_broken_download_goes_on_where_it_stopped(server, remote):
    server.break_after = 3_000_000
    with pytest.raises(InputError, match="cannot be downloaded"):
        fetch(remote)
    part = cache_dir() / "some/numbers.bin.part"
    got = part.stat().st_size
    assert 0 < got <= 3_000_000
    server.break_after = None
    assert fetch(remote).read_bytes() == CONTENT
    assert server.ranges == ["bytes=0-", f"bytes={got}-"]
    assert not part.exists()


def test_a_server_that_cannot_resume_sends_everything_again(server, remote):
    part = cache_dir() / "some/numbers.bin.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * 1000)
    server.resumes = False
    assert fetch(remote).read_bytes() == CONTENT


def test_a_complete_part_is_not_asked_for_again(server, remote):
    part = cache_dir() / "some/numbers.bin.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT)
    assert fetch(remote).read_bytes() == CONTENT
    assert server.ranges == []


def test_a_wrong_checksum_is_refused_with_both(server, remote):
    wrong = replace(remote, sha256="0" * 64)
    with pytest.raises(InputError) as caught:
        fetch(wrong)
    assert "0" * 64 in str(caught.value)
    assert hashlib.sha256(CONTENT).hexdigest() in str(caught.value)
    assert list((cache_dir() / "some").iterdir()) == []


def test_a_damaged_file_in_the_cache_is_fetched_again(server, remote):
    path = cache_dir() / remote.path
    path.parent.mkdir(parents=True)
    path.write_bytes(b"damaged")
    (found,), notes = obtain([remote], None)
    assert found.read_bytes() == CONTENT
    assert notes == ()


def test_no_more_is_taken_than_was_published(server, remote):
    """A server that never stops must not fill the disk before the checksum is looked at."""
    small = replace(remote, size=1_000_000)
    with pytest.raises(InputError, match="sends more than the 1,000,000 bytes that were"):
        fetch(small)
    assert list((cache_dir() / "some").iterdir()) == []


def test_a_full_disk_is_one_line(server, remote, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(InputError, match=r"cannot write .*numbers\.bin: No space left on device"):
        fetch(remote)


def test_what_is_published_comes_by_https():
    urls = [file.url for source in DATASETS.values() for file in source.files]
    assert len(urls) > 10
    assert [url for url in urls if not url.startswith("https://")] == []


def test_a_part_of_another_file_is_dropped(server, remote):
    part = cache_dir() / "some/numbers.bin.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * 1000)
    server.status = 416
    with pytest.raises(InputError, match="416"):
        fetch(remote)
    server.status = None
    assert fetch(remote).read_bytes() == CONTENT


def test_the_cache_may_be_the_data_folder(monkeypatch, server, remote):
    """Then its files are the caller's own, and are never replaced."""
    mine = put(cache_dir(), remote.path, b"rebuilt")
    monkeypatch.setenv("UNCHURN_DATA", str(cache_dir()))
    (found,), notes = obtain([remote], None)
    assert found == mine
    assert mine.read_bytes() == b"rebuilt"
    assert len(notes) == 1


def test_an_error_of_the_server_says_what_to_do(server, remote):
    server.status = 404
    with pytest.raises(
        InputError, match=r"some/numbers.bin is not here.*404 Not Found.*UNCHURN_DATA"
    ):
        fetch(remote)


def test_no_server_at_all(remote):
    nowhere = replace(remote, url="http://127.0.0.1:9/numbers.bin")
    with pytest.raises(InputError, match=r"cannot be downloaded \(ConnectionError\)"):
        fetch(nowhere)


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_local_file_is_used_as_it_is_with_a_note(tmp_path, server, remote):
    published = put(tmp_path / "a", remote.path, CONTENT)
    assert obtain([remote], tmp_path / "a") == ([published], ())
    other = put(tmp_path / "b", remote.path, b"rebuilt")
    (found,), (note,) = obtain([remote], tmp_path / "b")
    assert found == other
    assert "its checksum differs" in note
    assert server.ranges == []


def test_data_dir_goes_before_unchurn_data_before_the_cache(tmp_path, monkeypatch, remote):
    cached = put(cache_dir(), remote.path, CONTENT)
    assert locate(remote, None) == cached
    mine = put(tmp_path / "mine", remote.path, CONTENT)
    monkeypatch.setenv("UNCHURN_DATA", str(tmp_path / "mine"))
    assert locate(remote, None) == mine
    given = put(tmp_path / "given", remote.path, CONTENT)
    assert locate(remote, tmp_path / "given") == given


def test_an_alternative_serves_as_well(tmp_path, remote):
    other = put(tmp_path, "some/numbers.csv", b"1")
    assert obtain([replace(remote, instead="some/numbers.csv")], tmp_path) == ([other], ())


def test_a_data_folder_that_is_not_there_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"data_dir is .*gone, which is not a folder"):
        data_folder(tmp_path / "gone")
    monkeypatch.setenv("UNCHURN_DATA", str(tmp_path / "gone"))
    with pytest.raises(InputError, match="UNCHURN_DATA is"):
        data_folder(None)
