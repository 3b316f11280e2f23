"""Two Gaussians in the plane with 10 % of the labels swapped, as in the paper's Figure 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from unchurn.core.arrays import Array
from unchurn.datasets.base import SPLIT_SEED, Dataset, Source

N = 1000  # in each of the two parts
SWAPPED = 0.1  # share of swapped labels in each part


def load(data_dir: Path | None = None) -> Dataset:
    """Draw positive examples around (−1, −1), negative around (1, 1), standard deviation 0.75."""
    rng = np.random.default_rng(SPLIT_SEED)
    (x_train, y_train), (x_test, y_test) = _draw(rng), _draw(rng)
    return Dataset(
        name="two_gaussians",
        x_train=x_train,
        y_train=y_train,
        x_test=x_test,
        y_test=y_test,
        classes=("negative", "positive"),
    )


def _draw(rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw N points, then swap the labels of a tenth of them, chosen uniformly."""
    y = rng.permutation(np.arange(N) % 2)
    x = rng.normal(loc=1.0 - 2.0 * y[:, None], scale=0.75, size=(N, 2)).astype(np.float32)
    swapped = rng.choice(N, size=round(SWAPPED * N), replace=False)
    y[swapped] = 1 - y[swapped]
    return x, y


TWO_GAUSSIANS = Source(name="two_gaussians", n_train=N, n_test=N, n_classes=2, load=load)
