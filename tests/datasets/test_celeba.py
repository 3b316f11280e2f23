"""CelebA: lists with a few images, in a folder or an archive, are read, and bad ones named."""

import io
import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unchurn.core.errors import InputError
from unchurn.datasets import load

ATTRIBUTES = ("Bald", "High_Cheekbones", "Smiling")
IMAGES = [f"{number:06d}.jpg" for number in range(1, 7)]


def jpeg(shade: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (178, 218), (shade, 2 * shade, 0)).save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


def write_celeba_lists(folder: Path) -> Path:
    root = folder / "celeba"
    root.mkdir(parents=True, exist_ok=True)
    rows = [
        f"{name} -1 {1 if i < 2 else -1}  {1 if i % 2 else -1}" for i, name in enumerate(IMAGES)
    ]
    lines = [str(len(IMAGES)), " ".join(ATTRIBUTES) + " ", *rows]
    (root / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n")
    parts = [0, 0, 0, 1, 2, 2]
    partition = [f"{name} {part}" for name, part in zip(IMAGES, parts, strict=True)]
    (root / "list_eval_partition.txt").write_text("\n".join(partition) + "\n")
    return root


def write_celeba_folder(folder: Path, names: list[str] = IMAGES) -> Path:
    images = write_celeba_lists(folder) / "img_align_celeba"
    images.mkdir()
    for name in names:
        (images / name).write_bytes(jpeg(20 * int(name[:6])))
    return images


def test_celeba_folder(tmp_path):
    write_celeba_folder(tmp_path)
    smiling = load("celeba_smiling", tmp_path)
    assert smiling.x_train.shape == (3, 28, 28, 3)
    assert smiling.y_train.tolist() == [0, 1, 0]
    assert smiling.y_test.tolist() == [0, 1]
    np.testing.assert_allclose(
        smiling.x_test[0], np.full((28, 28, 3), [100, 200, 0]) / 255, atol=0.02
    )
    assert load("celeba_high_cheekbones", tmp_path).y_train.tolist() == [1, 1, 0]
    assert not any("images found" in note for note in smiling.notes)


def test_celeba_archive_is_the_same_as_its_folder(tmp_path):
    images = write_celeba_folder(tmp_path / "folder")
    root = write_celeba_lists(tmp_path / "zip")
    with zipfile.ZipFile(root / "img_align_celeba.zip", "w") as archive:
        archive.writestr("img_align_celeba/", "")
        for path in images.iterdir():
            archive.write(path, f"img_align_celeba/{path.name}")
    one, two = (load("celeba_smiling", tmp_path / kind) for kind in ("folder", "zip"))
    assert one.fingerprint == two.fingerprint


def test_celeba_is_resized_once(tmp_path, monkeypatch):
    write_celeba_folder(tmp_path)
    before = load("celeba_smiling", tmp_path).fingerprint
    with monkeypatch.context() as no_second_look:
        no_second_look.setattr("PIL.Image.open", None)
        assert load("celeba_smiling", tmp_path).fingerprint == before
    (cached,) = (tmp_path / "cache/celeba").iterdir()
    for damaged in (cached.read_bytes()[:100], b"PK\3\4 no array", b""):
        cached.write_bytes(damaged)  # is not trusted
        assert load("celeba_smiling", tmp_path).fingerprint == before


@pytest.mark.parametrize("how", ["written", "replaced", "swapped"])
def test_replaced_images_of_equal_size_and_date_are_resized_again(tmp_path, how):
    images = write_celeba_folder(tmp_path)
    old, other = images / IMAGES[0], images / IMAGES[4]
    size = max(len(old.read_bytes()), len(other.read_bytes()))
    for path in (old, other):  # a JPEG may be followed by anything
        path.write_bytes(path.read_bytes().ljust(size, b"\0"))
        os.utime(path, ns=(0, 0))
    before = load("celeba_smiling", tmp_path)
    content = other.read_bytes()
    if how == "written":
        old.write_bytes(content)
    elif how == "replaced":
        (images / "new").write_bytes(content)
        (images / "new").replace(old)
    else:
        old.rename(images / "was")
        other.rename(old)
        (images / "was").rename(other)
    os.utime(old, ns=(0, 0))
    after = load("celeba_smiling", tmp_path)
    np.testing.assert_array_equal(after.x_train[0], before.x_test[0])
    assert not np.array_equal(after.x_train[0], before.x_train[0])


def test_an_image_that_claims_gigabytes_is_refused_unread(tmp_path):
    root = write_celeba_lists(tmp_path)
    path = root / "img_align_celeba.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(IMAGES[0], b"x")
    claimed = struct.pack("<I", 4_000_000_000)
    raw = path.read_bytes()
    at = raw.rindex(b"PK\1\2") + 24  # the size in the archive's directory
    path.write_bytes(raw[:at] + claimed + raw[at + 4 :])
    with pytest.raises(InputError, match=r"zip: 000001\.jpg claims 4,000,000,000 bytes"):
        load("celeba_smiling", tmp_path)


def test_part_of_celeba_works_and_is_counted(tmp_path):
    images = write_celeba_folder(tmp_path, [IMAGES[1], IMAGES[3], IMAGES[5]])
    for foreign in ("._000001.jpg", "cat.jpg", "notes.txt"):
        (images / foreign).write_text("not one of the images")
    data = load("celeba_smiling", tmp_path)
    assert (len(data.x_train), len(data.x_test)) == (1, 1)
    assert "img_align_celeba: 3 of 6 images found" in data.notes[-1]


def test_celeba_files_that_do_not_fit(tmp_path):
    images = write_celeba_folder(tmp_path, IMAGES[:3])
    with pytest.raises(InputError, match="none of its 3 images is in the test part"):
        load("celeba_smiling", tmp_path)
    for path in images.iterdir():
        path.unlink()
    with pytest.raises(InputError, match="holds none of the images"):
        load("celeba_smiling", tmp_path)
    images.rmdir()
    archive = tmp_path / "celeba/img_align_celeba.zip"
    archive.write_bytes(b"PK not a zip")
    with pytest.raises(InputError, match=r"img_align_celeba\.zip: damaged, or not a zip file"):
        load("celeba_smiling", tmp_path)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "list_attr_celeba.txt",
            lambda t: t[: t.rindex("000006")],
            "announces 6 images but lists 5",
        ),
        ("list_attr_celeba.txt", lambda t: t[:-4], "line 8 is not an image"),
        ("list_attr_celeba.txt", lambda t: t.replace("Smiling", "Frowning"), "with Smiling"),
        ("list_attr_celeba.txt", lambda t: "", "not a list of CelebA attributes"),
        ("list_attr_celeba.txt", lambda t: t.replace("6\n", "²\n", 1), "not a list of CelebA"),
        ("list_attr_celeba.txt", lambda t: "9" * 5000 + t[1:], "announces 9{20}… images"),
        ("list_eval_partition.txt", lambda t: t[:-3], "line 6 is not an image and 0, 1 or 2"),
    ],
)
def test_damaged_celeba_lists(tmp_path, name, change, message):
    write_celeba_folder(tmp_path)
    path = tmp_path / "celeba" / name
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=f"{name}: .*{message}"):
        load("celeba_smiling", tmp_path)
