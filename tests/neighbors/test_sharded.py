"""In parts, the k-NN labels are those of one search, to the bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unchurn import InputError, knn_labels
from unchurn.core.executors.local import Local
from unchurn.neighbors.sharded import sharded_knn_labels

HERE = Local(1)


def data(n, d, *, values=None, seed=0):
    """Random points; of few `values`, they have ties and duplicates."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) if values is None else rng.integers(0, values, (n, d))
    return x.astype(np.float32), rng.integers(0, 3, n)


@given(st.integers(1, 40), st.integers(1, 3), st.integers(1, 4), st.integers(1, 15), st.data())
def test_ties_duplicates_and_any_parts(n, d, values, rows, draw):
    x, y = data(n, d, values=values, seed=n)
    ks = draw.draw(st.lists(st.integers(1, n), min_size=1, max_size=3))
    found = sharded_knn_labels(x, y, ks, on=HERE, n_classes=3, rows=rows)
    for ours, expected in zip(found, knn_labels(x, y, ks, n_classes=3), strict=True):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize(("d", "values"), [(3, None), (3, 6), (30, None), (30, 2)])
def test_compiled_engines_in_other_processes(d, values):
    x, y = data(1500, d, values=values)
    found = sharded_knn_labels(x, y, (10, 1500), on=Local(2), rows=400)
    for ours, expected in zip(found, knn_labels(x, y, (10, 1500)), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_one_k_gives_one_array():
    x, y = data(20, 2)
    np.testing.assert_array_equal(sharded_knn_labels(x, y, 3, on=HERE), knn_labels(x, y, 3))


def test_bad_input_is_refused():
    x, y = data(20, 2)
    with pytest.raises(InputError, match="k must be from 1 to the number of points, 20, not 21"):
        sharded_knn_labels(x, y, 21, on=HERE)
    with pytest.raises(InputError, match="rows must be a whole number of at least 1"):
        sharded_knn_labels(x, y, 2, on=HERE, rows=0)


def test_a_search_that_is_killed_says_so(monkeypatch):
    x, y = data(20, 2)
    monkeypatch.setattr(Local, "execute", lambda self, calls, killed: iter([(0, killed())]))
    with pytest.raises(InputError, match="a search for k-NN labels was killed"):
        sharded_knn_labels(x, y, 2, on=HERE)
