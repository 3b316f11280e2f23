"""Columns of numbers are scaled, whatever their size, and a successor scales as its base does."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import unchurn
from unchurn import StableClassifier
from unchurn.core.errors import InputError
from unchurn.training.estimator.references import what_model_says
from unchurn.training.estimator.scaling import learn_scaling
from unchurn.training.networks.factories import make_factory


def raw_wine():
    return train_test_split(*load_wine(return_X_y=True), random_state=0)


@pytest.mark.filterwarnings("ignore:X has numbers up to")  # which is what this is about
def test_raw_columns_are_learned_from():
    x, x_test, y, y_test = raw_wine()
    model = StableClassifier(random_state=0).fit(x, y)
    assert model.score(x_test, y_test) > 0.9
    own = StableClassifier(make_factory("mlp"), random_state=0).fit(x, y)  # taken as they are
    assert own.scaling_ is None
    assert own.score(x_test, y_test) < 0.9


def test_it_is_scikit_learns_scaling(rng):
    x = rng.uniform(30, 70, size=(40, 3))
    x[:, 1] = 7  # a constant
    expected = StandardScaler().fit_transform(x)
    assert np.allclose(learn_scaling(x).apply(x), expected, atol=1e-5)


@pytest.mark.parametrize("size", [0.01, 0.1, 1, 1000])
def test_no_size_of_numbers_is_learned_from_better_than_another(size):
    x, x_test, y, y_test = raw_wine()
    factor = size / x.std(axis=0)
    model = StableClassifier(random_state=0).fit(x * factor, y)
    assert model.score(x_test * factor, y_test) > 0.9


def test_flags_and_small_pixels_stay_as_they_are(rng):
    flags = rng.integers(0, 2, size=(30, 2))
    assert learn_scaling(flags) is None
    both = np.column_stack([flags, rng.normal(5, 2, size=30)])
    scaled = learn_scaling(both).apply(both)
    np.testing.assert_array_equal(scaled[:, :2], flags)
    assert abs(scaled[:, 2].mean()) < 1e-6
    assert learn_scaling(rng.random((9, 4, 4))) is None


def test_a_rare_number_does_not_end_far_out():
    pixels = np.zeros((1000, 2))
    pixels[:3, 0], pixels[::2, 1] = 0.5, 0.5
    rare, usual = learn_scaling(pixels).apply(pixels).max(axis=0)
    assert usual == pytest.approx(1)
    assert rare == pytest.approx(3)  # of 18 deviations


@pytest.mark.parametrize(("n", "code"), [(1, 1e4), (20, 9999), (50, -999)])
@pytest.mark.parametrize("beside", [1, 1000])  # also where another column is to be scaled
def test_a_code_for_what_is_missing_does_not_hide_the_rest(rng, n, code, beside):
    x = rng.normal(size=(1000, 4))
    x[:, 3] *= beside
    y = (x[:, 0] > 0).astype(int)
    x[:n, 0] = code
    model = StableClassifier(random_state=0).fit(x, y)
    assert model.score(x[n:], y[n:]) > 0.95


def test_a_column_that_was_constant_for_the_base_is_learned_by_its_successor(rng):
    x = rng.normal(100, 20, size=(600, 3))
    x[:300, 2], x[300:, 2] = 0, rng.integers(0, 2, 300) * 4
    y = np.where(np.arange(600) < 300, x[:, 0] > 100, x[:, 2] > 0).astype(int)
    base = StableClassifier(random_state=0).fit(x[:300], y[:300])
    model = StableClassifier(method="warm_start+safe_ema", reference=base, random_state=0)
    assert model.fit(x[300:], y[300:]).score(x[300:], y[300:]) > 0.95


def test_images_have_one_scale(rng):
    x = rng.integers(0, 256, size=(20, 4, 4)).astype(np.float32)
    scaled = learn_scaling(x).apply(x)
    assert scaled.mean() == pytest.approx(0, abs=1e-5)
    assert scaled.std() == pytest.approx(1, abs=1e-5)
    # Brighter stays brighter, wherever a pixel is.
    in_order = scaled.ravel()[np.argsort(x, axis=None)]
    np.testing.assert_array_equal(in_order, np.sort(scaled, axis=None))


def test_a_number_too_far_away_is_refused():
    x, _, y, _ = raw_wine()
    model = StableClassifier(epochs=1).fit(x, y)
    x[5, 2] = 3e38
    with pytest.raises(InputError, match="row 5 of X has a number too far"):
        model.predict(x)


def test_a_saved_model_scales_the_same(tmp_path):
    x, x_test, y, _ = raw_wine()
    model = StableClassifier(epochs=1).fit(x, y)
    model.save(tmp_path / "m.safetensors")
    loaded = StableClassifier.load(tmp_path / "m.safetensors")
    assert np.array_equal(loaded.predict_proba(x_test), model.predict_proba(x_test))


@pytest.mark.parametrize("broken", [[1.0], [float("nan")] * 13, "text"])
def test_a_broken_scaling_is_refused(tmp_path, broken, monkeypatch):
    x, _, y, _ = raw_wine()
    model = StableClassifier(epochs=1).fit(x, y)
    monkeypatch.setattr(type(model.scaling_), "to_plain", lambda _: {"mean": broken, "factor": []})
    model.save(tmp_path / "m.safetensors")
    with pytest.raises(InputError, match=r"saved StableClassifier|its scaling"):
        StableClassifier.load(tmp_path / "m.safetensors")


def test_a_reference_is_asked_of_raw_rows():
    x, _, y, _ = raw_wine()
    model = StableClassifier(epochs=2).fit(x, y)
    said = what_model_says(model, x, x.astype(np.float32), model.classes_, None)
    assert np.allclose(softmax(said.logits, axis=1), model.predict_proba(x), atol=1e-6)


def test_a_successor_scales_as_its_base_does():
    x, x_test, y, y_test = raw_wine()
    base = StableClassifier(random_state=0).fit(x[:60], y[:60])
    upgraded = unchurn.upgrade(base, x, y, X_test=x_test, y_test=y_test, random_state=1)
    assert "warm_start" in str(upgraded.method)
    assert upgraded.model.scaling_ is base.scaling_
    assert upgraded.model.score(x_test, y_test) > 0.9


def test_a_base_of_flags_has_a_successor_that_does_not_scale(rng):
    x, y = rng.integers(0, 2, size=(60, 2)), np.arange(60) % 2
    base = StableClassifier(epochs=1).fit(x, y)
    x[0] = 1000
    successor = StableClassifier(method="warm_start", reference=base, epochs=1).fit(x, y)
    assert successor.scaling_ is None


@pytest.mark.filterwarnings("ignore:X has numbers up to")  # which is what this is about
def test_what_only_asks_a_reference_scales_by_itself():
    x, x_test, y, y_test = raw_wine()
    base = StableClassifier(make_factory("mlp"), epochs=1).fit(x, y)  # which does not scale
    model = StableClassifier(method="anchor(a=0.1)", reference=base, random_state=0).fit(x, y)
    assert model.score(x_test, y_test) > 0.9
    scaling = StableClassifier(random_state=0).fit(x, y)
    own = StableClassifier(make_factory("mlp"), method="anchor", reference=scaling, epochs=1)
    assert own.fit(x, y).scaling_ is None


def test_unlabelled_rows_are_scaled_too():
    x, x_test, y, y_test = raw_wine()
    base = StableClassifier(random_state=0).fit(x, y)
    model = StableClassifier(method="anchor", reference=base, random_state=0)
    model.fit(x[:50], y[:50], X_unlabelled=x[50:])
    assert model.score(x_test, y_test) > 0.9


def test_a_code_in_a_column_of_mostly_zeros_does_not_hide_the_rest(rng):
    counts = np.where(rng.random(5000) < 0.8, 0, rng.integers(1, 6, 5000))[:, None].astype(float)
    alone = learn_scaling(counts).apply(counts)[1:]
    counts[0] = -999
    assert np.ptp(learn_scaling(counts).apply(counts)[1:]) > np.ptp(alone) / 4
