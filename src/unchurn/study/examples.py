"""The test examples that flip most when a setting is repeated, as a person recognises them."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import Array
from unchurn.datasets.base import Dataset

N_EXAMPLES = 12  # of those that flip most
N_FEATURES = 40  # of each, shown of a table


@dataclass(frozen=True, kw_only=True)
class Example:
    """One of them: its number in the test part, its picture or its row."""

    number: int
    image: str  # a data address; empty for a row of a table
    features: tuple[tuple[str, str], ...]  # names and values; none of a picture


def flipping_examples(runs: npt.NDArray[np.integer], data: Dataset) -> tuple[Example, ...]:
    """Those whose predictions differ in the most pairs of runs, (R, n)."""
    differ = np.zeros(runs.shape[1], int)
    for i, j in combinations(range(len(runs)), 2):
        differ += runs[i] != runs[j]
    order = np.argsort(-differ, kind="stable")[:N_EXAMPLES]
    return tuple(_example(data, int(i)) for i in order if differ[i] > 0)


def _example(data: Dataset, number: int) -> Example:
    image = _thumbnail(data.x_test[number])
    return Example(number=number, image=image, features=() if image else _features(data, number))


def _features(data: Dataset, number: int) -> tuple[tuple[str, str], ...]:
    """Names and values of a test example as its owner knows it; a table without names by number."""
    if data.test_rows is not None:
        values: dict[str, Any] = data.test_rows.row(number, named=True)
    else:
        values = {str(i): v for i, v in enumerate(data.x_test[number].ravel()[:N_FEATURES])}
    return tuple((name, _shown(value)) for name, value in list(values.items())[:N_FEATURES])


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _thumbnail(x: Array) -> str:
    """An image as a data address; empty for a row of a table."""
    from PIL import Image

    if x.ndim < 2:
        return ""
    if x.ndim == 3 and x.shape[2] != 3:
        x = x[..., 0]
    pixels = (255 * x.clip(0, 1)).astype(np.uint8)
    image = Image.fromarray(pixels).resize((64, 64), Image.Resampling.NEAREST)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
