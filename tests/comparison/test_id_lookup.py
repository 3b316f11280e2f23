"""Ids are found whatever they are; the answers are those of a dictionary."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unchurn.comparison.inputs.ids.lookup import ABSENT, find, repeated

KINDS = {
    "close": st.integers(-20, 20),
    "far apart": st.integers(-(2**63), 2**63 - 1),
    "text": st.text(max_size=3),
    "floats": st.floats(allow_nan=False).map(lambda x: x + 0.0),  # −0 is 0
    "dates": st.dates(),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_id_is_found_where_it_is(kind, data):
    ids, among = (pl.Series(data.draw(st.lists(KINDS[kind], unique=True, min_size=1)))
                  for _ in range(2))  # fmt: skip
    where = {one: row for row, one in enumerate(among)}
    expected = [where.get(one, ABSENT) for one in ids]
    found = find(ids, among)
    assert (list(range(len(ids))) if found is None else found.tolist()) == expected


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_ids_that_are_there_again_are_counted(kind, data):
    ids = data.draw(st.lists(KINDS[kind], min_size=1))
    assert repeated(pl.Series(ids)) == len(ids) - len(set(ids))


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (pl.Int8, -128, 127),
        (pl.UInt8, 0, 255),
        (pl.UInt32, 0, 2**32 - 1),
        (pl.UInt64, 0, 2**64 - 1),
    ],
)
def test_narrow_and_unsigned_numbers_do_not_overflow(kind, low, high):
    ids, among = pl.Series([low, high], dtype=kind), pl.Series([high], dtype=kind)
    assert find(ids, among).tolist() == [ABSENT, 0]  # type: ignore[union-attr]
    assert repeated(ids) == 0


@pytest.mark.parametrize("step", [1, 10**12])
@pytest.mark.parametrize("kind", [pl.Int64, pl.String])
def test_many_rows_in_several_blocks(rng, step, kind):
    order = rng.permutation(300_000)
    ids = pl.Series(np.arange(300_000) * step).cast(kind)
    found = find(ids, ids.gather(order[:200_000]))
    expected = np.full(300_000, ABSENT)
    expected[order[:200_000]] = np.arange(200_000)
    np.testing.assert_array_equal(found, expected)
    assert repeated(ids.gather(order)) == 0
    assert repeated(pl.concat([ids, ids[:7]])) == 7


def test_hashes_that_collide_are_told_apart(monkeypatch):
    monkeypatch.setattr(pl.Series, "hash", lambda ids: pl.Series([7] * len(ids), dtype=pl.UInt64))
    ids = pl.Series(["a", "b", "c"])
    assert find(ids, pl.Series(["c", "a"])).tolist() == [1, ABSENT, 0]  # type: ignore[union-attr]
    assert repeated(ids) == 0
