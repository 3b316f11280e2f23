import warnings

import numpy as np
import pytest
import torch

from unchurn import InputError, KNNLabels, knn_labels
from unchurn.neighbors import index as module
from unchurn.neighbors.search.faiss import ApproximateWarning

ENGINES = ("kdtree", "brute", "numpy", "faiss", "torch")


@pytest.fixture(params=ENGINES)
def engine(request, monkeypatch):
    if request.param == "numpy":
        return "brute"
    monkeypatch.setattr(module, "SMALL", 0)
    return request.param


def by_table(points, labels, queries, k, n_classes):
    """The definition, by the table of all distances."""
    distances = np.zeros((len(queries), len(points)))
    for own, column in zip(queries.T, points.T, strict=True):
        distances += (own[:, None] - column) ** 2
    inside = distances <= np.sort(distances, axis=1)[:, k - 1 : k]
    counts = inside.astype(float) @ np.eye(n_classes)[labels]
    return (counts / inside.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("d", [1, 10, 50])
@pytest.mark.parametrize("scale", [1, 1e7, 1e60])
def test_new_points_against_a_fitted_index(engine, d, scale, rng):
    points, labels = rng.integers(0, 5, (300, d)) + 0.1, rng.integers(0, 3, 300)
    queries = np.vstack([rng.integers(0, 5, (70, d)) * scale + 0.1, points[:5]])
    for k in (1, 7, 300):
        result = KNNLabels(k, engine=engine).fit(points, labels).transform(queries)
        np.testing.assert_array_equal(result, by_table(points, labels, queries, k, 3))


def test_the_fitted_points_give_what_knn_labels_gives(engine, rng):
    points, labels = rng.normal(size=(100, 3)), rng.integers(0, 3, 100)
    index = KNNLabels([1, 9], n_classes=5, engine=engine).fit(points, labels)
    expected = knn_labels(points, labels, [1, 9], n_classes=5)
    np.testing.assert_array_equal(index.transform(points), expected)
    np.testing.assert_array_equal(index.fit_transform(points, labels), expected)
    assert index.n_classes_ == 5


def test_new_points_are_checked():
    with pytest.raises(InputError, match="not fitted"):
        KNNLabels(3).transform([[0.0]])
    index = KNNLabels(3, workers=2).fit([[0.0], [1.0], [5.0]], [0, 1, 1])
    assert index.quality_ is None
    with pytest.raises(InputError, match="embeddings have 2 columns, the fitted 1"):
        index.transform([[0.0, 1.0]])
    with pytest.raises(InputError, match="squared distances overflow"):
        index.transform([[1e200]])


def test_auto_is_exact_and_fits_the_data(monkeypatch):
    def chosen(n, d):
        labels = np.zeros(n, int)
        return KNNLabels(1).fit(np.random.default_rng(0).normal(size=(n, d)), labels).engine_

    assert chosen(1001, 2) == chosen(1001, 20) == "kdtree"
    assert chosen(1000, 2) == chosen(1001, 21) == "brute"
    monkeypatch.setattr(module, "find_spec", lambda name: None)  # as without Numba
    assert chosen(1001, 2) == "brute"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "annoy"}, "there is no engine 'annoy': choose one of auto, kdtree"),
        ({"workers": 0}, "workers must be a whole number of at least 1, not 0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        knn_labels([[0.0], [1.0]], [0, 1], 1, **options)


@pytest.mark.parametrize("engine", ["ivf", "hnsw"])
def test_approximate_engines_tell_what_they_miss(engine, rng):
    points, labels = rng.normal(size=(2000, 20)), rng.integers(0, 3, 2000)
    with pytest.warns(ApproximateWarning, match=r"recall .* labels off by .* on 1,000 rows"):
        index = KNNLabels(5, engine=engine).fit(points, labels)
    exact = knn_labels(points, labels, 5)
    errors = np.abs(index.transform(points) - exact).sum(axis=1) / 2
    assert index.quality_.recall < 1 if engine == "ivf" else index.quality_.recall > 0.9
    np.testing.assert_allclose(index.quality_.mean_error, errors.mean(), atol=0.05)
    with warnings.catch_warnings():  # too few points for one cell: all are probed
        warnings.simplefilter("ignore")
        few = knn_labels(points[:30], labels[:30], 3, engine=engine)
    np.testing.assert_array_equal(few, knn_labels(points[:30], labels[:30], 3))


def test_a_tensor_is_searched_on_its_own_device(rng):
    points, labels = rng.normal(size=(500, 4)).astype(np.float32), rng.integers(0, 3, 500)
    index = KNNLabels(5, engine="torch").fit(torch.tensor(points), torch.tensor(labels))
    np.testing.assert_array_equal(
        index.transform(torch.tensor(points)), knn_labels(points, labels, 5)
    )
