"""`sharded_knn_labels`: the k-NN labels of more points than one machine wants to search alone."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import IntArray, whole
from unchurn.core.errors import InputError
from unchurn.core.executors import Call, Executor
from unchurn.neighbors.index import KNNLabels
from unchurn.neighbors.inputs import Neighbours
from unchurn.neighbors.search.base import Float32

# Points of one call: a second of the kd-tree's time among a million points of 10 dimensions.
ROWS = 1 << 14


def sharded_knn_labels(
    embeddings: npt.ArrayLike,
    labels: npt.ArrayLike,
    k: Neighbours,
    *,
    on: Executor,
    n_classes: int | None = None,
    rows: int = ROWS,
) -> Float32 | list[Float32]:
    """`knn_labels`, whose points are searched for a few at a time, wherever an executor runs calls.

    The index is made here and shared: every node of a Ray cluster holds it once, in memory that all
    its processes read. Each call asks it for `rows` points, so the result is that of `knn_labels`
    to the bit: every k-th distance, and every tie at it, is found among all points.

    Examples
    --------
    >>> from unchurn.core.executors import make_executor
    >>> with make_executor("local", workers=1) as executor:  # or "ray", ray_address="auto"
    ...     sharded_knn_labels([[0.0], [1.0], [2.0]], labels=[0, 1, 1], k=2, on=executor)
    array([[0.5       , 0.5       ],
           [0.33333334, 0.6666667 ],
           [0.        , 1.        ]], dtype=float32)
    """
    index = KNNLabels(k, n_classes=n_classes, workers=1).fit(embeddings, labels)
    n = len(index._points[0])
    # In a tree's own order, points of one call lie close together and share most of their search.
    order: IntArray = getattr(index._index, "order", np.arange(n))
    step = whole(rows, 1, "rows")
    parts = [order[start : start + step] for start in range(0, n, step)]
    shared = on.share(index)
    calls = deque(Call(number, _search, (shared, part)) for number, part in enumerate(parts))
    answers = np.empty((len(index._falling()), n, index.n_classes_), np.float32)
    for number, answer in on.execute(calls, _killed):
        answers[:, parts[number]] = answer
    return index._deal(answers, index._which)


def _search(index: KNNLabels, part: IntArray) -> Float32:
    """The answers for some of the index's own points."""
    points, _ = index._points
    return index._index.answer(points[part], index._falling(), lambda _: None)


def _killed() -> Any:
    raise InputError(
        "a search for k-NN labels was killed, most likely for want of memory: it needs nodes that "
        "hold the whole index"
    )
