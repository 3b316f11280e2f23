import numpy as np
import pytest
from scipy.stats import fisher_exact

from unchurn import compare
from unchurn.core.errors import InputError
from unchurn.metrics.intervals import proportion

RNG = np.random.default_rng(0)


def test_a_slice_that_flips_more_is_found_among_many():
    n = 4000
    base = np.zeros(n, int)
    country = RNG.choice(list("abcdefgh"), n)
    flip = RNG.random(n) < np.where(country == "c", 0.2, 0.03)
    result = compare(base, flip.astype(int), slices={"country": country})
    worst = result.slices[0]
    more = [s.value for s in result.slices if s.is_notable and s.churn.value > s.rest]
    assert more == ["c"] == [worst.value]
    inside = country == "c"
    assert worst.churn == proportion(int(flip[inside].sum()), int(inside.sum()))
    assert worst.rest == flip[~inside].mean()
    table = [[flip[part].sum(), (~flip[part]).sum()] for part in (inside, ~inside)]
    assert worst.p < 1e-10
    assert fisher_exact(table).pvalue < 1e-10
    assert all(s.q >= s.p for s in result.slices)


def test_small_slices_are_not_compared_and_identifiers_refused():
    base = np.zeros(100, int)
    result = compare(base, base, slices={"s": ["x"] * 30 + ["y"] * 70}, min_slice=50)
    assert [s.value for s in result.slices] == ["y"]
    assert "s=x: 30 examples are too few to compare (fewer than 50)" in result.notes
    rare = [*"abcdef" * 10, *"y" * 40]
    assert [s.value for s in compare(base, base, slices={"s": rare}, min_slice=40).slices] == [
        "(6 values under 40)",
        "y",
    ]
    with pytest.raises(InputError, match="has 2,000 distinct values: slices are for categories"):
        compare(np.zeros(2000), np.zeros(2000), slices={"s": np.arange(2000)})


def test_a_slice_of_everything_has_no_rest():
    base = np.zeros(100, int)
    (one,) = compare(base, base, slices={"s": ["x"] * 100}).slices
    assert (one.n, one.p, one.to_dict()["rest"]) == (100, 1.0, None)


def test_a_slice_of_two_users_does_not_differ_beyond_chance():
    users = np.repeat(np.arange(202), 10)
    device = np.where(users < 2, "watch", "phone")
    flip = ((users < 2) & (np.arange(2020) % 10 < 2)) | (np.arange(2020) % 10 < (users % 3 == 0))
    result = compare(np.zeros(2020), flip.astype(int), slices={"d": device}, cluster=users,
                     min_slice=10)  # fmt: skip
    assert not any(one.is_notable for one in result.slices)
