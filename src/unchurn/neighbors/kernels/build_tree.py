"""Numba kernels that sort points into the leaves of a kd-tree.

Leaf l holds the LEAF points at positions l·LEAF … of the order; only the last may hold fewer. The
tree over leaves a … b − 1 splits at (a + b) // 2, so that it needs no pointers: nodes are numbered
in preorder, a node's left child is the next node and its right one 2·(middle − a) further.
"""

from __future__ import annotations

import numpy as np

from unchurn.core.arrays import Array, IntArray
from unchurn.neighbors.kernels.jit import exact
from unchurn.neighbors.kernels.points import LEAF

# Points looked at to choose the dimension of a split.
SAMPLE = 128


@exact
def split(rows: Array, order: IntArray, keys: Array, a: int, b: int) -> None:
    """Split the points of leaves a … b − 1 at the middle leaf, in the dimension of most spread."""
    first, last, middle = a * LEAF, min(b * LEAF, len(order)), (a + b) // 2 * LEAF
    step = max(1, (last - first) // SAMPLE)
    widest, dimension = -1.0, 0
    for j in range(rows.shape[1]):
        shift = float(rows[order[first], j])
        total, squares, seen = 0.0, 0.0, 0
        for i in range(first, last, step):
            value = float(rows[order[i], j]) - shift
            total += value
            squares += value * value
            seen += 1
        spread = squares / seen - (total / seen) ** 2
        if spread > widest:
            widest, dimension = spread, j
    for i in range(first, last):
        keys[i] = rows[order[i], dimension]
    low, high = first, last - 1
    while low < high:  # quickselect (Hoare's partition: equal keys divide evenly)
        x, y, z = keys[low], keys[(low + high) // 2], keys[high]
        pivot = max(min(x, y), min(max(x, y), z))
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            break


@exact
def grow(rows: Array, order: IntArray, keys: Array, a: int, b: int) -> None:
    """Sort the points of leaves a … b − 1 into these leaves."""
    todo = [(a, b)]
    while todo:
        a, b = todo.pop()
        if b - a > 1:
            split(rows, order, keys, a, b)
            todo.append((a, (a + b) // 2))
            todo.append(((a + b) // 2, b))


@exact
def pack(rows: Array, order: IntArray, a: int, b: int, leaves: Array, boxes: Array) -> None:
    """Fill in leaves a … b − 1, (leaves, D, LEAF), and their boxes, (leaves, 2, D).

    Places without a point are filled with infinity.
    """
    for leaf in range(a, b):
        size = min(LEAF, len(order) - leaf * LEAF)
        leaves[leaf, :, size:] = np.inf
        for j in range(rows.shape[1]):
            low = high = rows[order[leaf * LEAF], j]
            for i in range(size):
                value = rows[order[leaf * LEAF + i], j]
                leaves[leaf, j, i] = value
                low, high = min(low, value), max(high, value)
            boxes[leaf, 0, j] = low
            boxes[leaf, 1, j] = high


@exact
def enclose(boxes: Array, nodes: Array) -> None:
    """Boxes of all nodes (2·leaves − 1, 2, D), in preorder, from those of the leaves."""
    n_leaves, _, n_dimensions = boxes.shape
    spans = np.empty((len(nodes), 2), np.int64)
    todo = [(0, 0, n_leaves)]
    while todo:
        node, a, b = todo.pop()
        spans[node, 0], spans[node, 1] = a, b
        middle = (a + b) // 2
        if b - a > 1:
            todo.append((node + 1, a, middle))
            todo.append((node + 2 * (middle - a), middle, b))
    for node in range(len(nodes) - 1, -1, -1):  # children before their parents
        a, b = spans[node]
        if b - a == 1:
            nodes[node] = boxes[a]
            continue
        left, right = node + 1, node + 2 * ((a + b) // 2 - a)
        for j in range(n_dimensions):
            nodes[node, 0, j] = min(nodes[left, 0, j], nodes[right, 0, j])
            nodes[node, 1, j] = max(nodes[left, 1, j], nodes[right, 1, j])
