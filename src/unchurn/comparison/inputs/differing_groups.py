"""Check that both models' files put the same examples into the same slice or cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unchurn.report.numbers import percent

if TYPE_CHECKING:
    import polars as pl


def n_that_differ(one: pl.Series, two: pl.Series) -> int:
    """In how many rows two columns of text differ; gaps, case and spaces do not count.

    Nor do the decimals of whole numbers, which some tools write.
    """
    import polars as pl

    at = (one != two).fill_null(value=False)
    ours, theirs = (values.filter(at).str.strip_chars().str.to_lowercase() for values in (one, two))
    numbers = (values.cast(pl.Float64, strict=False) for values in (ours, theirs))
    is_one_number = next(numbers) == next(numbers)
    return int(((ours != theirs) & ~is_one_number.fill_null(value=False)).sum())


def in_words(column: str, what: str, files: tuple[str, str], n: int, of: int) -> str:
    """A warning that a column of slices or clusters (`what`) differs between the models' files."""
    base, candidate = files
    return (
        f"{column!r} differs between {base} and {candidate} in {n:,} row{'s' * (n > 1)} "
        f"({percent(n / of)}): {what} are by that of {base}"
    )
