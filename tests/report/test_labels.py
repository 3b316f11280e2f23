import math
from itertools import combinations

import numpy as np
import pytest

from unchurn.report.labels import DOT, LETTER, Box, place

SIZE = (760, 400)


def is_clear(placed, points, names):
    """Whether boxes hold their names, stay inside, and cover neither each other nor a point."""
    for box, name in zip(placed.boxes, names, strict=True):
        assert box.right - box.left == pytest.approx(LETTER * len(name))
    dots = [Box(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in points]
    inside = all(b.left >= 0 and b.top >= 0 and b.right <= 760 and b.bottom <= 400
                 for b in placed.boxes)  # fmt: skip
    apart = not any(one.meets(other) for one, other in combinations(placed.boxes, 2))
    return inside and apart and not any(box.meets(dot) for box in placed.boxes for dot in dots)


def test_names_that_are_said_to_be_clear_are(rng):
    found = 0
    for _ in range(100):
        n = int(rng.integers(1, 13))
        points = [(float(x), float(y)) for x, y in rng.uniform((20, 20), (740, 380), (n, 2))]
        names = ["m" * int(k) for k in rng.integers(3, 27, n)]
        placed = place(points, names, SIZE)
        assert placed.is_clear is False or is_clear(placed, points, names)
        found += placed.is_clear
    assert found > 90


def test_points_in_a_heap_are_still_named():
    """Six points within a letter of one another, with names that fit around them."""
    points = [(380 + 4 * math.cos(i), 200 + 4 * math.sin(i)) for i in range(6)]
    names = [f"method{i}" for i in range(6)]
    placed = place(points, names, SIZE)
    assert placed.is_clear
    assert is_clear(placed, points, names)


def test_too_many_names_are_said_not_to_be_clear():
    points = [(380.0, 200.0)] * 40
    placed = place(points, ["a long name"] * 40, SIZE)
    assert len(placed.boxes) == 40
    assert not placed.is_clear
    assert place([], [], SIZE).is_clear


def test_a_name_stands_nearest_to_its_own_point():
    """Two points side by side: each name keeps to its own side."""
    points = [(300.0, 200.0), (330.0, 200.0)]
    placed = place(points, ["left", "right"], SIZE)
    for i, box in enumerate(placed.boxes):
        x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        distances = [math.dist((x, y), point) for point in points]
        assert int(np.argmin(distances)) == i


def test_a_name_keeps_off_lines():
    line = Box(0, 199, 760, 201)  # through the point, where the name would stand
    (box,) = place([(300.0, 200.0)], ["name"], SIZE, [line]).boxes
    assert not box.meets(line)
    (box,) = place([(300.0, 200.0)], ["name"], SIZE).boxes
    assert box.meets(line)
    assert box.nearest(300) == (309, "left")
    assert Box(0, 0, 10, 10).nearest(20) == (10, "right")
    assert Box(0, 0, 10, 10).nearest(5) == (5, "center")


def test_a_name_keeps_off_the_bars_of_its_own_point_above_all():
    """A halo on a bar that ends below it would make that a shorter one."""
    bars = [Box(200, 199, 420, 201), Box(299, 100, 301, 300)]
    other = [Box(0, y, 760, y + 2) for y in (185, 213)]  # above and below, where it would go
    for lines in (bars, [*bars, *other]):
        (box,) = place([(300.0, 200.0)], ["warm_start+anchor"], SIZE, lines).boxes
        assert not any(box.meets(bar) for bar in bars)
