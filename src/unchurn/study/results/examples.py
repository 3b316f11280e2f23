"""Find the test examples that flip most, and describe them: picture or row, and their flips."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from unchurn.core.arrays import Array, Float64
from unchurn.datasets.base import Dataset
from unchurn.metrics.against_base import bad_flips
from unchurn.metrics.registry import Runs

N_EXAMPLES = 12  # examples shown
N_FEATURES = 40  # columns of a table shown for each
MISSING = "–"
LARGE, TOO_LARGE = 1e3, 1e15  # between them a number is written out


@dataclass(frozen=True, kw_only=True)
class Example:
    """A test example: its number in the test part, and its picture or its row."""

    number: int
    image: str  # a data URL; empty for a row of a table
    features: tuple[tuple[str, str], ...]  # names and values; empty for a picture


def flipping_examples(runs: Runs, data: Dataset) -> tuple[Example, ...]:
    """The test examples that flip most often, at most N_EXAMPLES."""
    shares = flip_shares(runs)
    order = np.argsort(-shares, kind="stable")[:N_EXAMPLES]
    return tuple(_example(data, int(i)) for i in order if shares[i] > 0)


def flip_shares(runs: Runs) -> Float64:
    """Share of the pairs of runs in which each example's prediction differs.

    With an older model: share of the runs that get an example wrong which that model got right.
    """
    if runs.base is not None:
        return np.asarray(bad_flips(runs).mean(axis=0))
    own, pairs = runs.predictions, list(combinations(range(len(runs.predictions)), 2))
    differ = sum((own[i] != own[j]).astype(np.float64) for i, j in pairs)
    return np.asarray(differ) / len(pairs) if pairs else np.zeros(own.shape[1])


def flips_in_words(runs: Runs, number: int, classes: Sequence[str]) -> tuple[str, str]:
    """How often an example flips, and between which classes."""
    own = runs.predictions[:, number]
    n, share = len(own), flip_shares(runs)[number]
    if runs.base is None:
        said = (
            f"{classes[c]}\N{NO-BREAK SPACE}×{k}" for c, k in Counter(own.tolist()).most_common()
        )
        return f"{share:.0%} of the pairs of runs differ", f"predicted {', '.join(said)}"
    broken = Counter(own[bad_flips(runs)[:, number]].tolist())
    was = classes[runs.labels[number]]
    said = (f"{was} → {classes[c]}\N{NO-BREAK SPACE}×{k}" for c, k in broken.most_common())
    return f"broken in {broken.total()} of {n} runs", ", ".join(said)


def _example(data: Dataset, number: int) -> Example:
    image = _thumbnail(data.x_test[number])
    return Example(number=number, image=image, features=() if image else _features(data, number))


def _features(data: Dataset, number: int) -> tuple[tuple[str, str], ...]:
    """Column names and values of a test example's row; columns without names are numbered."""
    if data.test_rows is not None:
        values: dict[str, Any] = data.test_rows.row(number, named=True)
    else:
        values = {str(i): v for i, v in enumerate(data.x_test[number].ravel()[:N_FEATURES])}
    return tuple((name, _shown(value)) for name, value in list(values.items())[:N_FEATURES])


def _shown(value: Any) -> str:
    """A value as text; floats with four digits, large ones with all digits before the point.

    >>> [_shown(value) for value in (48691.27, 48690.0, 0.123456, 3, 1e-9, "north", None)]
    ['48691.27', '48690', '0.1235', '3', '1e-09', 'north', '–']
    """
    if value is None or value != value:  # a missing value; NaN in floats
        return MISSING
    if not isinstance(value, float | np.floating):
        return str(value)
    if LARGE <= abs(float(value)) < TOO_LARGE:
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{value:.4g}"


def _thumbnail(x: Array) -> str:
    """An image as a data URL; empty for a row of a table."""
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
