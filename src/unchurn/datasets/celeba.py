"""CelebA: faces with 40 attributes, two of which are tasks here; images resized to 28×28×3.

The images may be the published archive, or a folder with all or some of its files.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Callable, Set
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from unchurn.core.errors import InputError
from unchurn.core.files import atomic_write, reading
from unchurn.core.numpy_files import load_array, save_array
from unchurn.core.progress import progress_bar
from unchurn.datasets.base import Dataset, RemoteFile, Source, as_unit
from unchurn.datasets.find import cache_dir, obtain

SIDE = 28
TRAIN, TEST = "0", "2"  # codes in the official partition; "1" is its validation part
MOST_BYTES = 1 << 26  # of one image; published images have about ten thousand
Pixels = npt.NDArray[np.uint8]
Mark = tuple[int, ...]


def load(name: str, attribute: str, data_dir: Path | None = None) -> Dataset:
    """Load one attribute as a two-class task, with the official training and test parts."""
    (attributes, partition, images), notes = obtain(FILES, data_dir)
    has, part = read_attribute(attributes, attribute), read_partition(partition)
    names, pixels = read_images(images, part.keys() & has.keys())
    if len(names) < len(part):
        notes = (*notes, f"{images}: {len(names):,} of {len(part):,} images found")
    rows = {
        wanted: [row for row, name in enumerate(names) if part[name] == wanted]
        for wanted in (TRAIN, TEST)
    }
    if not all(rows.values()):
        which = "training" if not rows[TRAIN] else "test"
        raise InputError(f"{images}: none of its {len(names)} images is in the {which} part")
    x = {wanted: as_unit(pixels[rows[wanted]]) for wanted in rows}
    y = {wanted: np.array([has[names[row]] for row in rows[wanted]], np.int64) for wanted in rows}
    return Dataset(
        name=name,
        x_train=x[TRAIN],
        y_train=y[TRAIN],
        x_test=x[TEST],
        y_test=y[TEST],
        classes=("no", "yes"),
        notes=notes,
    )


def read_attribute(path: Path, attribute: str) -> dict[str, bool]:
    """Which images have the attribute, from a file of the count, the names, a line per image."""
    lines = path.read_text("utf-8", errors="replace").splitlines()
    names = lines[1].split() if len(lines) > 1 else []
    announced = lines[0].strip() if lines else ""
    if attribute not in names or not (announced.isascii() and announced.isdecimal()):
        raise InputError(f"{path}: not a list of CelebA attributes with {attribute}")
    if announced != str(len(lines) - 2):  # as text: Python refuses integers of thousands of digits
        shown = announced if len(announced) <= 20 else f"{announced[:20]}…"
        raise InputError(f"{path}: announces {shown} images but lists {len(lines) - 2}")
    column = 1 + names.index(attribute)
    has = {}
    for number, line in enumerate(lines[2:], start=3):
        cells = line.split()
        if len(cells) != 1 + len(names) or cells[column] not in ("-1", "1"):
            raise InputError(f"{path}: line {number} is not an image and {len(names)} of −1 or 1")
        has[cells[0]] = cells[column] == "1"
    return has


def read_partition(path: Path) -> dict[str, str]:
    """The part of each image, from a file with a line per image: its name and 0, 1 or 2."""
    part = {}
    for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), start=1):
        cells = line.split()
        if len(cells) != 2 or cells[1] not in ("0", "1", "2"):
            raise InputError(f"{path}: line {number} is not an image and 0, 1 or 2")
        part[cells[0]] = cells[1]
    return part


def read_images(path: Path, known: Set[str]) -> tuple[list[str], Pixels]:
    """Names and resized pixels of the known images in a folder or an archive."""
    if path.is_dir():
        with os.scandir(path) as entries:
            files = {e.name: _mark(e.stat()) for e in entries if e.name in known}
        return _resized(path, files, lambda name: (path / name).read_bytes())
    with reading(path, "a zip file"), zipfile.ZipFile(path) as archive:
        members = {Path(m.filename).name: m for m in archive.infolist()}
        large = [m for name, m in members.items() if name in known and m.file_size > MOST_BYTES]
        if large:
            raise InputError(f"{large[0].filename} claims {large[0].file_size:,} bytes")
        sums: dict[str, Mark] = {name: (members[name].CRC,) for name in members.keys() & known}
        return _resized(path, sums, lambda name: archive.read(members[name]))


def _mark(file: os.stat_result) -> Mark:
    """Facts that change when a file is replaced or rewritten, even with equal size and date."""
    return file.st_size, file.st_mtime_ns, file.st_ctime_ns, file.st_ino


def _resized(
    path: Path, marks: dict[str, Mark], read: Callable[[str], bytes]
) -> tuple[list[str], Pixels]:
    """Resize all images, or read them from the cache if files with the same marks are in it.

    A file's mark identifies it without reading it: `_mark` in a folder, the checksum in an archive.
    """
    names = sorted(marks)
    if not names:
        raise InputError(f"{path}: holds none of the images of the partition")
    key = hashlib.sha256(repr([(name, marks[name]) for name in names]).encode()).hexdigest()[:16]
    cached = cache_dir() / "celeba" / f"{SIDE}x{SIDE}-bilinear-{key}.npy"
    shape = (len(names), SIDE, SIDE, 3)
    try:
        with reading(cached, "resized images"):
            pixels: Pixels = load_array(cached)
        if pixels.shape == shape and pixels.dtype == np.uint8:
            return names, pixels
    except (FileNotFoundError, InputError):  # missing or damaged: made again below
        pass

    def resize(name: str) -> Pixels:
        from PIL import Image

        with reading(path / name, "an image"), Image.open(io.BytesIO(read(name))) as image:
            small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
            return np.asarray(small)

    pixels = np.empty(shape, np.uint8)
    with (
        ThreadPoolExecutor(os.cpu_count()) as pool,  # Pillow releases the interpreter's lock
        progress_bar(f"resizing images of {path.name}", len(names)) as advance,
    ):
        for row, image in enumerate(pool.map(resize, names)):
            pixels[row] = image
            advance(1)
    cached.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(cached) as temporary:
        save_array(temporary, pixels)
    return names, pixels


DRIVE = "https://drive.usercontent.google.com/download?export=download&confirm=t&id="
FILES = (
    RemoteFile(
        path="celeba/list_attr_celeba.txt",
        url=DRIVE + "0B7EVK8r0v71pblRyaVFSWGxPY0U",
        sha256="f0e5da289d5ccf75ffe8811132694922b60f2af59256ed362afa03fefba324d0",
        size=26721026,
    ),
    RemoteFile(
        path="celeba/list_eval_partition.txt",
        url=DRIVE + "0B7EVK8r0v71pY0NSMzRuSXJEVkk",
        sha256="fc955bcb3ef8fbdf7d5640d9a8693a8431b5f2ee291a5c1449a1549e7e073fe7",
        size=2836386,
    ),
    RemoteFile(
        path="celeba/img_align_celeba.zip",
        url=DRIVE + "0B7EVK8r0v71pZjFTYXZWM3FlRnM",
        sha256="46fb89443c578308acf364d7d379fe1b9efb793042c0af734b6112e4fd3a8c74",
        size=1443490838,
        instead="celeba/img_align_celeba",
    ),
)


def _source(name: str, attribute: str) -> Source:
    return Source(
        name=name,
        n_train=162770,
        n_test=19962,
        n_classes=2,
        load=partial(load, name, attribute),
        files=FILES,
    )


SMILING = _source("celeba_smiling", "Smiling")
HIGH_CHEEKBONES = _source("celeba_high_cheekbones", "High_Cheekbones")
