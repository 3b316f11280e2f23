"""Check that a stored run fits an experiment: its record, array shapes, and predicted classes.

Checksums catch accidental damage, not a deliberate edit, so the values are checked too. Predicted
classes must be the argmax of the probabilities.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unchurn.core.arrays import Array
from unchurn.study.design.parts import Parts
from unchurn.study.trainings.store import DamagedError, TrainedRun

LOGITS = "logits"  # name of the array of a reference's training logits


def checked_run(run: TrainedRun, parts: Parts, *, is_reference: bool) -> TrainedRun:
    """The run, if it fits these parts of the data; raises DamagedError if not."""
    if not _is_record(run.record):
        raise DamagedError("a run's record is not as a training leaves it")
    if run.record["failure"] is None:
        for part, inputs in parts.x.items():
            _check_part(run.arrays, part, (len(inputs), parts.n_classes))
        if is_reference and _shape(run.arrays, LOGITS)[:1] != (len(parts.x_train),):
            raise DamagedError(f"a run's {LOGITS} are not those of the training data")
    return run


def _is_record(record: Any) -> bool:
    """Whether a record has the fields that results use, with the right types."""
    if not isinstance(record, dict):
        return False
    versions, seconds = record.get("versions"), record.get("seconds", 0)
    return (
        isinstance(record.get("failure", 0), str | None)
        and isinstance(record.get("machine"), str)
        and isinstance(versions, dict)
        and all(isinstance(version, str) for version in versions.values())
        and isinstance(seconds, int | float)
        and math.isfinite(seconds)
    )


def _check_part(arrays: dict[str, Array], part: str, shape: tuple[int, int]) -> None:
    """Check that a part's probabilities and predictions fit its size and each other."""
    if _shape(arrays, part) != shape or _shape(arrays, f"{part}_predictions") != shape[:1]:
        raise DamagedError(f"a run's {part} part is not of {shape[0]} rows and {shape[1]} classes")
    if not np.array_equal(arrays[part].argmax(axis=1), arrays[f"{part}_predictions"]):
        raise DamagedError(f"a run's {part} predictions are not those of its probabilities")


def _shape(arrays: dict[str, Array], name: str) -> tuple[int, ...]:
    return arrays[name].shape if name in arrays else ()
