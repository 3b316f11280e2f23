import hashlib
import json
import multiprocessing
import os
import platform
import shutil
import signal

import numpy as np
import pytest

from unchurn.core.errors import InputError
from unchurn.study.trainings.store import RECORD, DamagedError, Store, key_of

IDENTITY = {"method": "Control", "run": 0}
RECORDED = {"failure": None, "seconds": 1.5}


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    store.open()
    return store


def test_what_is_kept_is_read_back(store):
    assert store.get(IDENTITY) is None
    assert not store.has(IDENTITY)
    store.put(IDENTITY, RECORDED, test=np.arange(6.0).reshape(2, 3))
    stored = store.get(IDENTITY)
    assert stored.record == RECORDED
    np.testing.assert_array_equal(stored.arrays["test"], [[0, 1, 2], [3, 4, 5]])
    assert store.has(IDENTITY)
    assert [p.name for p in store.folder.iterdir()] == [key_of(IDENTITY)]


def test_the_name_is_of_the_content_not_of_its_order():
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 2})


@pytest.mark.parametrize("name", ["test.npy", RECORD])
@pytest.mark.parametrize("damage", ["truncated", "changed", "gone"])
def test_damage_is_noticed(store, name, damage):
    store.put(IDENTITY, RECORDED, test=np.arange(100.0))
    path = store.folder / key_of(IDENTITY) / name
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:-9] if damage == "truncated" else content[:-9] + b"x" * 9)
    with pytest.raises(DamagedError, match=key_of(IDENTITY)):
        store.get(IDENTITY)
    store.drop(IDENTITY)
    assert store.get(IDENTITY) is None


def test_a_run_under_another_ones_name_is_noticed(store):
    store.put(IDENTITY, RECORDED, test=np.zeros(3))
    other = {"method": "Control", "run": 1}
    shutil.copytree(store.folder / key_of(IDENTITY), store.folder / key_of(other))
    with pytest.raises(DamagedError, match="holds another run"):
        store.get(other)


def test_a_file_in_the_place_of_a_run_is_damage_that_can_be_mended(store):
    (store.folder / key_of(IDENTITY)).touch()
    with pytest.raises(DamagedError):
        store.get(IDENTITY)
    store.drop(IDENTITY)
    store.put(IDENTITY, RECORDED, test=np.zeros(3))
    assert store.get(IDENTITY).record == RECORDED


@pytest.mark.parametrize("to", ["a run", "a file", "nothing", "itself"])
def test_a_link_in_the_place_of_a_run_is_dropped_and_what_it_points_to_stays(store, tmp_path, to):
    place = store.folder / key_of(IDENTITY)
    store.put(IDENTITY, RECORDED, test=np.zeros(3))
    elsewhere = tmp_path / "elsewhere"
    place.rename(elsewhere)
    if to == "a file":
        elsewhere = tmp_path / "file"
        elsewhere.write_text("mine")
    place.symlink_to({"nothing": tmp_path / "gone", "itself": place}.get(to, elsewhere))
    assert store.has(IDENTITY)
    with pytest.raises(DamagedError, match="is a link"):
        store.get(IDENTITY)
    store.drop(IDENTITY)
    store.put(IDENTITY, RECORDED, test=np.ones(3))
    np.testing.assert_array_equal(store.get(IDENTITY).arrays["test"], np.ones(3))
    assert not place.is_symlink()
    assert elsewhere.exists()


@pytest.mark.parametrize("name", ["test.npy", RECORD])
def test_a_pipe_or_link_in_the_place_of_a_file_is_damage_not_a_wait(store, name):
    for kind in ("pipe", "link"):
        store.put(IDENTITY, RECORDED, test=np.zeros(3))
        path = store.folder / key_of(IDENTITY) / name
        path.unlink()
        os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
        with pytest.raises(DamagedError, match=f"{name}: is not a plain file"):
            store.get(IDENTITY)
        store.drop(IDENTITY)


def edited(store, change):
    """Change the content of a kept run, with right checksums of it all."""
    folder = store.folder / key_of(IDENTITY)
    content = json.loads((folder / RECORD).read_text())
    del content["checksum"]
    change(folder, content)
    for name in content["sha256"]:
        content["sha256"][name] = hashlib.sha256((folder / f"{name}.npy").read_bytes()).hexdigest()
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    (folder / RECORD).write_text(json.dumps({**content, "checksum": digest}))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([0.5, np.nan]), "holds NaN or infinity"),
        (np.array([0.5, np.inf]), "holds NaN or infinity"),
        (np.array(["a", "b"]), "not numbers"),
    ],
)
def test_numbers_that_no_training_keeps_are_damage_whatever_the_checksum(store, array, message):
    store.put(IDENTITY, RECORDED, test=np.zeros(2))
    edited(store, lambda folder, _: np.save(folder / "test.npy", array))
    with pytest.raises(DamagedError, match=rf"test\.npy: .*{message}"):
        store.get(IDENTITY)


def test_an_array_that_claims_gigabytes_is_damage_before_they_are_set_aside(store):
    store.put(IDENTITY, RECORDED, test=np.zeros(2))

    def claim(folder, content):
        raw = (folder / "test.npy").read_bytes()
        (folder / "test.npy").write_bytes(
            raw.replace(b"(2,), }" + b" " * 12, b"(2000000000000,), }")
        )

    edited(store, claim)
    with pytest.raises(DamagedError, match="claims 16,000,000,000,000 bytes"):
        store.get(IDENTITY)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "9" * 5000, "null", "\ud800"])
def test_a_record_of_anything_is_damage(store, text):
    store.put(IDENTITY, RECORDED, test=np.zeros(2))
    (store.folder / key_of(IDENTITY) / RECORD).write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(DamagedError):
        store.get(IDENTITY)


def test_leftovers_of_dead_processes_go_and_odd_names_stay(store, tmp_path):
    begin = f".unfinished-{platform.node()}@"
    dead = store.folder / f"{begin}{2**22 + 7}@abc"  # beyond what Linux gives by default
    dead.mkdir()
    (store.folder / f"{begin}{2**22 + 7}@file").touch()
    (store.folder / f"{begin}{2**22 + 7}@link").symlink_to(tmp_path)
    odd = [f"{begin}{number}@x" for number in ("9" * 200, "²", "0", "-1", "", 2**31, "1_0")]
    odd += [
        begin,
        ".unfinished-",
        f"{begin}{os.getpid()}@mine",
        f".unfinished-elsewhere@{2**22 + 7}@x",
        f".unfinished-{platform.node()}-{2**22 + 7}@1@x",  # another machine, such as worker-2
    ]
    for name in odd:
        (store.folder / name).mkdir()
    store.open()
    assert sorted(path.name for path in store.folder.iterdir()) == sorted(odd)
    assert tmp_path.exists()


def test_a_changed_record_is_noticed(store):
    store.put(IDENTITY, RECORDED, test=np.zeros(3))
    path = store.folder / key_of(IDENTITY) / RECORD
    path.write_text(path.read_text().replace("1.5", "2.5"))
    with pytest.raises(DamagedError, match="its checksum is not"):
        store.get(IDENTITY)


def test_a_run_that_another_process_finished_first_is_as_good(store):
    store.put(IDENTITY, RECORDED, test=np.zeros(3))
    store.put(IDENTITY, {"failure": None, "seconds": 9}, test=np.zeros(3))
    assert store.get(IDENTITY).record == RECORDED
    assert len(list(store.folder.iterdir())) == 1


def test_a_full_disk_is_a_clear_error_and_leaves_nothing(store, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(InputError, match=r"cannot keep a run in .*No space left"):
        store.put(IDENTITY, RECORDED, test=np.zeros(3))
    assert list(store.folder.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write to"):
        Store(tmp_path / "file").open()


def _put_for_ever(folder):
    store = Store(folder)
    store.open()
    number = 0
    while True:
        store.put({"number": number}, RECORDED, test=np.full(200_000, number))
        number += 1


def test_killed_at_any_moment_every_run_is_whole_or_absent(tmp_path):
    """SIGKILL in the midst of writing, several times; what is left is swept up by the next."""
    for _ in range(5):
        process = multiprocessing.get_context("fork").Process(
            target=_put_for_ever, args=(tmp_path,)
        )
        process.start()
        process.join(0.3)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        store = Store(tmp_path)
        store.open()
        names = {path.name for path in store.folder.iterdir()}
        assert not any(name.startswith(".") for name in names)
        for number in range(len(names)):
            assert (store.get({"number": number}).arrays["test"] == number).all()
            store.drop({"number": number})
