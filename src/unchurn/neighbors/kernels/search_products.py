"""Numba kernels that list each query's near points from matrix products, chunk by chunk."""

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
from unchurn.neighbors.kernels.jit import exact, exact_inline, rough
from unchurn.neighbors.kernels.points import LEAF, LabelledPoints


class Lists(NamedTuple):
    """For each query of a block: rough distances and places so far, their number, and its bound."""

    values: Array  # (queries, room)
    places: IntArray
    sizes: IntArray
    bounds: Array


@exact_inline
def brute_slack(slack: Slack, own_norm: float) -> Slack:
    """The slack of a query with this squared norm."""
    return Slack(
        slack.relative,
        slack.absolute * (1 + sqrt(own_norm)),
        slack.constant * (1 + own_norm),
    )


@rough
def add_near(
    products: Array,
    row: int,
    start: int,
    norms: Array,
    own: float,
    collect: float,
    near: Array,
    values: Array,
    places: IntArray,
    size: int,
) -> int:
    """Add the points of a chunk up to the rough distance `collect` to a list; return its new size.

    Offsets are unsigned: otherwise Numba would check for negative ones and vectorise nothing.
    """
    width, of = products.shape[1], np.uint64(row)
    for first in range(0, width, near.size):
        part = min(near.size, width - first)
        at, norm = np.uint64(first), np.uint64(start + first)
        some = np.int32(0)
        for i in range(part):
            j = np.uint64(i)
            near[i] = products[of, at + j] + (norms[norm + j] + own)
        for i in range(part):
            if near[i] <= collect:
                some = np.int32(1)
        if some == 0:
            continue
        for i in range(part):
            values[size] = max(near[i], 0)
            places[size] = np.int32(start + first + i)
            size += near[i] <= collect
    return size


@exact
def sift(
    products: Array,
    start: int,
    norms: Array,
    own_norms: Array,
    k: int,
    slack: Slack,
    labelled: LabelledPoints,
    lists: Lists,
) -> None:
    """Add to each query's list the points of a chunk, from `start`, that are within its bound.

    `products` are −2xy; `slack` is for points of norm 1 and a query at 0. A list that cannot be
    narrowed enough to take the next chunk is given up: its size becomes −1.
    """
    room = lists.values.shape[1] - products.shape[1] - LEAF
    number = products.dtype.type
    near, weights = np.empty(2 * LEAF, number), np.empty(lists.values.shape[1], np.int32)
    for row in range(len(products)):
        size, values, places = lists.sizes[row], lists.values[row], lists.places[row]
        if size < 0:
            continue
        error, own = brute_slack(slack, own_norms[row]), own_norms[row]
        collect = number(min(at_most(lists.bounds[row], error) * (1 + 4 * slack.relative), LARGEST))
        size = add_near(products, row, start, norms, own, collect, near, values, places, size)
        if size > min(2 * k + LEAF, room):  # early: a loose bound lets too many through
            for j in range(size):
                weights[j] = labelled.weights[places[j]]
            high = number(0)
            for j in range(size):
                high = max(high, values[j])
            total = count_within(values[:size], weights, True, high)
            if total >= k:
                few = max(FEW, k // 8)
                high = bracket(values[:size], weights, True, k, high, total, few)[1]
                lists.bounds[row] = min(high, lists.bounds[row])
                collect = number(at_most(lists.bounds[row], error) * (1 + 4 * slack.relative))
                kept = 0
                for j in range(size):
                    values[kept], places[kept] = values[j], places[j]
                    kept += values[j] <= collect
                size = kept
        lists.sizes[row] = size if size <= room else -1


@exact
def finish(
    rows: IntArray,
    query_points: Array,
    own_norms: Array,
    ks: IntArray,
    slack: Slack,
    labelled: LabelledPoints,
    lists: Lists,
    answers: Array,
) -> None:
    """Answer each query from its list, unless that was given up."""
    room = lists.values.shape[1]
    weights, counts = np.empty(room, np.int32), np.empty(answers.shape[2], np.int64)
    edge = (np.empty(room + 1), np.empty(room + 1, np.int32), np.empty(room + 1, np.int32))
    for row in range(len(query_points)):
        size, values, places = lists.sizes[row], lists.values[row], lists.places[row]
        if size < 0:
            continue
        high = lists.values.dtype.type(0)
        for j in range(size):
            weights[j] = labelled.weights[places[j]]
            high = max(high, values[j])
        answer(
            values[:size],
            places,
            weights,
            ks,
            min(high, lists.bounds[row]),
            brute_slack(slack, own_norms[row]),
            query_points[row],
            labelled,
            edge,
            counts,
            answers,
            rows[row],
        )
