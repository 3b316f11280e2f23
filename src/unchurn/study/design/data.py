"""`load_data`: the data of a study, from a dataset, its name, a table's file or a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unchurn.core.errors import InputError
from unchurn.core.frames import is_frame
from unchurn.core.tables import TABLES, TextForm, ending
from unchurn.core.workbooks import OTHER_WORKBOOKS
from unchurn.datasets import DATASETS, load, load_csv, load_table
from unchurn.datasets.base import Dataset
from unchurn.study.results.ids import check_id
from unchurn.study.scenarios import Scenario, make_scenario


def load_data(
    data: Any,
    target: str | None = None,
    form: TextForm | None = None,
    scenario: Scenario | None = None,
    aside: str | Sequence[str] = (),
    id: str | None = None,
) -> Dataset:
    """Load data given as a Dataset, the name of a dataset, the path of a table, or a frame.

    The id and the columns that the scenario uses are not features. A table with the same columns as
    the older model's is prepared in the same way, so that new models can start from its weights.
    """
    if isinstance(data, Dataset) or (isinstance(data, str) and not is_table(data)):
        if isinstance(data, str) and data not in DATASETS and target is not None:
            raise InputError(
                f"{data!r} is no dataset, and its name has no ending of a table: .csv, .parquet, …"
            )
        if target is not None or aside:
            name = "aside" if target is None else "target"
            raise InputError(f"{name} is for a table of your own")
        return _with_id(load(data) if isinstance(data, str) else data, id)
    if not isinstance(data, str | Path) and not is_frame(data):
        kind = type(data).__name__
        raise InputError(f"data must be a dataset's name, a table's path or a frame, not {kind}")
    if target is None:
        what = f"{data}: " if isinstance(data, str | Path) else ""
        raise InputError(f"{what}which column is to be predicted? Give target=")
    scenario = scenario or make_scenario()
    left_out = [*scenario.columns, *([aside] if isinstance(aside, str) else aside)]
    left_out += [] if id is None else [id]

    def load_as(**options: Any) -> Dataset:
        if isinstance(data, str | Path):
            return load_csv(data, target, form=form, aside=left_out, **options)
        return load_table(data, target, aside=left_out, **options)

    loaded, before = _with_id(load_as(), id), scenario.preparation_before
    if before is None or loaded.preparation is None or before == loaded.preparation:
        return loaded
    features = set(loaded.preparation.names)
    ids = set() if loaded.aside is None else set(loaded.aside.columns) - set(left_out)
    if not features <= set(before.names) <= features | ids:  # the older model may have used ids
        return loaded
    alike = load_as(preparation=before)
    return replace(alike, notes=(*alike.notes, "prepared as the table of the base was"))


def _with_id(data: Dataset, id: str | None) -> Dataset:
    """Return the data unchanged; InputError if the column `id` has gaps or repeated values."""
    if id is not None:
        check_id(data, id)
    return data


def is_table(data: str) -> bool:
    """Whether a text is the path of a table, not the name of a dataset."""
    return data not in DATASETS and ending(Path(data)) in (*TABLES, *OTHER_WORKBOOKS)
