import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import fisher_exact

import unchurn
from unchurn import compare, flips
from unchurn.comparison import MEASURES
from unchurn.errors import InputError
from unchurn.predictions import Columns
from unchurn.report import words
from unchurn.report.flipped import flipped, write_flipped
from unchurn.stats import paired_difference, proportion

RNG = np.random.default_rng(0)
LABELS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3) | st.none()), min_size=1
)


def frame(predictions, **columns):
    return pl.DataFrame({"id": range(len(predictions)), "prediction": predictions, **columns})


def test_every_measure_is_its_definition():
    base, candidate, labels = RNG.integers(0, 3, (3, 500))
    result = compare(base, candidate, labels)
    counts = flips(base, candidate, labels)
    right = base == labels
    expected = {
        "churn": proportion(int((base != candidate).sum()), 500),
        "accuracy_base": proportion(int(right.sum()), 500),
        "accuracy_candidate": proportion(int((candidate == labels).sum()), 500),
        "accuracy_difference": paired_difference(counts.good_flips, counts.bad_flips, 500),
        "churn_correct": proportion(counts.bad_flips, int(right.sum())),
        "churn_incorrect": proportion(
            counts.good_flips + counts.wrong_to_wrong, int((~right).sum())
        ),
        "bad_flips": proportion(counts.bad_flips, 500),
        "good_flips": proportion(counts.good_flips, 500),
        "wrong_to_wrong": proportion(counts.wrong_to_wrong, 500),
    }
    assert result.estimates == expected
    assert tuple(result.estimates) == MEASURES


@given(LABELS)
def test_counts_always_add_up(rows):
    base, candidate, labels = (list(column) for column in zip(*rows, strict=True))
    table = frame(base, label=pl.Series(labels, dtype=pl.Int64))
    known = [row for row in rows if row[2] is not None]
    result = compare(table, frame(candidate))
    assert result.n == len(rows)
    assert result.n_labelled == len(known)
    moved = sum(b != c for b, c, _ in rows)
    assert result.estimates["churn"].value * result.n == pytest.approx(moved)
    assert sum(c["flips_from"] for c in result.classes) == moved
    assert sum(c["flips_to"] for c in result.classes) == moved
    if known:
        parts = ("bad_flips", "good_flips", "wrong_to_wrong")
        total = sum(result.estimates[part].value for part in parts) * len(known)
        assert total == pytest.approx(sum(b != c for b, c, _ in known))
        change = result.estimates["accuracy_candidate"].value
        change -= result.estimates["accuracy_base"].value
        assert result.estimates["accuracy_difference"].value == pytest.approx(change)
    for value in result.estimates.values():
        if not math.isnan(value.low):
            assert value.low - 1e-12 <= value.value <= value.high + 1e-12
    json.dumps(result.to_dict(), allow_nan=False)
    assert flipped(result).height == moved


def test_order_does_not_matter_and_rows_of_one_side_are_counted():
    base, candidate, labels = RNG.integers(0, 3, (3, 200))
    whole = frame(base, label=labels)
    other = frame(candidate).sample(fraction=1, shuffle=True, seed=1)
    same = compare(whole, other).to_dict()
    assert same == {**compare(whole, frame(candidate)).to_dict()}
    part = compare(whole[10:], other.filter(pl.col("id") < 190))
    assert part.n == 180
    assert part.paired.excluded == {"only in base": 10, "only in candidate": 10}
    np.testing.assert_array_equal(part.paired.ids.to_numpy(), np.arange(10, 190))


def test_ids_of_different_types_are_joined():
    base = pl.DataFrame({"id": [1, 2], "prediction": ["x", "y"]})
    candidate = pl.DataFrame({"id": ["2", "1"], "prediction": ["y", "x"]})
    assert compare(base, candidate).estimates["churn"].value == 0


def test_labels_may_come_from_anywhere():
    base, candidate, labels = RNG.integers(0, 2, (3, 100))
    expected = compare(base, candidate, labels).estimates
    apart = frame(labels).rename({"prediction": "label"}).reverse()
    for result in (
        compare(frame(base, label=labels), frame(candidate)),
        compare(frame(base), frame(candidate, label=labels)),
        compare(frame(base, label=labels), frame(candidate, label=labels)),
        compare(frame(base), frame(candidate), apart),
        compare(
            pd.DataFrame(frame(base).to_dict()), pd.DataFrame(frame(candidate).to_dict()), apart
        ),
    ):
        assert result.estimates == expected


def test_examples_without_a_label_count_for_churn_alone():
    table = frame([0, 1, 1, 0], label=pl.Series([0, 1, None, None], dtype=pl.Int64))
    result = compare(table, frame([0, 0, 0, 0]))
    assert result.estimates["churn"].value == 0.5
    assert result.n_labelled == 2
    assert result.estimates["bad_flips"].value == 0.5
    assert "2 examples have no true label" in " ".join(result.notes)


def test_probabilities_move():
    p, q = RNG.dirichlet([1, 1, 1], (2, 300))
    result = compare(p, q)
    assert result.movement["mean_absolute"] == pytest.approx(np.abs(p - q).mean())
    expected = np.mean(jensenshannon(p, q, base=2, axis=1) ** 2)
    assert result.movement["jensen_shannon"] == pytest.approx(expected)
    np.testing.assert_array_equal(result.paired.base, p.argmax(axis=1))


def test_thresholds_of_two_classes():
    p, q = RNG.random((2, 400))
    labels = RNG.integers(0, 2, 400)
    result = compare(np.stack([1 - p, p], 1), np.stack([1 - q, q], 1), labels)
    row = next(r for r in result.thresholds if r["threshold"] == 0.3)
    assert row["churn"] == np.mean((p >= 0.3) != (q >= 0.3))
    assert row["accuracy_base"] == np.mean((p >= 0.3) == labels)
    assert f"| 0.3 | {row['churn']:.2%} |" in words.markdown(result)
    assert compare(*RNG.dirichlet([1, 1, 1], (2, 10))).thresholds == []


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
    with pytest.raises(InputError, match="has 2,000 distinct values: slices are for categories"):
        compare(np.zeros(2000), np.zeros(2000), slices={"s": np.arange(2000)})


def test_clusters_widen_the_intervals():
    users = np.repeat(np.arange(100), 20)
    flip = np.repeat(RNG.random(100) < 0.2, 20).astype(int)  # all of a user's rows flip together
    plain = compare(np.zeros(2000, int), flip).estimates["churn"]
    result = compare(np.zeros(2000, int), flip, cluster=users)
    found = result.estimates["churn"]
    assert found.value == plain.value
    assert found.high - found.low > 3 * (plain.high - plain.low)
    table = frame(np.zeros(2000, int), user=users)
    assert compare(table, frame(flip), cluster="user").estimates["churn"] == found
    sliced = compare(table, frame(flip), cluster="user", slices={"half": users < 50})
    assert all(s.p > 0.001 for s in sliced.slices)


def test_the_noise_floor_and_what_is_beyond_it():
    truth = RNG.integers(0, 2, 3000)

    def retrained(rate):
        return np.where(RNG.random(3000) < rate, 1 - truth, truth)

    base, *others = (retrained(0.03) for _ in range(6))
    same = compare(base, retrained(0.03), retrains=others).floor
    assert same.is_another_retraining
    assert same.excess.low < 0 < same.excess.high
    assert same.each == tuple((base != other).mean() for other in others)
    assert same.churn.value == pytest.approx(np.mean(same.each))
    far = compare(base, retrained(0.10), retrains=others)
    assert far.floor.is_another_retraining is False
    assert far.floor.excess.value == pytest.approx(
        far.estimates["churn"].value - np.mean(same.each)
    )
    assert far.floor.excess.low > 0
    assert "It is not just another retraining" in words.floor_sentence(far)
    alone = compare(base, others[0], retrains=others[1:2]).floor
    assert alone.is_another_retraining is None
    assert "one retraining gives no interval" in " ".join(alone.notes)
    assert "only the seed" in " ".join(alone.notes)


def test_the_floor_is_of_the_rows_that_all_have():
    base, candidate, other = RNG.integers(0, 2, (3, 100))
    retrain = frame(other)[20:].sample(fraction=1, shuffle=True, seed=0)
    floor = compare(frame(base), frame(candidate), retrains=[retrain, frame(other)]).floor
    assert floor.n == 80
    assert floor.each == tuple([np.mean(base[20:] != other[20:])] * 2)
    assert floor.candidate == np.mean(base[20:] != candidate[20:])


def test_flips_are_ranked_for_a_labeller_and_safe_in_a_spreadsheet(tmp_path):
    labels = ["a", "a", "a", "=b", "a"]
    base = pl.DataFrame({"id": ["@1", "2", "3", "4", "-5"], "p_a": [0.9, 0.9, 0.2, 0.9, 0.9],
                         "p_=b": [0.1, 0.1, 0.8, 0.1, 0.1], "label": labels})  # fmt: skip
    candidate = pl.DataFrame({"id": ["@1", "2", "3", "4", "-5"], "p_a": [0.3, 0.1, 0.9, 0.2, 0.9],
                              "p_=b": [0.7, 0.9, 0.1, 0.8, 0.1]})  # fmt: skip
    table = flipped(compare(base, candidate))
    assert table["id"].to_list() == ["2", "@1", "3", "4"]
    assert table["kind"].to_list() == ["bad", "bad", "good", "good"]
    assert table["confidence"].to_list() == [0.9, 0.7, 0.9, 0.8]
    assert write_flipped(compare(base, candidate), tmp_path / "f.csv") == 4
    cells = (tmp_path / "f.csv").read_text()
    assert "'@1,a,'=b,a,bad" in cells
    assert not any(c[0] in "=+@" for line in cells.splitlines() for c in line.split(",") if c)


def test_formulas_are_safe_in_columns_of_any_kind(tmp_path):
    kinds = pl.Series(["=1+0", "@x"], dtype=pl.Categorical)
    result = compare(frame([0, 1], s=kinds), frame([1, 0]), slices=["s"])
    write_flipped(result, tmp_path / "f.csv")
    assert sorted((tmp_path / "f.csv").read_text().split()[1:]) == ["0,0,1,'=1+0", "1,1,0,'@x"]


def test_markdown_shows_any_name_as_text():
    evil = "<img src=x onerror=alert(1)>|*b*"
    result = compare([evil, "a"], ["a", "a"], [evil, "a"])
    text = words.markdown(result)
    assert "<img" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;\\|\\*b\\*" in text
    assert words.headline(result).startswith("50.00% of 2 predictions change")


@pytest.mark.parametrize(
    ("base", "candidate", "labels", "message"),
    [
        ([0, 1], [0, 1, 1], None, "base has 2 rows, candidate 3, and there are no ids"),
        (frame([0]), [0], None, "base has ids and candidate has none"),
        (frame([0]), pl.DataFrame({"id": [9], "prediction": [0]}), None, "no id in common"),
        ([0, 1], ["x", "y"], None, "no class in common: 0, 1 and x, y"),
        ([0, 1], [0, 1], ["x", "y"], "no class in common"),
        (frame([0, 1], label=[0, 1]), frame([0, 1], label=[0, 0]), None, "differ in 1 rows"),
        ([0, 1], [0, 1], [0], "base has 2 rows, labels 1"),
        (np.zeros((2, 2, 2)), [0, 1], None, "base: must be labels (n,) or probabilities"),
    ],
)
def test_what_cannot_be_compared_is_named(base, candidate, labels, message):
    with pytest.raises(InputError) as error:
        compare(base, candidate, labels)
    assert message in str(error.value)


def test_classes_of_one_side_are_noted():
    result = compare(["a", "b"], ["a", "c"], ["a", "d"])
    assert "classes only in base: b" in result.notes
    assert "classes only in the labels: d" in result.notes


def test_it_is_there_by_its_name():
    assert unchurn.compare is compare


def test_the_probability_of_one_class_tells_it_from_all_others():
    p, q = RNG.random((2, 200))
    names = np.array(["no", "yes"])
    labels = RNG.integers(0, 2, 200)
    base, candidate = (pl.DataFrame({"id": range(200), "score": s}) for s in (p, q))
    truth = pl.DataFrame({"id": range(200), "label": names[labels]})
    result = compare(base, candidate, truth, columns=Columns(positive="yes", threshold=0.3))
    assert result.estimates["accuracy_base"].value == np.mean((p >= 0.3) == labels)
    assert result.estimates["accuracy_candidate"].value == np.mean((q >= 0.3) == labels)
    assert result.paired.classes == ("not yes", "yes")
    named = pl.DataFrame({"id": range(200), "prediction": names[labels]})
    right = compare(base, named, truth, columns=Columns(positive="yes"))
    assert right.estimates["accuracy_candidate"].value == 1
    with pytest.raises(InputError, match="no true label is 'yess', the positive class: no, yes"):
        compare(base, candidate, truth, columns=Columns(positive="yess"))
