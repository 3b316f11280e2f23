"""Numba kernels of the search: rough distances propose, exact ones decide.

Rough squared distances (float32 or rotated) come with a bound on their error, `Slack`. The k-th
smallest of them is bracketed by counting, not sorted out; what is surely inside the ball is counted
by label as it is, and only the few points within the slack of its edge are looked at exactly.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from unchurn.arrays import Array, IntArray
from unchurn.neighbors.jit import exact, exact_inline, rough, rough_inline
from unchurn.neighbors.stock import LEAF, Stock

# A bracket of the k-th distance that holds no more points than this is left to exact distances.
FEW = 8
# A query's first bound comes from this many times k points next to it: in few dimensions they are
# most of its neighbours, in many a tighter bound pays.
SEEDS_IN_FEW, FEW_DIMENSIONS, SEEDS_IN_MANY = 2, 4, 8
# Rough distances are less; what lies beyond is no point at all.
LARGEST = np.float32(3e38)
ROW = np.uint64(LEAF)


class Slack(NamedTuple):
    """Error of a rough squared distance r of points at distance d.

    √r is off by `absolute`, r itself by the fraction `relative` and by `floor`.
    """

    relative: float
    absolute: float
    floor: float


class Tree(NamedTuple):
    """Points by leaf (leaves, D, LEAF), and boxes of all nodes (2·leaves − 1, 2, D)."""

    blocks: Array
    nodes: Array


class Lists(NamedTuple):
    """Of each query of a block: rough distances and places kept so far, how many, and its bound."""

    values: Array  # (queries, room)
    places: IntArray
    sizes: IntArray
    bounds: Array


@exact_inline
def at_most(rough_value: float, slack: Slack) -> float:
    """No point farther than one at this rough distance, by its exact one, has more than this."""
    edge = sqrt((rough_value + slack.floor) / (1 - slack.relative)) + 2 * slack.absolute
    return edge * edge * (1 + slack.relative) + slack.floor


@exact_inline
def at_least(rough_value: float, slack: Slack) -> float:
    """What is below is surely nearer than what is above `rough_value`; −1 if nothing is."""
    rest = rough_value - slack.floor
    edge = sqrt(max(rest, 0.0) / (1 + slack.relative)) - 2 * slack.absolute
    return edge * edge * (1 - slack.relative) - slack.floor if edge > 0 else -1.0


@rough_inline
def count_within(values: Array, weights: IntArray, weighted: bool, limit: float) -> int:
    """How many points have a value of at most `limit`."""
    if weighted:
        total = 0
        for i in range(values.size):
            total += weights[i] if values[i] <= limit else 0
        return total
    count = np.int32(0)
    for i in range(values.size):
        count = np.int32(count + np.int32(values[i] <= limit))
    return int(count)


@exact_inline
def bracket(
    values: Array, weights: IntArray, weighted: bool, k: int, high: float, at_high: int, few: int
) -> tuple[float, float, int]:
    """Narrow low < k-th smallest value ≤ high, from `at_high` ≥ k points up to `high`.

    Until at most `few` points lie between, or no number does: guesses by interpolation, every
    third by bisection. Gives low, high and the points up to high.
    """
    number = values.dtype.type
    low, at_low, turn = number(-1), 0, 0
    while at_high - at_low > few:
        fraction = 0.5 if turn % 3 == 2 else (k - at_low - 0.5) / (at_high - at_low)
        start = max(low, number(0))
        guess = number(start + (high - start) * min(max(fraction, 0.02), 0.98))
        if not low < guess < high:
            break
        found = count_within(values, weights, weighted, guess)
        if found >= k:
            high, at_high = guess, found
        else:
            low, at_low = guess, found
        turn += 1
    return low, high, at_high


@exact_inline
def add_labels(places: IntArray, stock: Stock, counts: IntArray) -> int:
    """Count the labels of the points at these places; give their number."""
    labels, weights, total = stock.labels, stock.weights, 0
    for i in range(places.size):
        label, weight = labels[places[i]], weights[places[i]]
        total += weight
        if label >= 0:
            counts[label] += weight
        else:
            for j in range(stock.starts[-1 - label], stock.starts[-label]):
                counts[stock.mixed_labels[j]] += stock.mixed_counts[j]
    return total


@exact_inline
def exact_distance(point: Array, query: Array) -> float:
    """As `knn_labels` defines it."""
    total = 0.0
    for j in range(query.size):
        difference = point[j] - query[j]
        total += difference * difference
    return total


@exact_inline
def exact_kth(distances: Array, places: IntArray, weights: IntArray, k: int) -> float:
    """Distance within which k points are first reached, by comparison with pivots."""
    low, high, turn = -1.0, np.inf, 0
    while True:
        turn, pivot = (turn + 7919) % distances.size, -1.0
        for i in range(distances.size):
            pivot = distances[i + turn if i + turn < distances.size else i + turn - distances.size]
            if low < pivot < high:
                break
        below, upto = 0, 0
        for i in range(distances.size):
            below += weights[places[i]] if distances[i] < pivot else 0
            upto += weights[places[i]] if distances[i] <= pivot else 0
        if below >= k:
            high = pivot
        elif upto < k:
            low = pivot
        else:
            return pivot


@exact_inline
def settle(
    values: Array,
    places: IntArray,
    weights: IntArray,
    k: int,
    high: float,
    at_high: int,
    slack: Slack,
    query: Array,
    stock: Stock,
    edge: tuple[Array, IntArray, IntArray],
    counts: IntArray,
) -> tuple[float, int]:
    """Count the labels within the k-th distance of a query.

    `values` are the rough distances of all points up to at_most(high) and some beyond, at `places`.
    Gives the new `high` and `at_high`, which will do for smaller k.
    """
    low, high, at_high = bracket(values, weights, stock.weighted, k, high, at_high, FEW)
    sure = at_least(low, slack) if low >= 0 else -1.0
    possible = at_most(high, slack)
    distances, doubtful, inside = edge
    n_inside, n_doubtful = 0, 0
    for i in range(values.size):
        inside[n_inside] = places[i]
        n_inside += values[i] < sure
        doubtful[n_doubtful] = places[i]
        n_doubtful += sure <= values[i] <= possible
    count = add_labels(inside[:n_inside], stock, counts)
    points = stock.points
    for i in range(n_doubtful):
        distances[i] = exact_distance(points[doubtful[i]], query)
    radius = exact_kth(distances[:n_doubtful], doubtful, stock.weights, k - count)
    n_inside = 0
    for i in range(n_doubtful):
        inside[n_inside] = doubtful[i]
        n_inside += distances[i] <= radius
    add_labels(inside[:n_inside], stock, counts)
    return high, at_high


@exact_inline
def answer(
    values: Array,
    places: IntArray,
    weights: IntArray,
    ks: IntArray,
    high: float,
    slack: Slack,
    query: Array,
    stock: Stock,
    edge: tuple[Array, IntArray, IntArray],
    counts: IntArray,
    answers: Array,
    row: int,
) -> None:
    """Mean labels of one query for every k (in falling order) into answers (n_k, rows, L)."""
    at_high = count_within(values, weights, stock.weighted, high)
    for which in range(ks.size):
        counts[:] = 0
        high, at_high = settle(
            values, places, weights, ks[which], high, at_high, slack, query, stock, edge, counts
        )
        total = 0
        for c in range(counts.size):
            total += counts[c]
        for c in range(counts.size):
            answers[which, row, c] = counts[c] / total


@rough_inline
def leaf_distances(flat: Array, start: int, query: Array, out: Array, at: int) -> None:
    """Rough squared distances of the (D, LEAF) points of a leaf, four dimensions in one sweep.

    Offsets are unsigned: for others Numba looks out for negative ones, and nothing is vectorised.
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
    """Rough squared distances of n points, from that leaf on; gives the largest."""
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
    """List the points of these leaves, if they are in reach, up to the rough distance `collect`."""
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
    """A leaf that is near the box, by going down to the nearer child."""
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
    """List the leaves no farther than √limit from the box, and their corners; give their number."""
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
    stock: Stock,
    ks: IntArray,
    slack: Slack,
    answers: Array,
) -> None:
    """Answer the queries in leaves first … last − 1 of `groups`, from the points of `tree`.

    The queries of a leaf share what is found for all of them: the leaves next to it, whose points
    give each query a bound on its k-th distance, and the list of leaves within the largest bound.
    slack.absolute is that of points of norm 1; no point of the tree has more.
    """
    n_leaves, n_dimensions, _ = tree.blocks.shape
    number, flat, k = tree.blocks.dtype.type, tree.blocks.reshape(-1), ks[0]
    seeds_per_k = SEEDS_IN_FEW if n_dimensions <= FEW_DIMENSIONS else SEEDS_IN_MANY
    window = min(n_leaves, 1 + (seeds_per_k * k + LEAF - 1) // LEAF)
    room = n_leaves * LEAF
    values, places = np.empty(room + LEAF, number), np.empty(room + LEAF, np.int32)
    weights = np.empty(room + LEAF if stock.weighted else 1, np.int32)
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
        queries = groups.blocks[group]
        norm = 0.0
        for j in range(n_dimensions):
            low = high = queries[j, 0]
            for i in range(members):
                low, high = min(low, queries[j, i]), max(high, queries[j, i])
            box[0, j], box[1, j] = low, high
            norm += max(abs(low), abs(high)) ** 2
        error = Slack(slack.relative, slack.absolute * (1 + sqrt(norm)), slack.floor)

        start = nearest_leaf(tree.nodes, n_leaves, box) - window // 2
        start = max(0, min(start, n_leaves - window))
        seeds, seed_weights = values[: window * LEAF], stock.weights[start * LEAF :]
        n_seeds = min(window * LEAF, len(stock.points) - start * LEAF)
        farthest = number(0)
        for i in range(members):
            for j in range(n_dimensions):
                query[j] = queries[j, i]
            high = seed_distances(flat, start, n_seeds, query, seeds)
            total = count_within(seeds, seed_weights, stock.weighted, high)
            bounds[i] = bracket(
                seeds, seed_weights, stock.weighted, k, high, total, max(FEW, k // 8)
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
            if stock.weighted:
                for j in range(n_near):
                    weights[j] = stock.weights[places[j]]
            position = group * LEAF + i
            answer(
                values[:n_near],
                places,
                weights,
                ks,
                bounds[i],
                error,
                query_points[position],
                stock,
                edge,
                counts,
                answers,
                rows[position],
            )


@exact
def sift(
    products: Array,
    start: int,
    norms: Array,
    own_norms: Array,
    k: int,
    slack: Slack,
    stock: Stock,
    lists: Lists,
) -> None:
    """Add to each query's list the points of a chunk, from `start`, that are within its bound.

    `products` are −2xy; slack is that of points of norm 1 and a query at 0. A list that cannot be
    narrowed enough to take the next chunk is given up: its size becomes −1.
    """
    room, width = lists.values.shape[1] - products.shape[1] - LEAF, products.shape[1]
    number = products.dtype.type
    near, weights = np.empty(LEAF, number), np.empty(lists.values.shape[1], np.int32)
    for row in range(len(products)):
        size, values, places = lists.sizes[row], lists.values[row], lists.places[row]
        if size < 0:
            continue
        error, own = brute_slack(slack, own_norms[row]), own_norms[row]
        collect = number(min(at_most(lists.bounds[row], error) * (1 + 4 * slack.relative), LARGEST))
        for first in range(0, width, LEAF):
            part = min(LEAF, width - first)
            add_norms(products[row, first:], norms[start + first :], own, near[:part])
            if count_within(near[:part], weights, False, collect) == 0:
                continue
            for j in range(part):
                values[size] = near[j]
                places[size] = np.int32(start + first + j)
                size += near[j] <= collect
        if size > min(2 * k + 512, room):
            for j in range(size):
                weights[j] = stock.weights[places[j]]
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
    stock: Stock,
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
            weights[j] = stock.weights[places[j]]
            high = max(high, values[j])
        answer(
            values[:size],
            places,
            weights,
            ks,
            min(high, lists.bounds[row]),
            brute_slack(slack, own_norms[row]),
            query_points[row],
            stock,
            edge,
            counts,
            answers,
            rows[row],
        )


@exact_inline
def brute_slack(slack: Slack, own_norm: float) -> Slack:
    """That of a query with this squared norm."""
    return Slack(
        slack.relative,
        slack.absolute * (1 + sqrt(own_norm)),
        slack.floor * (1 + own_norm),
    )


@rough
def add_norms(products: Array, norms: Array, own: float, out: Array) -> None:
    """Rough squared distances from −2xy, |y|² and |x|²."""
    for i in range(out.size):
        out[i] = max(products[i] + (norms[i] + own), 0)
