"""The one spelling of a class's name: 1, 1.0 and "1" are the same class, True and "true" too.

A category's name, in a table's column, has it as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

WHOLE = r"^(0|-?[1-9][0-9]*)(\.0+)?$"  # also as pandas writes it beside gaps; 007 is a name
# Two spellings of the same two classes, but not always, which differs on purpose. A comparison,
# which has all answers at hand, takes them so where there are no other classes; an estimator, where
# the one side may lack classes of the other, only beside both 0 and 1; a category only where both
# values were learned.
TRUTH, BITS = ("false", "true"), ("0", "1")
AS_BITS = dict(zip(TRUTH, BITS, strict=True))


def plain_name(name: str) -> str:
    """A name in one spelling: 1 for 1.0, true for True.

    By itself, whatever stands beside it, so that a class gets the same spelling in every file.

    >>> [plain_name(name) for name in ("1.0", "TRUE", "007", "1.5")]
    ['1', 'true', '007', '1.5']
    """
    if (whole := re.fullmatch(WHOLE, name)) is not None:
        return whole[1]
    return lower if (lower := name.lower()) in TRUTH else name


def plain_names(names: Iterable[str]) -> tuple[str, ...]:
    """The same for several, spaces around them left out too."""
    return tuple(plain_name(name.strip()) for name in names)
