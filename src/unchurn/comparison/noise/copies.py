"""Warn of retrainings that are copies of a model or of one another: a copy shows no noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import IntArray

ENOUGH = 10  # flips: two retrainings with so many random flips are never the same in all


def cautions_on_copies(
    base: str, names: Sequence[str], moved: npt.NDArray[np.bool_], said: IntArray
) -> tuple[str, ...]:
    """A warning for each model whose predictions occur again in retrainings.

    `names` are those of the candidate and R retrainings; `moved` marks where they differ from base,
    and `said` has what they predict, (1 + R, n). If all retrainings equal base, retraining changes
    nothing, which is an answer, too. If they hardly differ from it, two may be equal by chance.
    """
    flips = moved[1:].sum(axis=1)
    if not flips.any() or flips[flips > 0].min() < ENOUGH:
        return ()
    same: dict[bytes, list[str]] = {}
    for number, (name, moves, own) in enumerate(zip(names, moved, said, strict=True)):
        if moves.any():
            same.setdefault(own.tobytes(), []).append(name)
        elif number:  # the candidate may equal base; a retraining that does is a copy
            same.setdefault(b"", [base]).append(name)
    return tuple(
        f"{', '.join(copies)} {'has' if len(copies) == 1 else 'have'} the same predictions as "
        f"{first}: is it a copy? A copy says nothing of the noise of retraining"
        for first, *copies in same.values()
        if copies
    )
