"""The flipped examples, ranked for a labeller: bad first, then the most confident."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import IntArray
from unchurn.core.files import atomic_write, safe_cell

if TYPE_CHECKING:
    import polars as pl

    from unchurn.comparison.inputs.pairs import Paired
    from unchurn.comparison.result import Comparison

KINDS = ("bad", "wrong to wrong", "good", "unlabelled")  # in the order of a labeller's interest


def flipped(comparison: Comparison, most: int | None = None) -> pl.DataFrame:
    """A row per flipped example: id, both predictions, label, kind, confidence, slices.

    Confidence is the candidate's probability of what it predicts, where there are probabilities.
    """
    import polars as pl

    paired, outcomes = comparison.paired, comparison.outcomes
    rows = np.flatnonzero(outcomes.flipped)
    kind = np.full(len(rows), KINDS.index("unlabelled"))
    for name, mask in (
        ("bad", outcomes.bad), ("wrong to wrong", outcomes.wrong_to_wrong), ("good", outcomes.good),
    ):  # fmt: skip
        kind[mask[rows]] = KINDS.index(name)
    confidence = np.zeros(len(rows))
    if paired.probabilities is not None:
        confidence = _of_prediction(paired, rows)
    order = np.lexsort((-np.nan_to_num(confidence), kind))[:most]
    rows, kind, confidence = rows[order], kind[order], confidence[order]
    names = pl.Series([*paired.classes, None], dtype=pl.String)  # the last is that of no label
    columns = {
        "id": paired.ids.gather(rows),
        "base": names.gather(paired.base[rows]),
        "candidate": names.gather(paired.candidate[rows]),
    }
    if paired.labels is not None:
        at = np.where(paired.labels[rows] < 0, len(paired.classes), paired.labels[rows])
        columns["label"] = names.gather(at)
        columns["kind"] = pl.Series(KINDS).gather(kind)
    if paired.probabilities is not None:
        columns["confidence"] = pl.Series(confidence).fill_nan(None)
    for name, column in paired.slices.items():
        columns.setdefault(name, column.gather(rows))
    return pl.DataFrame(columns)


def _of_prediction(paired: Paired, rows: IntArray) -> npt.NDArray[np.float64]:
    """The candidate's probability of what it predicts, which need not be its most probable."""
    assert paired.probabilities is not None  # noqa: S101
    scored = paired.scored_classes
    place = np.array([scored.index(c) if c in scored else -1 for c in paired.classes])
    at = place[paired.candidate[rows]]
    found = paired.probabilities[1][rows][np.arange(len(rows)), at]
    return np.where(at < 0, np.nan, found)


def write_flipped(comparison: Comparison, path: Path) -> int:
    """Write them as CSV that a spreadsheet takes for no formula; give how many there are."""
    import polars as pl

    table = flipped(comparison)
    texts = [
        c
        if c.dtype.is_numeric() or c.dtype.is_temporal() or c.dtype == pl.Boolean
        else pl.Series(c.name, [v if v is None else safe_cell(str(v)) for v in c], pl.String)
        for c in table
    ]
    safe = pl.DataFrame(texts).rename({c: safe_cell(c) for c in table.columns})
    with atomic_write(path) as temporary:
        safe.write_csv(temporary)
    return table.height
