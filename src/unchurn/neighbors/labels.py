"""`knn_labels`: the mean label of every point's nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy.typing as npt

from unchurn.core.arrays import Float32, IntArray
from unchurn.neighbors.index import KNNLabels
from unchurn.neighbors.inputs import Neighbours


@overload
def knn_labels(
    embeddings: npt.ArrayLike,
    labels: npt.ArrayLike,
    k: int,
    *,
    n_classes: int | None = None,
    engine: str = "auto",
    workers: int | None = None,
    progress: bool = False,
) -> Float32: ...
@overload
def knn_labels(
    embeddings: npt.ArrayLike,
    labels: npt.ArrayLike,
    k: Sequence[int] | IntArray,
    *,
    n_classes: int | None = None,
    engine: str = "auto",
    workers: int | None = None,
    progress: bool = False,
) -> list[Float32]: ...
def knn_labels(
    embeddings: npt.ArrayLike,
    labels: npt.ArrayLike,
    k: Neighbours,
    *,
    n_classes: int | None = None,
    engine: str = "auto",
    workers: int | None = None,
    progress: bool = False,
) -> Float32 | list[Float32]:
    """The mean one-hot label of the k nearest neighbours of every point, including itself.

    The neighbourhood is the closed ball N_k(x) of Definition 2 of Bahri & Jiang (2021): *all*
    points whose distance to x is at most the k-th smallest one. So x itself counts, and so does
    every tie at that distance. Distances are exact: squared differences of the original
    coordinates, summed in float64 in coordinate order. The result is the same for any number of
    threads.

    Parameters
    ----------
    embeddings
        (n, D) numbers; in the paper, the logits of the reference model. (n,) means D = 1.
    labels
        n class numbers, 0 … n_classes − 1.
    k
        The number of neighbours, 1 … n. For a sequence, a single search answers for all its values.
    n_classes
        The number of columns of the result; the largest label plus one if not given.
    engine
        How neighbours are found. All engines but the last two give the exact answer. "auto" chooses
        "kdtree" up to 20 dimensions, where it was measured to be faster; "brute" for more
        dimensions or up to 1000 points; and "torch" for a tensor that is not on the CPU. It never
        chooses an approximate engine.

        * "kdtree": our own kernel, for few dimensions; needs Numba (`pip install 'unchurn[knn]'`).
        * "brute": blocked matrix products, for many dimensions. Faster with Numba; without it,
          "auto" uses it for few dimensions, too.
        * "faiss": FAISS's flat index proposes candidates (`pip install 'unchurn[faiss]'`).
        * "torch": blocked search on the tensor's own device. Tested on the CPU only.
        * "ivf", "hnsw": FAISS's approximate indexes. A warning gives their recall and the error of
          the labels, measured on some rows.
    workers
        The number of threads; as many as this process may use if not given.
    progress
        Show a bar with the time left, if stderr is a terminal.

    Returns
    -------
    array
        (n, n_classes) float32, or a list of them, one per k.

    Examples
    --------
    >>> knn_labels([[0.0], [1.0], [2.0]], labels=[0, 1, 1], k=2)  # the middle point has a tie
    array([[0.5       , 0.5       ],
           [0.33333334, 0.6666667 ],
           [0.        , 1.        ]], dtype=float32)
    """
    index = KNNLabels(k, n_classes=n_classes, engine=engine, workers=workers, progress=progress)
    return index.fit_transform(embeddings, labels)
