import numpy as np

from unchurn import knn_labels
from unchurn.neighbors.distinct import collapse, distinct, hash_rows


def test_equal_rows_are_one_point(rng):
    points = rng.integers(-1, 2, (200, 3)) * 0.5
    points[points == 0] = rng.choice([0.0, -0.0], np.count_nonzero(points == 0))
    found, which = distinct(points)
    np.testing.assert_array_equal(found[which], points)
    assert len(found) == len({tuple(row) for row in points.tolist()})


def test_rows_without_equals_stay_as_they_are():
    points = np.array([[3.0, 1.0], [0.0, 0.0], [1.0, 3.0]])
    found, which = distinct(points)
    assert which is None
    np.testing.assert_array_equal(found, points)


def test_labels_are_counted_at_each_point():
    points, histogram, which = collapse(
        np.array([[1.0], [0.0], [1.0], [1.0]]), np.array([2, 0, 2, 1]), 3
    )
    assert points[which].tolist() == [[1.0], [0.0], [1.0], [1.0]]
    assert histogram.toarray()[which].tolist() == [[0, 1, 2], [1, 0, 0], [0, 1, 2], [0, 1, 2]]


def of_one_hash(first: float, second: float, other: float) -> np.ndarray:
    """Two rows of one hash: (first, second), and `other` with what undoes its difference.

    The hash of two columns is a function of (that of the first one) xor (the second one's bits).
    """
    state = hash_rows(np.array([[first], [other]]))
    bits = np.array([second]).view(np.uint64) ^ state[0] ^ state[1]
    return np.array([[first, second], [other, bits.view(np.float64)[0]]])


def test_rows_of_one_hash_are_told_apart(rng):
    pairs = (of_one_hash(1.0, 2.0, other) for other in rng.normal(size=1000))
    two = next(pair for pair in pairs if (np.abs(pair) < 1e100).all())
    assert len(set(hash_rows(two).tolist())) == 1
    points = np.concatenate([two, [[5.0, 5.0]], two])
    found, which = distinct(points)
    np.testing.assert_array_equal(found[which], points)
    assert len(found) == 3
    labels = [0, 1, 2, 0, 1]
    np.testing.assert_array_equal(knn_labels(points, labels, 1), np.eye(3)[labels])
