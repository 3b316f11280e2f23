"""Tables of simulated frequencies, their Monte Carlo error, and why some fall outside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

PROMISED = (0.93, 0.98)


@dataclass(frozen=True)
class Cell:
    """How often something happened in so many draws; `low` to `high` is where it should be.

    `why` says, as far as it is known, what would take it out of there.
    """

    rate: float
    draws: int
    low: float = 0.0
    high: float = 1.0
    why: str = ""

    @property
    def error(self) -> float:
        """The Monte Carlo standard error, of a rate that is never quite 0 or 1."""
        rate = (self.rate * self.draws + 2) / (self.draws + 4)
        return math.sqrt(rate * (1 - rate) / self.draws)

    @property
    def side(self) -> int:
        """Below what it should be, inside or above: −1, 0 or 1."""
        return -1 if self.rate < self.low else int(self.rate > self.high)

    @property
    def may_be_chance(self) -> bool:
        """Whether it is outside by no more than two standard errors."""
        edge = self.low if self.side < 0 else self.high
        return self.side != 0 and abs(self.rate - edge) <= 2 * self.error

    @property
    def reason(self) -> str:
        """Why it is outside."""
        chance = "by no more than two Monte Carlo standard errors."
        return self.why or (chance if self.may_be_chance else "why is not known yet.")

    def __str__(self) -> str:
        mark = {-1: " ▼", 0: "", 1: " ▲"}[self.side]
        return f"{100 * self.rate:.1f} ± {100 * self.error:.1f}{mark}"


def coverage(rate: float, draws: int, promised: bool = True, why: str = "") -> Cell:
    """An interval's coverage; of some nothing is promised but an exact interval's lower end."""
    return Cell(rate, draws, *(PROMISED if promised else (0.0, 1.0)), why)


@dataclass(frozen=True)
class Table:
    """Rows of a description and cells."""

    name: str
    head: Sequence[str]
    rows: list[tuple[list[str], list[Cell]]]

    @property
    def cells(self) -> list[Cell]:
        """All of them."""
        return [cell for _, cells in self.rows for cell in cells]

    def markdown(self) -> str:
        """The table, and below it a sentence for each reason of what is outside."""
        lines = ["| " + " | ".join(self.head) + " |", "|" + " --- |" * len(self.head)]
        for texts, cells in self.rows:
            lines.append("| " + " | ".join([*texts, *map(str, cells)]) + " |")
        return "\n".join([*lines, "", *self._reasons()])

    def _reasons(self) -> list[str]:
        outside = [cell for cell in self.cells if cell.side]
        promised = [cell for cell in self.cells if (cell.low, cell.high) != (0.0, 1.0)]
        if not promised:
            return []
        if not outside:
            return [f"All {len(promised)} cells of which something is promised keep it."]
        lines = [f"Outside (▼ below, ▲ above) are {len(outside)} of the {len(promised)} cells of "
                 "which something is promised:", ""]  # fmt: skip
        for why in dict.fromkeys(cell.reason for cell in outside):
            lines.append(f"- {_shown([cell for cell in outside if cell.reason == why])}: {why}")
        return lines


def _shown(cells: list[Cell]) -> str:
    return ", ".join(f"{100 * cell.rate:.1f}" for cell in cells)
