"""Markdown pages from our own templates, numbers and names; and Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jinja2


def render_page(package: str, template: str, **values: Any) -> str:
    """Fill a template that lies beside a package's code."""
    environment = jinja2.Environment(  # noqa: S701 (Markdown, of nothing that others wrote)
        loader=jinja2.PackageLoader(package, "."),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(**values)


def markdown_table(headings: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table: its first column aligned to the left, the others to the right."""
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
