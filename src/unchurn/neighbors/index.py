"""`KNNLabels`: k-NN labels of new points, from an index that is built once."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Float32, Float64, IntArray, as_classes, as_whole, extent
from unchurn.core.errors import InputError
from unchurn.core.extras import needed_by
from unchurn.neighbors.distinct import collapse, distinct
from unchurn.neighbors.inputs import Neighbours, as_ks, as_points, check_spread
from unchurn.neighbors.search.base import Advance, Search
from unchurn.neighbors.search.proposals import by_products
from unchurn.neighbors.search.threads import n_workers

# Up to this dimension the kd-tree is faster than matrix products, even on normal data, where it can
# prune least. CPU time of brute divided by kdtree's, 30,000 rows, k = 10 / 100 / 500. Normal: 16
# dimensions 1.6 / 1.3 / 1.2, 20: 1.3 / 1.1 / 1.2, 24: 1.1 / 1.0 / 1.0, 32: 0.8 / 0.8 / 0.9.
# Clustered: 20: 9.5 / 6.3 / 3.4.
KDTREE_MAX_DIMENSIONS = 20
# Up to this many points, NumPy alone is faster than loading Numba.
SMALL = 1000
# New points farther away than this many times the width of the fitted ones exceed float32's range.
FAR = 1e12
APPROXIMATE = ("ivf", "hnsw")
ENGINES = ("auto", "kdtree", "brute", "faiss", "torch", *APPROXIMATE)


class KNNLabels:
    """An index that gives the mean label of the fitted points nearest to each new point.

    The parameters and the neighbourhood are those of `knn_labels`: all fitted points within the
    k-th smallest distance count, including every tie. A new point is not its own neighbour, unless
    it was fitted, too.

    Attributes
    ----------
    engine_
        The engine in use.
    n_classes_
        Number of columns of the results.
    quality_
        The recall of an approximate search and the error of its labels; None for an exact search.

    Examples
    --------
    >>> index = KNNLabels(k=2).fit([[0.0], [1.0], [2.0]], labels=[0, 1, 1])
    >>> index.transform([[1.75], [1.0]])  # from the second, 0 and 2 are equally far
    array([[0.        , 1.        ],
           [0.33333334, 0.6666667 ]], dtype=float32)
    """

    def __init__(
        self,
        k: Neighbours = 10,
        *,
        n_classes: int | None = None,
        engine: str = "auto",
        workers: int | None = None,
        progress: bool = False,
    ) -> None:
        self.k = k
        self.n_classes = n_classes
        self.engine = engine
        self.workers = workers
        self.progress = progress

    def fit(self, embeddings: npt.ArrayLike, labels: npt.ArrayLike) -> KNNLabels:
        """Build the index from (n, D) embeddings and their n class numbers."""
        points = as_points(embeddings)
        classes = as_classes(labels, self.n_classes, n=len(points))
        self._ks = as_ks(self.k, len(points))
        self._falling: IntArray = np.unique(self._ks)[::-1]  # each k once, largest first
        workers = n_workers(None if self.workers is None else as_whole(self.workers, 1, "workers"))
        device = getattr(embeddings, "device", None) if hasattr(embeddings, "detach") else None
        self.engine_ = _choose(self.engine, len(points), points.shape[1], device)
        self.n_classes_ = self.n_classes or int(classes.max()) + 1
        self._box = extent(points)
        # Equal points have equal answers: search once per distinct point, weighted by its labels.
        self._points, self._histogram, self._which = collapse(points, classes, self.n_classes_)
        with needed_by(f"engine={self.engine_!r}"):
            self._search = _make(self.engine_, self._points, self._histogram, workers, device)
        self.quality_ = None
        if self.engine_ in APPROXIMATE:
            from unchurn.neighbors.search.faiss import measure

            self.quality_ = measure(self._search, max(self._ks))  # type: ignore[arg-type]
        return self

    def transform(self, embeddings: npt.ArrayLike) -> Float32 | list[Float32]:
        """The mean labels of (rows, D) new points: (rows, n_classes) float32, or one per k."""
        if not hasattr(self, "_search"):
            raise InputError("this KNNLabels is not fitted: call fit first")
        queries = as_points(embeddings)
        low, high = self._box
        if queries.shape[1] != low.size:
            raise InputError(f"embeddings have {queries.shape[1]} columns, the fitted {low.size}")
        lowest, highest = extent(queries)
        check_spread(np.minimum(low, lowest), np.maximum(high, highest))
        queries, which = distinct(queries)
        with _progress(len(queries), self.progress) as advance:
            answers = self.room_for(len(queries))
            far = np.abs(queries - low).max(axis=1) > FAR * (high - low).max()
            if not far.all():
                answers[:, ~far] = self._search.answer(queries[~far], self._falling, advance)
            if far.any():
                exact = by_products(self._points, self._histogram)
                answers[:, far] = exact.answer(queries[far], self._falling, advance)
        return self._deal(answers, which)

    def fit_transform(
        self, embeddings: npt.ArrayLike, labels: npt.ArrayLike
    ) -> Float32 | list[Float32]:
        """Fit, and return the mean labels of the fitted points themselves, as `knn_labels` does."""
        self.fit(embeddings, labels)
        with _progress(len(self._points), self.progress) as advance:
            return self.assemble(self._search.answer(None, self._falling, advance))

    # The same in steps, for `sharded_knn_labels`: answers for some distinct points at a time.

    def search_order(self) -> IntArray:
        """The numbers of the distinct fitted points, ordered so that neighbours lie close."""
        order: IntArray = getattr(self._search, "order", np.arange(len(self._points)))
        return order

    def room_for(self, n_points: int) -> Float32:
        """An empty array for the answers for this many points."""
        return np.empty((len(self._falling), n_points, self.n_classes_), np.float32)

    def answer_some(self, numbers: IntArray) -> Float32:
        """The mean labels of some distinct fitted points: (distinct k, points, n_classes)."""
        return self._search.answer(self._points[numbers], self._falling, lambda _: None)

    def assemble(self, answers: Float32) -> Float32 | list[Float32]:
        """The result of `fit_transform`, from the answers for all distinct fitted points."""
        return self._deal(answers, self._which)

    def _deal(self, answers: Float32, which: IntArray | None) -> Float32 | list[Float32]:
        """One result for each requested k, from the answers for each distinct k and point."""
        number = {int(k): i for i, k in enumerate(self._falling)}
        results = [
            answers[number[k]] if which is None else answers[number[k]][which] for k in self._ks
        ]
        return results[0] if isinstance(self.k, int | np.integer) else results


def _progress(rows: int, show: bool) -> AbstractContextManager[Advance]:
    """A progress bar, if `show`."""
    if not show:
        return nullcontext(lambda _: None)
    from unchurn.core.progress import progress_bar

    return progress_bar("k-NN labels", rows)


def _choose(engine: str, n: int, n_dimensions: int, device: Any) -> str:
    """The engine to use; "auto" never chooses an approximate one."""
    if engine not in ENGINES:
        raise InputError(f"there is no engine {engine!r}: choose one of {', '.join(ENGINES)}")
    if engine != "auto":
        return engine
    if device is not None and device.type != "cpu":
        return "torch"
    few = n_dimensions <= KDTREE_MAX_DIMENSIONS
    return "kdtree" if few and n > SMALL and find_spec("numba") is not None else "brute"


def _make(engine: str, points: Float64, histogram: Any, workers: int, device: Any) -> Search:
    """Build the search of an engine; its module is imported only when needed."""
    if engine == "kdtree":
        from unchurn.neighbors.search.kdtree import KDTree

        return KDTree(points, histogram, workers)
    if engine == "torch":
        from unchurn.neighbors.search.torch import on_device

        return on_device(points, histogram, device or "cpu")
    if engine == "faiss":
        from unchurn.neighbors.search.faiss import flat

        return flat(points, histogram, workers)
    if engine in APPROXIMATE:
        from unchurn.neighbors.search.faiss import approximate

        return approximate(points, histogram, engine, workers)
    if len(points) > SMALL and find_spec("numba") is not None:
        from unchurn.neighbors.search.products import Brute

        return Brute(points, histogram, workers)
    return by_products(points, histogram)
