"""Whether `auto_ema` takes the default's place, by a rule settled beforehand (study.py)."""

from __future__ import annotations

from dataclasses import dataclass

from unchurn.paper.beyond.decision import each_table, over_datasets
from unchurn.paper.beyond.rows import Over, Row
from unchurn.paper.beyond.study import CANDIDATE, SUCCESSOR
from unchurn.paper.beyond.tables import NEWEST
from unchurn.study.design.settings import make_setting

MOST_HARMED = 2  # of NEWEST, in accuracy and in churn each, at either length of training
MOST_ABOVE = 0.02  # how far the mean ratio of churn may be above the default's
HARMS = ("loses", "raises_churn")


@dataclass(frozen=True, kw_only=True)
class Length:
    """The default and its possible successor on the newest tables, for one length of training."""

    rows: dict[str, list[Row]]
    default: Over
    successor: Over

    @property
    def table(self) -> str:
        """A line for each table."""
        return each_table(self.rows, (self.default.recipe, self.successor.recipe))


@dataclass(frozen=True, kw_only=True)
class Succession:
    """What was measured at the usual length and at a short one, and what follows from it."""

    usual: Length
    short: Length

    @property
    def harms_few(self) -> bool:
        """Whether at most MOST_HARMED tables lose accuracy, or churn more, beyond chance."""
        each = (self.usual.successor, self.short.successor)
        return all(one.count(harm) <= MOST_HARMED for one in each for harm in HARMS)

    @property
    def keeps_up(self) -> bool:
        """Whether it lowers churn about as much; if not, the six tasks need not be tried."""
        return self.usual.successor.ratio <= self.usual.default.ratio + MOST_ABOVE


def succession(usual: dict[str, list[Row]], short: dict[str, list[Row]]) -> Succession | None:
    """The outcome by what was measured; None while a table is missing."""
    at_usual, at_short = _length(usual), _length(short)
    if at_usual is None or at_short is None:
        return None
    return Succession(usual=at_usual, short=at_short)


def _length(rows: dict[str, list[Row]]) -> Length | None:
    own = {name: rows[name] for name in NEWEST if name in rows}
    default, successor = (
        over_datasets(own.values(), make_setting(text).facts().written)
        for text in (CANDIDATE, SUCCESSOR)
    )
    if len(default.rows) < len(NEWEST) or len(successor.rows) < len(NEWEST):
        return None
    return Length(rows=own, default=default, successor=successor)
