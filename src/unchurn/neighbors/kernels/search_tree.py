"""Numba kernels that search a kd-tree, leaf by leaf, for the queries of one leaf at a time."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from unchurn.core.arrays import Array, IntArray
from unchurn.neighbors.kernels.count import (
    FEW,
    LARGEST,
    Slack,
    answer,
    at_most,
    bracket,
    count_within,
)
from unchurn.neighbors.kernels.jit import exact, exact_inline, rough, rough_inline
from unchurn.neighbors.kernels.points import LEAF, LabelledPoints

# A query's first bound comes from this many times k points next to it. In few dimensions these are
# most of its neighbours; in many, a tighter bound pays off.
SEEDS_IN_FEW, FEW_DIMENSIONS, SEEDS_IN_MANY = 2, 4, 8
ROW = np.uint64(LEAF)


class Tree(NamedTuple):
    """Points by leaf (leaves, D, LEAF), and boxes of all nodes (2·leaves − 1, 2, D)."""

    leaves: Array
    nodes: Array


@rough_inline
def leaf_distances(flat: Array, start: int, query: Array, out: Array, at: int) -> None:
    """Rough squared distances of a query to a leaf's (D, LEAF) points, four dimensions in a sweep.

    Offsets are unsigned: otherwise Numba would check for negative ones and vectorise nothing.
    """
    n_dimensions, rest = query.size, query.size % 4
    first, to = np.uint64(start), np.uint64(at)
    if rest == 0:
        for i in range(LEAF):
            out[to + np.uint64(i)] = 0
    elif rest == 1:
        a = query[0]
        for i in range(LEAF):
            x = flat[first + np.uint64(i)] - a
            out[to + np.uint64(i)] = x * x
    elif rest == 2:
        a, b = query[0], query[1]
        for i in range(LEAF):
            place = first + np.uint64(i)
            x, y = flat[place] - a, flat[place + ROW] - b
            out[to + np.uint64(i)] = x * x + y * y
    else:
        a, b, c = query[0], query[1], query[2]
        for i in range(LEAF):
            place = first + np.uint64(i)
            x, y, z = flat[place] - a, flat[place + ROW] - b, flat[place + ROW + ROW] - c
            out[to + np.uint64(i)] = x * x + y * y + z * z
    first += np.uint64(rest * LEAF)
    for j in range(rest, n_dimensions, 4):
        a, b, c, d = query[j], query[j + 1], query[j + 2], query[j + 3]
        for i in range(LEAF):
            place = first + np.uint64(i)
            x, y = flat[place] - a, flat[place + ROW] - b
            z, w = flat[place + ROW + ROW] - c, flat[place + ROW + ROW + ROW] - d
            out[to + np.uint64(i)] += (x * x + y * y) + (z * z + w * w)
        first += np.uint64(4 * LEAF)


@rough
def seed_distances(flat: Array, leaf: int, n_points: int, query: Array, out: Array) -> float:
    """Rough squared distances of n points, from that leaf on; returns the largest."""
    size = query.size * LEAF
    for i in range((n_points + LEAF - 1) // LEAF):
        leaf_distances(flat, (leaf + i) * size, query, out, i * LEAF)
    farthest: float = out[0]
    for i in range(n_points):
        farthest = out[i] if out[i] > farthest else farthest
    return farthest


@rough
def scan(
    flat: Array,
    leaves: IntArray,
    gaps: Array,
    reach: float,
    query: Array,
    collect: float,
    near: Array,
    values: Array,
    places: IntArray,
) -> int:
    """List the points up to the rough distance `collect`, of leaves in reach; return how many."""
    size, n_near = query.size * LEAF, 0
    for which in range(leaves.size):
        if gaps[which] > reach:
            continue
        leaf_distances(flat, leaves[which] * size, query, near, 0)
        some = np.int32(0)
        for i in range(near.size):
            if near[i] <= collect:
                some = np.int32(1)
        if some == 0:
            continue
        place = np.int32(leaves[which] * LEAF)
        for i in range(LEAF):
            values[n_near] = near[i]
            places[n_near] = place + np.int32(i)
            n_near += near[i] <= collect
    return n_near


@rough
def box_distances(lows: Array, highs: Array, query: Array, out: Array) -> None:
    """Rough squared distances to boxes, whose corners are (D, boxes)."""
    out[:] = 0
    for j in range(query.size):
        low, high, x = lows[j], highs[j], query[j]
        for i in range(out.size):
            gap = max(max(low[i] - x, x - high[i]), 0)
            out[i] += gap * gap


@exact_inline
def box_to_box(box: Array, other: Array) -> float:
    """Squared distance of two boxes (2, D)."""
    total = 0.0
    for j in range(box.shape[1]):
        gap = max(box[0, j] - other[1, j], other[0, j] - box[1, j], 0.0)
        total += gap * gap
    return total


@exact
def nearest_leaf(nodes: Array, n_leaves: int, box: Array) -> int:
    """A leaf near the box, found by always descending to the nearer child."""
    node, a, b = 0, 0, n_leaves
    while b - a > 1:
        middle = (a + b) // 2
        left, right = node + 1, node + 2 * (middle - a)
        if box_to_box(nodes[left], box) <= box_to_box(nodes[right], box):
            node, b = left, middle
        else:
            node, a = right, middle
    return a


@exact
def leaves_within(
    nodes: Array,
    n_leaves: int,
    box: Array,
    limit: float,
    found: IntArray,
    lows: Array,
    highs: Array,
) -> int:
    """List the leaves within √limit of the box, and their corners; return their number."""
    n_found, top = 0, 0
    todo = np.empty((64, 3), np.int64)
    todo[0] = 0, 0, n_leaves
    while top >= 0:
        node, a, b = todo[top]
        top -= 1
        if box_to_box(nodes[node], box) > limit:
            continue
        middle = (a + b) // 2
        if b - a == 1:
            found[n_found] = a
            lows[:, n_found] = nodes[node, 0]
            highs[:, n_found] = nodes[node, 1]
            n_found += 1
        else:
            todo[top + 1] = node + 2 * (middle - a), middle, b
            todo[top + 2] = node + 1, a, middle
            top += 2
    return n_found


@exact
def search_leaves(
    first: int,
    last: int,
    groups: Tree,
    tree: Tree,
    query_points: Array,
    rows: IntArray,
    labelled: LabelledPoints,
    ks: IntArray,
    slack: Slack,
    answers: Array,
) -> None:
    """Answer the queries in leaves first … last − 1 of `groups`, from the points of `tree`.

    The queries of a leaf share what is found for all of them: the leaves next to it, whose points
    give each query a bound on its k-th distance, and the list of leaves within the largest bound.
    slack.absolute is for points of norm 1; no point of the tree has a larger norm.
    """
    n_leaves, n_dimensions, _ = tree.leaves.shape
    number, flat, k = tree.leaves.dtype.type, tree.leaves.reshape(-1), ks[0]
    seeds_per_k = SEEDS_IN_FEW if n_dimensions <= FEW_DIMENSIONS else SEEDS_IN_MANY
    window = min(n_leaves, 1 + (seeds_per_k * k + LEAF - 1) // LEAF)
    room = n_leaves * LEAF
    values, places = np.empty(room + LEAF, number), np.empty(room + LEAF, np.int32)
    weights = np.empty(room + LEAF if labelled.weighted else 1, np.int32)
    edge = (np.empty(room + 1), np.empty(room + 1, np.int32), np.empty(room + 1, np.int32))
    near, counts = np.empty(LEAF, number), np.empty(answers.shape[2], np.int64)
    found, gaps = np.empty(n_leaves, np.int64), np.empty(n_leaves, number)
    lows, highs = (
        np.empty((n_dimensions, n_leaves), number),
        np.empty((n_dimensions, n_leaves), number),
    )
    query, box = np.empty(n_dimensions, number), np.empty((2, n_dimensions), number)
    bounds = np.empty(LEAF, number)
    for group in range(first, last):
        members = min(LEAF, len(rows) - group * LEAF)
        queries = groups.leaves[group]
        norm = 0.0
        for j in range(n_dimensions):
            low = high = queries[j, 0]
            for i in range(members):
                low, high = min(low, queries[j, i]), max(high, queries[j, i])
            box[0, j], box[1, j] = low, high
            norm += max(abs(low), abs(high)) ** 2
        error = Slack(slack.relative, slack.absolute * (1 + sqrt(norm)), slack.constant)

        start = nearest_leaf(tree.nodes, n_leaves, box) - window // 2
        start = max(0, min(start, n_leaves - window))
        seeds, seed_weights = values[: window * LEAF], labelled.weights[start * LEAF :]
        n_seeds = min(window * LEAF, len(labelled.points) - start * LEAF)
        farthest = number(0)
        for i in range(members):
            for j in range(n_dimensions):
                query[j] = queries[j, i]
            high = seed_distances(flat, start, n_seeds, query, seeds)
            total = count_within(seeds, seed_weights, labelled.weighted, high)
            bounds[i] = bracket(
                seeds, seed_weights, labelled.weighted, k, high, total, max(FEW, k // 8)
            )[1]
            farthest = max(farthest, bounds[i])

        # Boxes and points are off by the same roundings, three times `relative` at the most.
        limit = at_most(farthest, error) * (1 + 3 * slack.relative)
        n_found = leaves_within(tree.nodes, n_leaves, box, limit, found, lows, highs)
        for i in range(members):
            for j in range(n_dimensions):
                query[j] = queries[j, i]
            box_distances(lows, highs, query, gaps[:n_found])
            collect = number(min(at_most(bounds[i], error) * (1 + slack.relative), LARGEST))
            reach = collect * number(1 + 3 * slack.relative)
            n_near = scan(flat, found[:n_found], gaps, reach, query, collect, near, values, places)
            if labelled.weighted:
                for j in range(n_near):
                    weights[j] = labelled.weights[places[j]]
            position = group * LEAF + i
            answer(
                values[:n_near],
                places,
                weights,
                ks,
                bounds[i],
                error,
                query_points[position],
                labelled,
                edge,
                counts,
                answers,
                rows[position],
            )
