"""Numbers as text; each expected text is written out."""

from math import nan

import pytest

from unchurn.metrics.intervals import Interval
from unchurn.report import numbers

BETWEEN = Interval(0.0012, -0.0003, 0.0027)
RARE = Interval(0.000035, 0.000017, 0.000074)
ALONE = Interval(0.0012, nan, nan)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (numbers.percent(0.01234), "1.23%"),
        (numbers.percent(nan), "–"),
        (numbers.percent(0.0), "0.00%"),
        (numbers.percent(0.00012), "0.01%"),
        (numbers.percent(0.000035), "0.0035%"),
        (numbers.percent(0.000074, 3), "0.0074%"),
        (numbers.percent(1e-9), "0.0000001%"),
        (numbers.percent(1e-17), "0.00%"),
        (numbers.fine_percent(0.01234), "1.23%"),
        (numbers.fine_percent(0.0000434), "0.0043%"),
        (numbers.fine_percent(-0.00002), "-0.002%"),
        (numbers.fine_percent(0.0), "0.00%"),
        (numbers.fine_percent(nan), "–"),
        (numbers.limit_percent(0.05), "5.00%"),
        (numbers.limit_percent(0.00125), "0.125%"),
        (numbers.limit_percent(0.00004), "0.004%"),
        (numbers.bare_percent(0.98765), "98.77"),
        (numbers.bare_percent(0.98765, 0), "99"),
        (numbers.bare_percent(nan), "–"),
        (numbers.file_percent(0.0123456), "1.2346"),
        (numbers.file_percent(nan), ""),
        (numbers.spread(0.0012), "(0.12)"),
        (numbers.spread(nan), "(–)"),
        (numbers.with_spread(0.0123, 0.0012), "1.23 (0.12)"),
        (numbers.with_spread(0.0123, nan), "1.23 (–)"),
        (numbers.with_spread(nan, nan), "–"),
        (numbers.signed(-0.0012), "-0.12"),
        (numbers.signed(-0.000035), "+0.00"),
        (numbers.fine_signed(-0.0012), "-0.12"),
        (numbers.fine_signed(nan), "–"),
        (numbers.points(0.0012), "+0.12 points"),
        (numbers.points(-0.000035), "-0.0035 points"),
        (numbers.points(nan), "–"),
        (numbers.difference(BETWEEN), "+0.12 [-0.03, +0.27]"),
        (numbers.difference(ALONE), "+0.12"),
        (numbers.between(BETWEEN), "-0.03% to 0.27%"),
        (numbers.between(BETWEEN, in_points=True), "-0.03 to +0.27"),
        (numbers.between(RARE), "0.0017% to 0.0074%"),
        (numbers.between(RARE, in_points=True), "+0.0017 to +0.0074"),
        (numbers.between(ALONE), "no interval"),
        (numbers.behind(BETWEEN, in_points=True), " (-0.03 to +0.27)"),
        (numbers.behind(ALONE), ""),
    ],
)
def test_numbers_are_shown_alike_everywhere(found, expected):
    assert found == expected


def test_what_rounds_to_zero_has_no_sign_of_less():
    tiny = -1e-17  # as errors of floats are
    forms = (numbers.percent, numbers.points, numbers.signed, numbers.bare_percent)
    shown = [form(value) for form in forms for value in (tiny, -0.0)]
    assert not any("-" in text for text in shown), shown
    assert numbers.percent(-0.0012) == "-0.12%"
