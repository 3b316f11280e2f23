import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, false_discovery_control, fisher_exact

from unchurn import compare
from unchurn.comparison.measures.outcomes import FLIPPED
from unchurn.comparison.measures.slices import take_rare_together
from unchurn.core.errors import InputError
from unchurn.metrics.intervals import (
    clustered_difference,
    clustered_p_value,
    clustered_proportion,
    proportion,
)


def table_of(flip, inside):
    """Flipped and not, inside and in the rest."""
    return [[flip[part].sum(), (~flip[part]).sum()] for part in (inside, ~inside)]


def test_a_slice_that_flips_more_is_found_among_many(rng):
    n = 4000
    base = np.zeros(n, int)
    country = rng.choice(list("abcdefgh"), n)
    flip = rng.random(n) < np.where(country == "c", 0.2, 0.03)
    result = compare(base, flip.astype(int), slices={"country": country})
    worst = result.slices[0]
    more = [s.value for s in result.slices if s.is_notable and s.churn.value > s.rest]
    assert more == ["c"] == [worst.value]
    inside = country == "c"
    assert worst.churn == proportion(int(flip[inside].sum()), int(inside.sum()))
    assert worst.rest == flip[~inside].mean()
    by_hand = chi2_contingency(table_of(flip, inside), correction=False).pvalue
    assert worst.p == pytest.approx(by_hand, rel=1e-9)
    p = [chi2_contingency(table_of(flip, country == s.value), correction=False).pvalue
         for s in result.slices]  # fmt: skip
    corrected = false_discovery_control(p, method="by")
    assert [s.q for s in result.slices] == pytest.approx(corrected, rel=1e-9)


def test_few_flips_are_judged_by_fishers_test():
    flip = np.arange(200) % 50 == 0  # of the first half two, of the other two
    flip[:4] = True
    half = np.arange(200) < 100
    one, two = compare(np.zeros(200, int), flip.astype(int), slices={"half": half}).slices
    expected = fisher_exact(table_of(flip, half)).pvalue
    assert 0.1 < expected < 1
    assert one.p == two.p == pytest.approx(expected)


def test_gaps_are_a_slice_and_rare_values_are_taken_together():
    values = [None] * 60 + ["x"] * 60 + ["y"] * 5 + ["z"] * 3
    base = np.zeros(128, int)
    result = compare(base, (np.arange(128) >= 120).astype(int), slices={"s": values})
    assert [(one.column, one.value, one.n) for one in result.slice_counts] == [
        ("s", "(missing)", 60), ("s", "x", 60), ("s", "y", 5), ("s", "z", 3),
    ]  # fmt: skip
    together = take_rare_together(result.slice_counts, 50)
    assert [(one.value, one.n) for one in together] == [
        ("(missing)", 60), ("x", 60), ("(2 values of under 50 examples)", 8),
    ]  # fmt: skip
    assert together[-1].counts.number(FLIPPED) == 8


def test_small_slices_are_not_compared_and_identifiers_refused():
    base = np.zeros(100, int)
    result = compare(base, base, slices={"s": ["x"] * 30 + ["y"] * 70}, min_slice=50)
    assert [s.value for s in result.slices] == ["y"]
    assert "s=x: 30 examples are too few to compare (fewer than 50)" in result.notes
    rare = [*"abcdef" * 10, *"y" * 40]
    assert [s.value for s in compare(base, base, slices={"s": rare}, min_slice=40).slices] == [
        "(6 values of under 40 examples)",
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


@given(st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_slices_of_clusters_are_as_if_each_had_a_row_for_every_cluster(n, seed):
    draw = np.random.default_rng(seed)
    value = draw.binomial(5, 0.4, n)
    names, cluster = np.unique(draw.integers(0, 20, n).astype(str), return_inverse=True)
    flip, true = draw.integers(0, 2, (2, n))
    flip[0] = true[0] = 0  # a class that both models and the labels have
    min_size = 4
    found = compare(np.zeros(n, int), flip, true, slices={"s": value}, cluster=names[cluster],
                    min_slice=min_size)  # fmt: skip
    rare = [v for v in np.unique(value) if (value == v).sum() < min_size]
    inside = {str(v): value == v for v in np.unique(value) if len(rare) < 2 or v not in rare}
    if len(rare) > 1:
        inside[f"({len(rare)} values of under {min_size} examples)"] = np.isin(value, rare)
    inside = {name: part for name, part in inside.items() if part.sum() >= min_size}

    def each(examples):
        return np.bincount(cluster[examples], minlength=len(names))

    assert {one.value for one in found.slices} == set(inside)
    for one in found.slices:
        part = inside[one.value]
        good, bad = (each(part & (flip == 1) & (true == label)) for label in (1, 0))
        assert repr(one.churn) == repr(clustered_proportion(good + bad, each(part)))
        assert repr(one.bad_flips) == repr(clustered_proportion(bad, each(part)))
        assert repr(one.accuracy_difference) == repr(clustered_difference(good, bad, each(part)))
        rest = each(~part & (flip == 1)), each(~part)
        expected = 1.0 if part.all() else clustered_p_value(good + bad, each(part), *rest)
        assert one.p == expected


def test_many_slices_keep_no_row_for_the_clusters_of_others():
    n = 600
    found = compare(np.zeros(n), np.arange(n) % 2, slices={"s": np.arange(n) // 6},
                    cluster=np.arange(n) // 2)  # fmt: skip
    assert sum(one.counts.table.shape[0] for one in found.slice_counts) == n / 2
