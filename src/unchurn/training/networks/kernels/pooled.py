"""Numba kernels of a 5×5 convolution whose output is pooled: the maximum of each 2×2.

Three of four gradients at the convolution's output are zero, and after ReLU often the fourth: these
are skipped. Sums equal those of oneDNN with AVX-512 to the bit: the same numbers are added in the
same order, fused, and skipped ones are zero.

Images are (n, height, width, channels). Filters are (filters, SIDE, lanes): the weights of one row,
by column and channel as in an image, then zeros up to a multiple of LANES.
"""

from __future__ import annotations

import numpy as np

from unchurn.core.arrays import Array, Float32
from unchurn.neighbors.kernels.jit import exact
from unchurn.training.networks.kernels.vectors import LANES, SIDE, add_products


@exact
def pool(y: Float32, pooled: Float32, places: Array) -> None:
    """The maximum of each 2×2, and its place: 0 1 above, 2 3 below; the first if equal; or NaN."""
    for n in range(pooled.shape[0]):
        for i in range(pooled.shape[1]):
            for j in range(pooled.shape[2]):
                for o in range(pooled.shape[3]):
                    best, place = y[n, 2 * i, 2 * j, o], 0
                    for other in range(1, 4):
                        value = y[n, 2 * i + other // 2, 2 * j + other % 2, o]
                        if value > best or value != value:
                            best, place = value, other
                    pooled[n, i, j, o] = best
                    places[n, i, j, o] = place


@exact
def filter_gradients(
    grads: Float32, places: Array, x: Float32, filters: Float32, biases: Float32
) -> None:
    """Add to the gradients of filters and biases, image by image and row by row."""
    height, width, n_filters = grads.shape[1:]
    channels, row, size = x.shape[3], x.shape[2] * x.shape[3], x[0].size
    lanes, into = filters.shape[2], filters.reshape(-1)
    image = np.zeros(size + lanes, np.float32)  # with room for the last lanes
    values = np.empty(height * width + 1, np.float32)
    starts = np.empty(height * width + 1, np.intp)
    for n in range(len(grads)):
        image[:size] = x[n].reshape(-1)
        for o in range(n_filters):
            count = 0
            for i in range(2 * height):
                for j in range(width):  # without a branch, which would be mispredicted too often
                    value, place = grads[n, i // 2, j, o], places[n, i // 2, j, o]
                    values[count], starts[count] = value, i * row + (2 * j + (place & 1)) * channels
                    count += (place >> 1 == i % 2) & (value != 0)
            for value in values[:count]:
                biases[o] += value
            for lane in range(0, lanes, LANES):
                to = o * SIDE * lanes + lane
                add_products(into, to, lanes, values, starts, count, image, lane, row)


@exact
def input_gradients(grads: Float32, places: Array, filters: Float32, x: Float32) -> None:
    """Write the gradients of the input.

    Gradients are first summed separately for each (row, output column, lane), then combined.
    """
    n_filters = grads.shape[3]
    rows, columns, channels, size = x.shape[1], x.shape[2] - SIDE + 1, x.shape[3], x[0].size
    lanes, weights = filters.shape[2], filters.reshape(-1)
    image = np.empty(size + lanes, np.float32)
    parts = np.empty((rows, columns, lanes), np.float32)
    values, starts = np.empty(n_filters + 1, np.float32), np.empty(n_filters + 1, np.intp)
    for n in range(len(grads)):
        parts[:] = 0
        for i in range(2 * grads.shape[1]):
            for j in range(2 * grads.shape[2]):
                here, count = 2 * (i % 2) + j % 2, 0
                for o in range(n_filters):
                    value, place = grads[n, i // 2, j // 2, o], places[n, i // 2, j // 2, o]
                    values[count], starts[count] = value, o * SIDE * lanes
                    count += (place == here) & (value != 0)
                for lane in range(0, lanes, LANES):
                    to, step = (i * columns + j) * lanes + lane, columns * lanes
                    add_products(
                        parts.reshape(-1), to, step, values, starts, count, weights, lane, lanes
                    )
        image[:] = 0
        for i in range(rows):
            for j in range(columns):
                start = (i * x.shape[2] + j) * channels
                for lane in range(SIDE * channels):
                    image[start + lane] += parts[i, j, lane]
        x[n].reshape(-1)[:] = image[:size]
