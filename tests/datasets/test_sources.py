"""Every source reads tiny files in its original format, and names what is wrong with bad ones."""

import gzip
import io
import struct
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from unchurn.core.errors import InputError
from unchurn.datasets import DATASETS, load, phishing


def write_idx(path: Path, array: np.ndarray) -> None:
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(header + array.tobytes()))


def write_idx_dataset(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28), np.uint8)
    labels = np.array([7, 0, 1, 9, 3], np.uint8)
    for part, rows in (("train", slice(3)), ("t10k", slice(3, 5))):
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", images[rows])
        write_idx(folder / f"{part}-labels-idx1-ubyte.gz", labels[rows])
    return images, labels


@pytest.mark.parametrize(
    ("name", "folder"), [("mnist", "mnist"), ("fashion_mnist", "fashion-mnist")]
)
def test_idx_files(tmp_path, name, folder):
    images, _ = write_idx_dataset(tmp_path / folder)
    data = load(name, tmp_path)
    np.testing.assert_allclose(data.x_train, images[:3] / 255, rtol=1e-6)
    np.testing.assert_allclose(data.x_test, images[3:] / 255, rtol=1e-6)
    assert data.x_train.dtype == np.float32
    assert (data.y_train.tolist(), data.y_test.tolist()) == ([7, 0, 1], [9, 3])
    assert len(data.classes) == 10
    assert len(data.notes) == 4
    assert "train-images-idx3-ubyte.gz: not the published file" in data.notes[0]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda raw: raw[:-20], "damaged or truncated gzip"),
        (lambda raw: b"not gzip at all", "damaged or truncated gzip"),
        (lambda raw: gzip.compress(gzip.decompress(raw)[:-1]), "2351 bytes of data where"),
        (lambda raw: gzip.compress(b"\0\0\x08\x01" + bytes(9)), "not an IDX file"),
        (lambda raw: gzip.compress(b""), "not an IDX file"),
    ],
)
def test_damaged_idx_files(tmp_path, damage, message):
    write_idx_dataset(tmp_path / "mnist")
    path = tmp_path / "mnist/train-images-idx3-ubyte.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=f"train-images-idx3-ubyte.gz: .*{message}"):
        load("mnist", tmp_path)


def test_idx_labels_that_do_not_fit(tmp_path):
    write_idx_dataset(tmp_path / "mnist")
    labels = tmp_path / "mnist/train-labels-idx1-ubyte.gz"
    write_idx(labels, np.array([1, 2], np.uint8))
    with pytest.raises(InputError, match="2 labels for the 3 images"):
        load("mnist", tmp_path)
    write_idx(labels, np.array([1, 2, 10], np.uint8))
    with pytest.raises(InputError, match="label 10 is not one of 10 classes"):
        load("mnist", tmp_path)


def test_idx_images_that_do_not_fit(tmp_path):
    write_idx_dataset(tmp_path / "mnist")
    write_idx(tmp_path / "mnist/t10k-images-idx3-ubyte.gz", np.zeros((2, 5, 5), np.uint8))
    with pytest.raises(InputError, match=r"images of \(5, 5\), not \(28, 28\)"):
        load("mnist", tmp_path)
    write_idx(tmp_path / "mnist/train-images-idx3-ubyte.gz", np.zeros((0, 28, 28), np.uint8))
    with pytest.raises(InputError, match="holds no image"):
        load("mnist", tmp_path)


def write_svhn(folder: Path, **changes: np.ndarray) -> np.ndarray:
    x = np.random.default_rng(0).integers(0, 256, (32, 32, 3, 4), np.uint8)
    y = np.array([[1], [10], [9], [2]], np.uint8)
    (folder / "svhn").mkdir(exist_ok=True)
    for part in ("train", "test"):
        savemat(folder / f"svhn/{part}_32x32.mat", {"X": x, "y": y} | changes)
    return x


def test_svhn_files(tmp_path):
    x = write_svhn(tmp_path)
    data = load("svhn", tmp_path)
    assert data.x_train.shape == (4, 32, 32, 3)
    np.testing.assert_allclose(data.x_train[2], x[:, :, :, 2] / 255, rtol=1e-6)
    assert data.y_train.tolist() == [1, 0, 9, 2]  # label 10 is the digit 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.array([[1], [2]], np.uint8)}, "y must be 4 labels from 1 to 10"),
        ({"y": np.array([[0], [1], [2], [3]], np.uint8)}, "y must be 4 labels from 1 to 10"),
        ({"y": np.array([[1], [np.nan], [2], [3]])}, "y must be 4 labels from 1 to 10"),
        ({"y": np.array(["a", "b", "c", "d"])}, "y must be 4 labels from 1 to 10"),
        ({"X": np.zeros((32, 32, 3, 0), np.uint8)}, "holds no image"),
        ({"X": np.zeros((4, 32, 32), np.uint8)}, "X must be bytes"),
        ({"X": np.zeros((32, 32, 3, 4))}, "X must be bytes"),
    ],
)
def test_svhn_arrays_that_do_not_fit(tmp_path, changes, message):
    write_svhn(tmp_path, **changes)
    with pytest.raises(InputError, match=rf"train_32x32\.mat: {message}"):
        load("svhn", tmp_path)


def test_damaged_svhn_files(tmp_path):
    write_svhn(tmp_path)
    path = tmp_path / "svhn/train_32x32.mat"
    whole = path.read_bytes()
    for size in (0, 100, 200, len(whole) // 2):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"train_32x32\.mat: damaged, or not a MATLAB file"):
            load("svhn", tmp_path)
    savemat(path, {"Z": np.zeros(3)})
    with pytest.raises(InputError, match="needs the arrays X and y, has Z"):
        load("svhn", tmp_path)


def phishing_rows(n: int = 12) -> list[str]:
    features = np.random.default_rng(0).integers(-1, 2, (n, 30))
    return [",".join(map(str, [*row, 1 if i % 3 else -1])) for i, row in enumerate(features)]


def write_arff(folder: Path, rows: list[str]) -> Path:
    names = [*phishing.FEATURES, phishing.TARGET]
    head = ["@relation phishing", "", *(f"@attribute {name} {{-1,0,1}}" for name in names), "@data"]
    path = folder / "phishing/Training Dataset.arff"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\r\n".join([*head, *rows]))
    return path


def test_phishing_arff_and_csv_are_the_same(tmp_path):
    rows = phishing_rows()
    write_arff(tmp_path, rows)
    arff = load("phishing", tmp_path)
    names = ["index", *phishing.FEATURES, phishing.TARGET]
    csv = tmp_path / "csv/phishing/phishing.csv"
    csv.parent.mkdir(parents=True)
    csv.write_text("\n".join([",".join(names), *(f"{i},{row}" for i, row in enumerate(rows))]))
    from_csv = load("phishing", tmp_path / "csv")
    assert arff.fingerprint == from_csv.fingerprint
    assert arff.x_train.shape == (8, 30)
    assert len(arff.x_test) == 4
    assert set(np.unique(arff.x_train)) == {-1, 0, 1}
    assert arff.classes == ("phishing", "legitimate")


def test_damaged_phishing_files(tmp_path):
    rows = phishing_rows()
    path = write_arff(tmp_path, rows)
    path.write_text(path.read_text()[:-20])
    with pytest.raises(InputError, match=r"Training Dataset\.arff: damaged, or not an ARFF file"):
        load("phishing", tmp_path)
    write_arff(tmp_path, [*rows, ",".join(["0"] * 31)])
    with pytest.raises(InputError, match="Result −1 or 1"):
        load("phishing", tmp_path)
    write_arff(tmp_path, rows[:1])
    with pytest.raises(InputError, match="1 rows are too few to split"):
        load("phishing", tmp_path)
    path.unlink()
    (path.parent / "phishing.csv").write_text("a,Result\n1,1\n")
    with pytest.raises(InputError, match=r"phishing\.csv: no column having_IP_Address, "):
        load("phishing", tmp_path)


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


def test_celeba_is_resized_once(tmp_path):
    images = write_celeba_folder(tmp_path)
    before = load("celeba_smiling", tmp_path).fingerprint
    (cached,) = (tmp_path / "cache/celeba").iterdir()
    for path in images.iterdir():  # same names and sizes, so no second look
        path.write_bytes(b"x" * path.stat().st_size)
    assert load("celeba_smiling", tmp_path).fingerprint == before
    cached.write_bytes(cached.read_bytes()[:100])  # a damaged cache is not trusted
    with pytest.raises(InputError, match=r"000001\.jpg: damaged, or not an image"):
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
        ("list_eval_partition.txt", lambda t: t[:-3], "line 6 is not an image and 0, 1 or 2"),
    ],
)
def test_damaged_celeba_lists(tmp_path, name, change, message):
    write_celeba_folder(tmp_path)
    path = tmp_path / "celeba" / name
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=f"{name}: .*{message}"):
        load("celeba_smiling", tmp_path)


def test_digits_need_nothing():
    data = load("digits")
    assert (data.x_train.shape, data.x_test.shape) == ((1203, 8, 8), (594, 8, 8))
    assert data.x_train.max() == 1
    share = np.bincount(data.y_test) / len(data.y_test)
    assert np.abs(share - np.bincount(data.y_train) / len(data.y_train)).max() < 0.002
    assert load("digits").fingerprint == data.fingerprint
    assert data.y_test[:12].tolist() == [8, 6, 2, 4, 4, 8, 1, 5, 5, 2, 8, 3]  # the split is fixed
    assert data.notes == ()


def test_two_gaussians_have_a_tenth_of_their_labels_swapped():
    data = load("two_gaussians")
    for x, y in ((data.x_train, data.y_train), (data.x_test, data.y_test)):
        assert x.shape == (1000, 2)
        far = np.abs(x.sum(axis=1)) > 3  # so far out that only a swap explains the other label
        swapped = (x.sum(axis=1) < 0) != (y == 1)  # positives lie at the bottom left
        assert 0.05 < swapped[far].mean() < 0.15
    assert data.x_train[0] == pytest.approx(
        [-1.454248, 0.032544], abs=1e-6
    )  # drawn by a fixed seed
    assert data.classes == ("negative", "positive")


def test_the_fingerprint_is_of_the_content():
    data = load("two_gaussians")
    assert replace(data, name="other", notes=("x",)).fingerprint == data.fingerprint
    assert replace(data, classes=("no", "yes")).fingerprint != data.fingerprint
    assert replace(data, y_test=1 - data.y_test).fingerprint != data.fingerprint
    assert replace(data, x_train=data.x_train.reshape(500, 4)).fingerprint != data.fingerprint


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(InputError, match=r"no dataset 'mnits' \(did you mean mnist\?\)"):
        load("mnits")


@pytest.mark.parametrize("name", [n for n, s in DATASETS.items() if s.files and "celeba" not in n])
def test_published_counts(real_data, name):
    source, data = DATASETS[name], load(name, real_data)
    assert (len(data.x_train), len(data.y_train)) == (source.n_train, source.n_train)
    assert (len(data.x_test), len(data.y_test)) == (source.n_test, source.n_test)
    assert len(data.classes) == source.n_classes == len(np.unique(data.y_train))


def test_real_class_counts(real_data):
    """From the publishers: 6,157 legitimate pages; house numbers with 4,948 zeros."""
    pages = load("phishing", real_data)
    assert pages.y_train.sum() + pages.y_test.sum() == 6157
    assert pages.y_test.sum() == 2004  # the split is fixed, and not stratified
    numbers = load("svhn", real_data)
    assert np.bincount(numbers.y_train)[:2].tolist() == [4948, 13861]
    assert np.bincount(load("mnist", real_data).y_train)[:2].tolist() == [5923, 6742]
    assert set(np.bincount(load("fashion_mnist", real_data).y_train)) == {6000}


def test_real_celeba_as_far_as_it_is_there(real_data):
    for name in ("celeba_smiling", "celeba_high_cheekbones"):
        data = load(name, real_data)
        n_train, n_test = len(data.x_train), len(data.x_test)
        if data.notes:
            assert f"{202599:,} images found" in data.notes[-1]
        else:
            assert (n_train, n_test) == (162770, 19962)
        assert n_train / n_test == pytest.approx(162770 / 19962, rel=0.05)
        assert data.x_train.shape[1:] == (28, 28, 3)
        assert 0.4 < data.y_train.mean() < 0.55  # 48 % smile, 45 % have high cheekbones
