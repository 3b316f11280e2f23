"""Every dataset by name: those that need no file, and the publishers' own files where they are."""

from dataclasses import replace

import numpy as np
import pytest

from unchurn.core.errors import InputError
from unchurn.datasets import DATASETS, load


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
    with pytest.raises(InputError, match=r"no dataset 'mnits' \(did you mean 'mnist'\?\)"):
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
