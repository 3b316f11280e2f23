"""Data: `load(name)` for the paper's tasks and two more, `load_csv` and `load_table` for your own.

There is one module per source; `DATASETS` lists all datasets. Files are looked for in `data_dir`
(if it is not given, in the folder that UNCHURN_DATA names), then in the cache. Missing files are
downloaded into the cache.
"""

from __future__ import annotations

from pathlib import Path

from unchurn.datasets.base import Dataset, Source
from unchurn.datasets.registry import DATASETS, source
from unchurn.datasets.table import load_csv, load_table

__all__ = ["DATASETS", "Dataset", "Source", "load", "load_csv", "load_table", "source"]


def load(name: str, data_dir: str | Path | None = None) -> Dataset:
    """Load a dataset of `DATASETS` by name: arrays ready for training, labels as class numbers.

    Its files are taken from `data_dir` (if not given, from the folder that UNCHURN_DATA names), or
    from the cache, or are downloaded.

    >>> load("digits")
    Dataset digits: 1,203 train + 594 test examples of shape (8, 8), 10 classes
    """
    return source(name).load(None if data_dir is None else Path(data_dir))
