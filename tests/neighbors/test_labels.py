import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import unchurn
from unchurn.core.errors import InputError
from unchurn.neighbors import index
from unchurn.neighbors.search import kdtree, placement, products, proposals

EXACT = ("kdtree", "brute", "numpy", "faiss", "torch")


@pytest.fixture(params=EXACT)
def knn_labels(request, monkeypatch):
    """`knn_labels` by each engine, whatever the number of dimensions and of points."""
    if request.param == "numpy":  # what "brute" is for few points, or without Numba
        return partial(unchurn.knn_labels, engine="brute")
    monkeypatch.setattr(index, "SMALL", 0)
    return partial(unchurn.knn_labels, engine=request.param)


def brute_force(points, labels, k, n_classes):
    """The definition, in plain Python floats: no NumPy, no shortcuts."""
    rows = [[float(value) for value in row] for row in points]
    means = []
    for x in rows:
        distances = []
        for z in rows:
            total = 0.0
            for a, b in zip(x, z, strict=True):
                total += (a - b) * (a - b)
            distances.append(total)
        radius = sorted(distances)[k - 1]
        inside = [y for y, d in zip(labels, distances, strict=True) if d <= radius]
        means.append([inside.count(c) / len(inside) for c in range(n_classes)])
    return np.array(means, np.float32)


# Few distinct values: ties and duplicates everywhere, but also rounding, offsets and underflow.
VALUES = {
    "lattice": st.integers(-2, 2).map(float),
    "thirds": st.integers(-3, 3).map(lambda v: v / 3 + 0.1),
    "offset": st.integers(-2, 2).map(lambda v: 1e4 + v / 7),
    "tiny": st.sampled_from([0.0, -0.0, 1e-170, 2e-170, 1e-160, 5e-324]),
    "any": st.floats(-1e6, 1e6, width=32),
}


@pytest.mark.parametrize("values", VALUES)
def test_equals_brute_force(knn_labels, values):
    @given(st.data())
    def check(data):
        n, d = data.draw(st.integers(1, 25)), data.draw(st.integers(1, 4))
        points = data.draw(hnp.arrays(np.float64, (n, d), elements=VALUES[values]))
        labels = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2)))
        ks = sorted({1, n, data.draw(st.integers(1, n))})
        for k, result in zip(ks, knn_labels(points, labels, ks, n_classes=3), strict=True):
            np.testing.assert_array_equal(result, brute_force(points, labels.tolist(), k, 3))

    check()


def by_table(points, labels, k, n_classes):
    """The definition with NumPy, by the table of all distances: for more points."""
    points = np.asarray(points, np.float64)
    distances = np.zeros((len(points), len(points)))
    for column in points.T:
        distances += (column[:, None] - column) ** 2
    inside = distances <= np.sort(distances, axis=1)[:, k - 1 : k]
    counts = inside.astype(float) @ np.eye(n_classes)[labels]
    return (counts / inside.sum(axis=1, keepdims=True)).astype(np.float32)


DATA = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "two levels": lambda rng, shape: rng.integers(0, 2, shape),
    "five levels": lambda rng, shape: rng.integers(0, 5, shape),
    "offset": lambda rng, shape: rng.integers(0, 9, shape) / 7 + 1e4,
    "long tails": lambda rng, shape: np.exp(4 * rng.normal(size=shape)),
    "one outlier": lambda rng, shape: np.vstack([rng.normal(size=shape)[1:], [1e9] * shape[1]]),
    "clusters": lambda rng, shape: (
        1e3 * rng.integers(0, 3, (shape[0], 1)) + 1e-4 * rng.normal(size=shape)
    ),
    "float16": lambda rng, shape: rng.normal(size=shape).astype(np.float16),
}


@pytest.mark.parametrize("d", [1, 2, 3, 10, 17, 1000])
@pytest.mark.parametrize("data", DATA)
def test_equals_the_table_of_distances(knn_labels, d, data, rng):
    if d == 1000 and knn_labels.keywords["engine"] == "kdtree":
        pytest.skip("a tree in 1000 dimensions is of no use")
    n = 300 if d < 1000 else 100
    points, labels = DATA[data](rng, (n, d)), rng.integers(0, 4, n)
    ks = [1, 9, 60, n]
    for k, result in zip(ks, knn_labels(points, labels, ks, n_classes=4), strict=True):
        np.testing.assert_array_equal(result, by_table(points, labels, k, 4))


def test_all_points_at_one_distance(knn_labels):
    """Every point is a tie for every other: the whole set is everyone's neighbourhood."""
    labels = np.arange(40) % 3
    result = knn_labels(np.eye(40), labels, [1, 2])
    np.testing.assert_array_equal(result[0], np.eye(3, dtype=np.float32)[labels])
    share = np.bincount(labels) / 40
    np.testing.assert_allclose(result[1], np.tile(share, (40, 1)), rtol=1e-6)


@pytest.mark.parametrize("workers", [1, 3])
def test_the_number_of_threads_does_not_matter(knn_labels, workers, rng):
    points, labels = rng.normal(size=(3000, 5)), rng.integers(0, 3, 3000)
    np.testing.assert_array_equal(
        knn_labels(points, labels, 20, workers=workers), by_table(points, labels, 20, 3)
    )


def test_one_class(knn_labels):
    result = knn_labels(np.random.default_rng(0).normal(size=(50, 2)), np.zeros(50, int), [1, 7])
    np.testing.assert_array_equal(result, np.ones((2, 50, 1)))


def test_more_ties_than_a_list_holds(knn_labels, monkeypatch):
    """Queries whose ties overflow the first lists are searched again with the longest."""
    monkeypatch.setattr(products, "CHUNK", 16)
    points = np.vstack([np.zeros(10), np.repeat(np.eye(10), 30, axis=0), np.eye(10)[:3] * 2.5])
    points[1:301] += np.linspace(0, 1e-9, 300)[:, None]  # distinct, and all but equally far
    labels = np.arange(len(points)) % 3
    for k in (1, 2, 40):
        np.testing.assert_array_equal(knn_labels(points, labels, k), by_table(points, labels, k, 3))


def test_identical_points_share_one_label(knn_labels):
    result = knn_labels(np.zeros((5, 3)), [0, 0, 1, 1, 1], k=1)
    np.testing.assert_allclose(result, np.tile([0.4, 0.6], (5, 1)), rtol=1e-6)


def test_blocks_do_not_change_the_answer(knn_labels, monkeypatch, rng):
    points, labels = rng.integers(0, 6, (200, 3)), rng.integers(0, 3, 200)
    whole = knn_labels(points, labels, [1, 20])
    monkeypatch.setattr(kdtree, "LEAVES_AT_A_TIME", 1)
    monkeypatch.setattr(placement, "ROWS_AT_A_TIME", 7)
    monkeypatch.setattr(products, "QUERIES", 3)
    monkeypatch.setattr(products, "CHUNK", 50)
    monkeypatch.setattr(proposals, "BLOCK", 100)
    for one, other in zip(whole, knn_labels(points, labels, [1, 20]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_interrupted_search_leaves_the_interpreter_alive():
    """SciPy's own threads crash it: they go on writing into memory that is gone."""
    script = """
import os, signal, threading, time
import numpy as np
from unchurn import knn_labels
points = np.random.default_rng(0).normal(size=(30000, 10))
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        knn_labels(points, np.zeros(30000, int), 100)
except KeyboardInterrupt:
    time.sleep(1)
    print("alive")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "alive\n"


def test_several_k_from_one_search(knn_labels):
    @example(k=[3, 1, 3])
    @given(k=st.lists(st.integers(1, 30), min_size=1, max_size=4))
    def check(k):
        rng = np.random.default_rng(0)
        points, labels = rng.integers(0, 4, (30, 2)), rng.integers(0, 3, 30)
        together = knn_labels(points, labels, k)
        np.testing.assert_array_equal(knn_labels(points, labels, np.array(k)), together)
        for value, result in zip(k, together, strict=True):
            np.testing.assert_array_equal(result, knn_labels(points, labels, value))

    check()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, bool])
def test_any_numbers_will_do(knn_labels, dtype):
    points = np.array([[0, 1], [1, 1], [0, 0], [1, 0], [1, 1]], dtype)
    result = knn_labels(points, [0, 1, 1, 0, 1], 2)
    np.testing.assert_array_equal(result, brute_force(points, [0, 1, 1, 0, 1], 2, 2))


def test_shape_and_type_of_the_result(knn_labels):
    result = knn_labels([0.0, 1.0, 5.0], [0, 2, 2], 1, n_classes=4)
    assert result.shape == (3, 4)
    assert result.dtype == np.float32
    assert knn_labels([[0.0], [1.0]], [1, 0], 1).shape == (2, 2)


def test_far_rows_are_told_apart_however_close(knn_labels):
    """Distances that differ in the last place only are still ordered exactly."""
    step = np.nextafter(1.0, 2.0)
    points = [[0.0], [1.0], [-step]]
    np.testing.assert_array_equal(knn_labels(points, [0, 0, 1], 2)[0], [1, 0])
    np.testing.assert_array_equal(knn_labels(-np.array(points), [0, 0, 1], 2)[0], [1, 0])


@pytest.mark.parametrize(
    ("embeddings", "labels", "k", "message"),
    [
        ([[0.0], [1.0]], [0, 1], 3, "k must be from 1 to the number of points, 2, not 3"),
        ([[0.0], [1.0]], [0, 1], 0, "k must be from 1"),
        ([[0.0], [1.0]], [0, 1], 1.5, "k must be a whole number, not 1.5"),
        ([[0.0], [1.0]], [0, 1], True, "k must be a whole number, not True"),
        ([[0.0], [1.0]], [0, 1], [], "k is an empty sequence"),
        ([[0.0, 1.0], [np.nan, 0.0]], [0, 1], 1, "row 1 holds NaN or infinity"),
        ([[0.0], [1.0], [-np.inf]], [0, 1, 0], 1, "row 2 holds NaN or infinity"),
        ([[1e200], [-1e200]], [0, 1], 1, "squared distances overflow"),
        (np.zeros((2, 2, 2)), [0, 1], 1, r"must be \(n, D\)"),
        (np.zeros((2, 0)), [0, 1], 1, r"must be \(n, D\)"),
        ([["a"], ["b"]], [0, 1], 1, "must be numbers"),
        ([[0.0], [1.0]], [0], 1, "1 labels for 2 rows"),
        ([[0.0], [1.0]], [0, -1], 1, "label -1 at row 1"),
    ],
)
def test_bad_input_is_named(knn_labels, embeddings, labels, k, message):
    with pytest.raises(InputError, match=message):
        knn_labels(embeddings, labels, k)
