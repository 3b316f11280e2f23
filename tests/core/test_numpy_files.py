"""NumPy's files that claim more than they hold are refused before anything is set aside."""

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from unchurn.core.numpy_files import (
    check_claims,
    check_text,
    load_array,
    load_arrays,
    save_array,
)


def claiming(shape, dtype="<f8", data=b""):
    """A .npy file whose header says more than follows."""
    buffer = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + data


def test_what_is_saved_is_read_back(tmp_path, rng):
    for array in (rng.normal(size=(3, 4)), np.asfortranarray(rng.random((3, 4))), np.array("a")):
        save_array(tmp_path / "a.npy", array)
        np.testing.assert_array_equal(load_array(tmp_path / "a.npy"), array)
        np.save(tmp_path / "b.npy", array)  # NumPy's own way gives the same bytes
        assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    np.savez_compressed(tmp_path / "c.npz", x=np.zeros(10**6), y=np.array(["a", "b"]))
    assert load_arrays(tmp_path / "c.npz")["x"].shape == (10**6,)


@pytest.mark.parametrize("shape", [(10**9,), (10**5, 10**5), (10**12,)])
@pytest.mark.parametrize("dtype", ["<f8", "<U0", "|u1"])
@pytest.mark.parametrize("packed", [None, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_claims_of_gigabytes_are_refused(tmp_path, shape, dtype, packed):
    raw = claiming(shape, dtype, bytes(100))
    path = tmp_path / "a.npy"
    if packed is None:
        path.write_bytes(raw)
    else:
        with zipfile.ZipFile(path, "w", packed) as archive:
            archive.writestr("x.npy", raw)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"claims [\d,]+ bytes of array where \d+ are"):
        check_claims(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_an_archive_that_claims_more_than_any_compression_gives(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", claiming((4,), data=bytes(32)))
    raw = path.read_bytes()
    at = raw.rindex(b"PK\1\2") + 24  # the size in the archive's directory
    path.write_bytes(raw[:at] + struct.pack("<I", 4_000_000_000) + raw[at + 4 :])
    with pytest.raises(ValueError, match="claims 4,000,000,000 bytes, more than"):
        load_arrays(path)


def test_a_compression_without_such_a_bound_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x.npy", claiming((4,), data=bytes(32)))
    with pytest.raises(ValueError, match=r"x\.npy is compressed as NumPy never does"):
        load_arrays(tmp_path / "a.npz")


def test_one_for_the_other_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    np.savez(tmp_path / "b.npz", x=np.zeros(3))
    with pytest.raises(ValueError, match="one array, not an archive"):
        load_arrays(tmp_path / "a.npy")
    with pytest.raises(ValueError, match="an archive, not one array"):
        load_array(tmp_path / "b.npz")


@pytest.mark.parametrize("order", ["<", ">"])
def test_text_beyond_unicode_is_refused(order):
    text = np.array(["de", "fr", "𝔸"], f"{order}U2")
    assert check_text(text, "country") is text
    broken = np.frombuffer(text.tobytes(), f"{order}u4").copy()
    broken[2] = 0x110000
    with pytest.raises(ValueError, match="country holds text beyond Unicode"):
        check_text(np.frombuffer(broken.tobytes(), f"{order}U2"), "country")
