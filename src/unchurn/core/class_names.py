"""The one spelling of a class's name: 1, 1.0 and "1" are the same class, True and "true" too.

Names of categories, in a table's columns, have the same spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

WHOLE = r"^(0|-?[1-9][0-9]*)(\.0+)?$"  # also as pandas writes it beside gaps; 007 is a name
# Two spellings of the same two classes, on conditions that differ on purpose. A comparison, which
# has all answers at hand, equates them if there are no other classes. An estimator does so only
# beside both 0 and 1, as one side may lack classes of the other. A category does so only if both
# values were learned.
TRUTH, BITS = ("false", "true"), ("0", "1")
AS_BITS = dict(zip(TRUTH, BITS, strict=True))


def plain_name(name: str) -> str:
    """A name in one spelling: 1 for 1.0, true for True.

    It depends on the name alone, so that a class gets the same spelling in every file.

    >>> [plain_name(name) for name in ("1.0", "TRUE", "007", "1.5")]
    ['1', 'true', '007', '1.5']
    """
    if (whole := re.fullmatch(WHOLE, name)) is not None:
        return whole[1]
    return lower if (lower := name.lower()) in TRUTH else name


def plain_names(names: Iterable[str]) -> tuple[str, ...]:
    """Several names in one spelling, without spaces around them."""
    return tuple(plain_name(name.strip()) for name in names)
