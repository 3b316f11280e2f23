"""Pages in Markdown: a template of ours, filled with numbers and names of our own; and tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jinja2


def render_page(package: str, template: str, **values: Any) -> str:
    """A template beside a package's code, filled."""
    environment = jinja2.Environment(  # noqa: S701 (Markdown, of nothing that others wrote)
        loader=jinja2.PackageLoader(package, "."),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(**values)


def markdown_table(headings: list[str], rows: Iterable[list[str]]) -> str:
    """A table, its first column set to the left."""
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
