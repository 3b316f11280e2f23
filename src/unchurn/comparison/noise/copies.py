"""Are retrainings copies, of base or of one another? A copy says nothing of retraining's noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unchurn.core.arrays import IntArray


def cautions_on_copies(
    base: str, names: Sequence[str], moved: npt.NDArray[np.bool_], said: IntArray
) -> tuple[str, ...]:
    """A warning of each model whose very predictions are there again.

    `moved` is what differs from base and `said` what each of R retrainings predicts, (R, n). Where
    all of them are base's, retraining changes nothing, and that is an answer.
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
