"""`sharded_knn_labels`: k-NN labels of very many points, searched on several machines."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy.typing as npt

from unchurn.core.arrays import Float32, as_whole
from unchurn.core.errors import InputError
from unchurn.core.executors import Call, Executor
from unchurn.neighbors.index import KNNLabels
from unchurn.neighbors.inputs import Neighbours

# Points per call: they take the kd-tree a second among a million points of 10 dimensions.
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
    """Compute `knn_labels` in several calls, each run by an executor, such as a Ray cluster.

    The index is built here and shared: every node of a Ray cluster holds it once, in memory that
    all its processes read. Each call searches the whole index for `rows` points, so the result
    equals that of `knn_labels` to the bit, ties included.

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
    order = index.search_order()  # points of one call lie close and share most of their search
    step = as_whole(rows, 1, "rows")
    parts = [order[start : start + step] for start in range(0, len(order), step)]
    shared = on.share(index)
    calls = deque(
        Call(number, KNNLabels.answer_some, (shared, part)) for number, part in enumerate(parts)
    )
    answers = index.room_for(len(order))
    for number, answer in on.execute(calls, _killed):
        answers[:, parts[number]] = answer
    return index.assemble(answers)


def _killed() -> Any:
    raise InputError(
        "a search for k-NN labels was killed, most likely for want of memory: it needs nodes that "
        "hold the whole index"
    )
