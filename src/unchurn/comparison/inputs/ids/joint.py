"""Ids made of several columns, such as shop and day: add one column that joins them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unchurn.comparison.inputs.casting import as_ids
from unchurn.comparison.inputs.sources import Source
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

BETWEEN = ", "  # separator in ids as shown, and as written into a list of flips


def with_joint_id(source: Source, asked: str | None) -> Source:
    """The source with a column `shop,day`, made of its columns `shop` and `day`.

    It is unchanged if one column was asked for, even one with a comma in its name.
    """
    if asked is None or "," not in asked or asked in source.names:
        return source
    parts = [name.strip() for name in asked.split(",")]
    for part in parts:
        if part not in source.names:
            raise source.no_column(part)

    def joint() -> pl.Series:
        import polars as pl

        table = source.read(parts)
        each = [as_ids(table[part], source.name, is_written=source.is_text) for part in parts]
        for part, ids in zip(parts, each, strict=True):
            if ids.null_count():
                raise InputError(f"{source.name}: {ids.null_count():,} rows have no {part!r}")
        # A separator within an id is doubled: "a, b" and "c" are not "a" and "b, c".
        doubled = f",{BETWEEN}"
        texts = [
            ids.cast(pl.String).str.replace_all(BETWEEN, doubled, literal=True) for ids in each
        ]
        return pl.select(pl.concat_str(texts, separator=BETWEEN)).to_series().alias(asked)

    return replace(source, names=(*source.names, asked), made={**source.made, asked: joint})
