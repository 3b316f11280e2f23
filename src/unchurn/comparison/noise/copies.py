"""Are retrainings copies, of a model or of one another? A copy says nothing of their noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import IntArray

ENOUGH = 10  # flips: two retrainings that have so many at random are not the same in all of them


def cautions_on_copies(
    base: str, names: Sequence[str], moved: npt.NDArray[np.bool_], said: IntArray
) -> tuple[str, ...]:
    """A warning for each model whose predictions occur again in retrainings.

    `names` are of the candidate and R retrainings, `moved` is what differs from base and `said`
    what they predict, (1 + R, n). Where all retrainings are base's, retraining changes nothing,
    and that is an answer; where they hardly differ from it, two may be the same by chance.
    """
    flips = moved[1:].sum(axis=1)
    if not flips.any() or flips[flips > 0].min() < ENOUGH:
        return ()
    same: dict[bytes, list[str]] = {}
    for number, (name, moves, own) in enumerate(zip(names, moved, said, strict=True)):
        if moves.any():
            same.setdefault(own.tobytes(), []).append(name)
        elif number:  # the candidate may be base's copy: no retraining is
            same.setdefault(b"", [base]).append(name)
    return tuple(
        f"{', '.join(copies)} {'has' if len(copies) == 1 else 'have'} the same predictions as "
        f"{first}: is it a copy? A copy says nothing of the noise of retraining"
        for first, *copies in same.values()
        if copies
    )
