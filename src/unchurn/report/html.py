"""`write_page`: write a self-contained HTML page, with everything escaped and charts offline."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import vl_convert

from unchurn.core.files import atomic_write


def write_page(path: Path, template: Path, charts: list[dict[str, Any]], **values: Any) -> None:
    """Fill a layer's own template, which extends `base.html` here, and write it.

    A chart is a dict with a `title`, the Vega-Lite `spec`, optionally `narrow`, another spec for
    phones, and further values that the template shows.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, Path(__file__).parent]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    drawn = [
        {**chart, "id": f"chart{i}", **{n: _in_script(chart.get(n)) for n in ("spec", "narrow")}}
        for i, chart in enumerate(charts)
    ]
    vega = _vega() if drawn else ""
    page = environment.get_template(template.name).render(charts=drawn, vega=vega, **values)
    with atomic_write(path) as temporary:
        temporary.write_text(page, "utf-8", "replace")  # file names may not be valid text


@cache  # bundling takes seconds
def _vega() -> str:
    """Vega's JavaScript, all of it, so that the page draws offline."""
    code = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return re.sub("</(?=script)", r"<\\/", code, flags=re.IGNORECASE)


def _in_script(value: Any) -> str:
    """JSON that cannot end the script element around it."""
    return json.dumps(value).replace("<", "\\u003c")
