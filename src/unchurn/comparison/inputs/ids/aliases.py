"""Id columns with different names in different files: `customer_id=cust`, the base's name first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.inputs.sources import Source
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

IS = "="  # between the names of one column


def split_aliases(asked: Columns, base: Source) -> tuple[Columns, dict[str, tuple[str, ...]]]:
    """The options with first names only, and the other names of each.

    A column of base whose name contains "=" is that column.
    """
    if asked.id is None or IS not in asked.id or asked.id in base.names:
        return asked, {}
    parts = [[name.strip() for name in part.split(IS)] for part in asked.id.split(",")]
    aliases = {first: tuple(others) for first, *others in parts if others}
    return replace(asked, id=",".join(first for first, *_ in parts)), aliases


def with_first_names(source: Source, aliases: Mapping[str, tuple[str, ...]]) -> Source:
    """The source with each column under its first name, whichever of its names the file has."""
    for first, others in aliases.items():
        if first in source.names:
            continue
        own = next((name for name in others if name in source.names), None)
        if own is None:
            named = " or ".join(repr(name) for name in (first, *others))
            raise InputError(f"{source.name}: no column {named}: {source.in_words()}")
        source = replace(
            source,
            names=tuple(first if name == own else name for name in source.names),
            made={**source.made, first: _renamed(source, own, first)},
            renamed={**source.renamed, first: own},
        )
    return source


def _renamed(source: Source, own: str, first: str) -> Callable[[], pl.Series]:
    """A function that reads a column and renames it."""
    return lambda: source.read([own])[own].alias(first)
