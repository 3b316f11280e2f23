"""Charts as files."""

import altair as alt
import pytest
from PIL import Image

from unchurn.report.charts import save


def chart(n):
    """Points in colours of a scale, cut off at the edges: the ids of both are counted by Vega."""
    rows = [{"x": i, "y": i * i % 7} for i in range(n)]
    points = alt.Chart(alt.InlineData(values=rows)).mark_circle(clip=True)
    return points.encode(alt.X("x:Q"), alt.Y("y:Q"), alt.Color("y:Q")).properties(width=200)


def test_a_picture_has_every_point_in_it(tmp_path):
    save(chart(13), tmp_path / "one.svg")
    assert (tmp_path / "one.svg").read_text("utf-8").count('aria-roledescription="circle"') == 13
    save(chart(13), tmp_path / "one.png")
    with Image.open(tmp_path / "one.png") as image:
        assert image.width > 2 * 200  # twice as fine as on a page
        assert len(image.convert("RGB").getcolors(2**20)) > 7


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_equal_charts_are_equal_bytes_whatever_was_drawn_before(tmp_path, suffix):
    for name, n in (("first", 5), ("other", 9), ("again", 5)):
        save(chart(n), tmp_path / f"{name}{suffix}")
    first, other, again = (
        (tmp_path / f"{name}{suffix}").read_bytes() for name in ("first", "other", "again")
    )
    assert first == again != other
