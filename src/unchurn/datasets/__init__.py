"""Data: `load(name)` for the paper's tasks and two that need nothing, `load_csv` for your own.

One file per source; `DATASETS` names them all. Files are looked for in `data_dir` or, if that is
not given, in the folder that UNCHURN_DATA names, then in the cache, then downloaded into it.
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from unchurn.core.errors import InputError
from unchurn.datasets import celeba, digits, mnist, phishing, svhn, two_gaussians
from unchurn.datasets.base import Dataset, Source
from unchurn.datasets.table import load_csv

DATASETS: dict[str, Source] = {
    source.name: source
    for source in (
        digits.DIGITS,
        two_gaussians.TWO_GAUSSIANS,
        mnist.MNIST,
        mnist.FASHION_MNIST,
        svhn.SVHN,
        celeba.SMILING,
        celeba.HIGH_CHEEKBONES,
        phishing.PHISHING,
    )
}

__all__ = ["DATASETS", "Dataset", "Source", "load", "load_csv", "source"]


def source(name: str) -> Source:
    """What is known of a dataset by its name."""
    if name not in DATASETS:
        near = get_close_matches(name, DATASETS, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise InputError(f"no dataset {name!r}{hint}: there are {', '.join(DATASETS)}")
    return DATASETS[name]


def load(name: str, data_dir: str | Path | None = None) -> Dataset:
    """Load a dataset by name: arrays ready for training, labels as class numbers.

    >>> load("digits")
    Dataset digits: 1,203 train + 594 test examples of shape (8, 8), 10 classes
    """
    return source(name).load(None if data_dir is None else Path(data_dir))
