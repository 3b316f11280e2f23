"""`History`: when the releases of a chain were made, and which of them tests every example.

Release k is trained on the rows before its time, and tested on the rows from then until the next
release. Release 0 is where all chains begin: it tests nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import IntArray
from unchurn.core.errors import InputError

Time = str | float  # an ISO date or time, or a number


@dataclass(frozen=True, eq=False, kw_only=True)
class History:
    """Facts about each release, the first included."""

    times: tuple[Time, ...]
    trained_on: tuple[int, ...]  # number of rows
    tested_by: Mapping[str, IntArray]  # by part, the number of every example's release

    @property
    def tested(self) -> range:
        """The numbers of the releases that are tested."""
        return range(1, len(self.times))

    def to_dict(self) -> dict[str, Any]:
        """All but `tested_by`, as plain values."""
        return {"times": list(self.times), "trained_on": list(self.trained_on)}

    @classmethod
    def from_dict(
        cls,
        given: Mapping[str, Any],
        tested_by: Mapping[str, npt.NDArray[np.integer]],
        sizes: Mapping[str, int],
    ) -> Self:
        """Make a history from `to_dict`'s values and `tested_by`, which may have been edited.

        InputError if they do not fit each other or the sizes of the parts.
        """
        times, trained_on = tuple(given["times"]), tuple(given["trained_on"])
        if len(times) != len(trained_on):
            raise InputError(f"{len(times)} releases, and {len(trained_on)} numbers of rows")
        for time in times:
            if isinstance(time, str) and not _is_time(time):
                raise InputError(f"a release was made at {time!r}, which is no time")
        for part, size in sizes.items():
            numbers = tested_by.get(part, np.zeros(0))
            is_fit = numbers.dtype.kind in "iu" and numbers.shape == (size,)
            if not is_fit or not ((numbers >= 1) & (numbers < len(times))).all():
                raise InputError(f"the {part} part is not tested by releases 1 to {len(times) - 1}")
        numbers_by_part = {part: tested_by[part].astype(np.int64) for part in sizes}
        return cls(times=times, trained_on=trained_on, tested_by=numbers_by_part)


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def as_text(time: Time) -> str:
    """A time as people write it.

    >>> as_text("2024-01-31T00:00:00"), as_text("2024-01-31T12:30:00"), as_text(2024.0)
    ('2024-01-31', '2024-01-31 12:30', '2024')
    """
    if not isinstance(time, str):
        return f"{time:.10g}"
    day, _, hour = time.partition("T")
    return day if hour.startswith("00:00:00") else f"{day} {hour.removesuffix(':00')}"
