"""Place the names of a chart's points: near their points, without overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

FONT = 11  # pixels
LETTER = 0.62 * FONT  # of a wide font: most text is narrower
DOT = 6  # half the size of a point
NEAR = 10  # pixels: a name so near to another point would be taken for that point's
GAPS = (9, 15, 23)  # from a point to its name; farther, it would not be seen as its own
ASLANT = 0.7  # of a gap in both directions, for a name in a diagonal position
OWN = 3  # extra cost of covering a line through the point itself
SIDES = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1))
Point = tuple[float, float]  # pixels from the left and the top


@dataclass(frozen=True)
class Box:
    """A rectangle of a chart, in pixels from its left and its top."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two boxes overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def grown(self, by: float) -> Box:
        """The box, larger by `by` on every side."""
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def nearest(self, x: float) -> tuple[float, str]:
        """The x position and alignment of text in the box, next to a point at x."""
        if self.left >= x:
            return self.left, "left"
        return (
            (self.right, "right") if self.right <= x else ((self.left + self.right) / 2, "center")
        )


@dataclass(frozen=True)
class Placed:
    """A box for each name, and whether none overlaps another or a point."""

    boxes: tuple[Box, ...]
    is_clear: bool


def place(
    points: Sequence[Point],
    names: Sequence[str],
    size: tuple[float, float],
    lines: Sequence[Box] = (),
) -> Placed:
    """Give each point's name a place inside a chart of this size.

    Names take free places one after another: near their own point rather than another's, and off
    lines, such as intervals. Names without a free place come first in the next try.
    """
    dots = [Box(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in points]
    order = sorted(range(len(points)), key=lambda i: -_crowd(points, i))
    for _ in range(max(len(points), 1)):
        boxes, lost = _in_turn(points, names, size, dots, lines, order)
        if not lost:
            return Placed(boxes, is_clear=True)
        if order[: len(lost)] == lost:  # they came first, and found none
            break
        order = lost + [i for i in order if i not in lost]
    return Placed(boxes, is_clear=False)


def _in_turn(
    points: Sequence[Point],
    names: Sequence[str],
    size: tuple[float, float],
    dots: list[Box],
    lines: Sequence[Box],
    order: list[int],
) -> tuple[tuple[Box, ...], list[int]]:
    """Place names in this order; return their boxes, and the names without a free place."""
    taken: dict[int, Box] = {}
    lost: list[int] = []
    wider = [dot.grown(NEAR) for dot in dots]

    def cost(at: int, i: int, box: Box) -> float:
        """Cost of a box: distance, nearness to other points, and lines covered.

        The point's own lines cost more: a bar that ends behind its name looks shorter.
        """
        others = sum(box.meets(dot) for j, dot in enumerate(wider) if j != i)
        covered = [line for line in lines if box.meets(line)]
        own = sum(line.meets(dots[i]) for line in covered)
        return at / len(SIDES) + 2 * others + len(covered) + OWN * own

    for i in order:
        width, height = LETTER * len(names[i]), FONT + 2
        around = [_box(points[i], width, height, *way) for way in product(GAPS, SIDES)]
        inside = [one for one in enumerate(around) if _is_inside(one[1], size)]
        ways = inside or list(enumerate(around))
        free = [one for one in ways if not any(map(one[1].meets, [*dots, *taken.values()]))]
        if not free:
            lost.append(i)
        taken[i] = min(free or ways, key=lambda one: cost(one[0], i, one[1]))[1]
    return tuple(taken[i] for i in range(len(points))), lost


def _box(point: Point, width: float, height: float, gap: float, side: tuple[int, int]) -> Box:
    """A name's box on a side of its point, with its nearest edge a gap away."""
    (x, y), (right, down) = point, side
    aslant = ASLANT if right and down else 1.0
    left = x + right * gap * aslant + (-width / 2, 0, -width)[right]
    top = y + down * gap * aslant + (-height / 2, 0, -height)[down]
    return Box(left, top, left + width, top + height)


def _is_inside(box: Box, size: tuple[float, float]) -> bool:
    return box.left >= 0 and box.top >= 0 and box.right <= size[0] and box.bottom <= size[1]


def _crowd(points: Sequence[Point], i: int) -> float:
    """How crowded a point is: names in a crowd choose first."""
    x, y = points[i]
    return sum(1 / (20 + abs(x - a) + abs(y - b)) for a, b in points)
