"""Warn of retrainings that are copies of base or of each other: they show no noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import IntArray


def cautions_on_copies(
    base: str, names: Sequence[str], moved: npt.NDArray[np.bool_], said: IntArray
) -> tuple[str, ...]:
    """A warning for each model whose predictions occur again in retrainings.

    `moved` marks differences from base, `said` has the classes that each of R retrainings predicts,
    (R, n). No warning if all retrainings equal base: then retraining changes nothing.
    """
    if not moved.any():
        return ()
    same: dict[bytes, list[str]] = {}
    for name, flips, own in zip(names, moved, said, strict=True):
        if flips.any():
            same.setdefault(own.tobytes(), []).append(name)
        else:
            same.setdefault(b"", [base]).append(name)
    return tuple(
        f"{', '.join(copies)} {'has' if len(copies) == 1 else 'have'} the same predictions as "
        f"{first}: is it a copy? A copy says nothing of the noise of retraining"
        for first, *copies in same.values()
        if copies
    )
