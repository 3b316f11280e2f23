"""Read true labels, also from the list of flips that `--flips` wrote and somebody labelled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.inputs.predictions import Labels, read_labels
from unchurn.comparison.inputs.sources import NoRowsError
from unchurn.core.files import safe_cell

if TYPE_CHECKING:
    import polars as pl

    from unchurn.comparison.inputs.predictions import Predictions
    from unchurn.comparison.inputs.sources import Source

COLUMNS = {"id", "base", "candidate", "label"}  # no other table of labels has all of these


def is_flip_list(source: Source, asked: Columns) -> bool:
    """Whether a table of labels is a list of flips."""
    return set(source.names) >= COLUMNS and asked.label in (None, "label")


def read_truth(
    source: Source, asked: Columns, base: Predictions, *, by_index: bool = False
) -> tuple[Labels | None, bool]:
    """True labels, and whether they came as a labelled list of flips.

    Ids and classes of a list are restored to those of the models, whatever the models' columns are
    called; if the models have no ids, the list's are row positions. A list without flips has no
    labels (None).
    """
    if not is_flip_list(source, asked):
        return read_labels(source, "labels", asked, by_index=by_index), False
    try:
        found = read_labels(source, "labels", Columns())
    except NoRowsError:
        return None, True
    own = replace(
        found,
        ids=_unescaped(found.ids),
        labels=_unescaped(found.labels),
        n_rows_if_no_ids=base.n_rows_if_no_ids,
    )
    return own, True


def _unescaped(values: pl.Series) -> pl.Series:
    """Text as it was before `safe_cell` escaped it for spreadsheets."""
    import polars as pl

    if values.dtype != pl.String:
        return values
    quoted = [v for v in values.unique().drop_nulls() if v[:1] == "'" and safe_cell(v[1:]) == v]
    return values.replace(quoted, [v[1:] for v in quoted])
