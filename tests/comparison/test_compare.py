import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

import unchurn
from unchurn import compare, flips
from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.report import tables, words
from unchurn.comparison.result import MEASURES, flipped
from unchurn.core.errors import InputError
from unchurn.metrics.intervals import paired_difference, proportion

LABELS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3) | st.none()), min_size=1
)


def frame(predictions, **columns):
    return pl.DataFrame({"id": range(len(predictions)), "prediction": predictions, **columns})


def test_every_measure_is_its_definition(rng):
    base, candidate, labels = rng.integers(0, 3, (3, 500))
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
    if known and {row[2] for row in known}.isdisjoint([*base, *candidate]):
        with pytest.raises(InputError, match="the models and the labels have no class in common"):
            compare(table, frame(candidate))
        return
    both = {*base} & {*candidate}
    assume(both or min(len({*base}), len({*candidate})) == 1)  # else it is no comparison
    result = compare(table, frame(candidate), labels_cover="all")
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


def test_probabilities_move(rng):
    p, q = rng.dirichlet([1, 1, 1], (2, 300))
    result = compare(p, q)
    assert result.movement["mean_absolute"] == pytest.approx(np.abs(p - q).mean())
    expected = np.mean(jensenshannon(p, q, base=2, axis=1) ** 2)
    assert result.movement["jensen_shannon"] == pytest.approx(expected)
    np.testing.assert_array_equal(result.paired.base, p.argmax(axis=1))


def test_thresholds_of_two_classes(rng):
    p, q = rng.random((2, 400))
    labels = rng.integers(0, 2, 400)
    result = compare(np.stack([1 - p, p], 1), np.stack([1 - q, q], 1), labels)
    row = next(r for r in result.thresholds if r["threshold"] == 0.3)
    assert row["churn"] == np.mean((p >= 0.3) != (q >= 0.3))
    assert row["accuracy_base"] == np.mean((p >= 0.3) == labels)
    assert f"| 0.3 | {row['churn']:.2%} |" in words.markdown(result)
    assert compare(*rng.dirichlet([1, 1, 1], (2, 10))).thresholds == []


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


def test_it_is_there_by_its_name():
    assert unchurn.compare is compare


def test_the_probability_of_one_class_tells_it_from_all_others(rng):
    p, q = rng.random((2, 200))
    names = np.array(["no", "yes"])
    labels = rng.integers(0, 2, 200)
    base, candidate = (pl.DataFrame({"id": range(200), "score": s}) for s in (p, q))
    truth = pl.DataFrame({"id": range(200), "label": names[labels]})
    result = compare(base, candidate, truth, columns=Columns(positive="yes", threshold=0.3))
    assert result.estimates["accuracy_base"].value == np.mean((p >= 0.3) == labels)
    assert result.estimates["accuracy_candidate"].value == np.mean((q >= 0.3) == labels)
    assert result.paired.classes == ("no", "yes")  # as the labels call it
    unlabelled = compare(base, candidate, columns=Columns(positive="yes"))
    assert unlabelled.paired.classes == ("not yes", "yes")
    named = pl.DataFrame({"id": range(200), "prediction": names[labels]})
    right = compare(base, named, truth, columns=Columns(positive="yes"))
    assert right.estimates["accuracy_candidate"].value == 1
    with pytest.raises(InputError, match="no true label is 'yess', the positive class: no, yes"):
        compare(base, candidate, truth, columns=Columns(positive="yess"))


def test_thresholds_are_for_the_class_that_is_named():
    base = {"id": [1, 2, 3, 4], "p_no": [0.9, 0.4, 0.3, 0.2], "p_yes": [0.1, 0.6, 0.7, 0.8]}
    candidate = {**base, "p_no": [0.9, 0.55, 0.3, 0.2], "p_yes": [0.1, 0.45, 0.7, 0.8]}

    def churn(positive):
        columns = Columns(positive=positive)
        result = compare(pl.DataFrame(base), pl.DataFrame(candidate), columns=columns)
        assert tables.thresholds(result).headings[0] == f"threshold for {positive}"
        return [row["threshold"] for row in result.thresholds if row["churn"]]

    assert churn("yes") == [0.5, 0.55, 0.6]
    assert churn("no") == [0.45, 0.5, 0.55]


def test_gaps_of_any_kind_are_gaps():
    frame_ = pd.DataFrame({"id": [1, 2, 3], "prediction": ["a", "b", np.nan]})
    assert compare(frame_, frame_).n == 2
    clusters = np.array(["u", None, "v"], object)
    assert compare([0, 1, 0], [0, 1, 1], cluster=clusters).estimates["churn"].value == 1 / 3
    missing = pd.Series([0, 1, pd.NA], dtype="Int64")
    assert compare([0, 1, 0], [0, 1, 1], labels=missing).n_labelled == 2


def test_a_list_with_a_gap_is_read_as_a_series_is():
    said, other, truth = ["a", "b", math.nan, "b"], ["a", None, "a", "b"], ["a", "b", "a", math.nan]
    lists = compare(said, other, truth)
    series = compare(*(pd.Series(values, dtype=object) for values in (said, other, truth)))
    assert lists.paired.classes == ("a", "b")
    assert lists.to_dict() == series.to_dict()


def test_a_slice_may_be_one_name():
    base = pl.DataFrame({"prediction": [0, 1], "country": ["de", "de"]})
    assert [s.column for s in compare(base, [0, 1], slices="country", min_slice=1).slices] == [
        "country"
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": [None, None]}, "labels has the label of no example that the models have"),
        (
            {"columns": Columns(label="nosuch")},
            "no column 'nosuch' for label= in either file: there are prediction, tags$",
        ),
        ({"slices": "no"}, "no column 'no' for slices= in either file: there are prediction, ta"),
        ({"slices": pd.Series(["de", "fr"], name="country")}, r"give slices=\{'country': …\}$"),
        (
            {"slices": np.array(["de", "fr"])},
            r"must have a name: give slices=\{'slice': …\}",
        ),
        ({"labels": np.array([0.2, 0.7])}, r"of probabilities give an array \(n, 2\) of both"),
        ({"slices": ["tags"]}, r"base: column 'tags' is List\(String\), no slice"),
        ({"cluster": "tags"}, r"base: column 'tags' is List\(String\), no cluster"),
        ({"names": ("m", "m")}, "names must be two, both are 'm': call one of the models otherw"),
    ],
)
def test_what_cannot_be_used_is_named(arguments, message):
    base = pl.DataFrame({"prediction": [0, 1], "tags": [["a"], ["b"]]})
    with pytest.raises(InputError, match=message):
        compare(base, np.array([0, 1]), **arguments)


def test_what_was_taken_from_labels_and_retrainings_is_told():
    models = [frame([0, 1, 1]) for _ in range(3)]
    truth = pl.DataFrame({"key": [0, 1, 2], "gold": [0, 1, 1]})
    result = compare(models[0], models[1], truth, retrains=models[2:])
    assert result.taken["labels"] == {"id": "key", "label": "gold"}
    assert result.taken["retrainings"] == {"id": "id", "prediction": "prediction"}
    other = models[2].rename({"prediction": "pred"})
    taken = compare(models[0], models[1], retrains=[models[2], other]).taken
    assert taken["retraining 2"] == {"id": "id", "prediction": "pred"}


def test_a_prediction_without_a_probability_counts():
    said, score = [0, 1, 0, 1], [0.1, 0.9, None, None]
    base = frame(said, score=score)
    candidate = frame([0, 1, 1, 0], score=score)
    result = compare(base, candidate)
    assert (result.n, result.estimates["churn"].value) == (4, 0.5)
    assert result.movement == {"n": 2, "mean_absolute": 0, "jensen_shannon": 0}
    assert flipped(result)["confidence"].to_list() == [None, None]


def test_equal_probabilities_are_decided_alike_whatever_the_order_of_columns():
    even = [0.5] * 20
    base = pl.DataFrame({"id": range(20), "p_x": even, "p_y": even})
    assert compare(base, base.select("id", "p_y", "p_x")).estimates["churn"].value == 0


def test_thresholds_know_a_third_label_as_wrong():
    p = pl.DataFrame({"id": [1, 2, 3], "p_0": [0.9, 0.2, 0.9], "p_1": [0.1, 0.8, 0.1]})
    base = p.with_columns(label=pl.Series([0, 1, 2]))
    result = compare(base, p)
    half = next(row for row in result.thresholds if row["threshold"] == 0.5)
    assert half["accuracy_base"] == result.estimates["accuracy_base"].value == 2 / 3


def test_two_empty_columns_of_labels_are_no_labels():
    p = pl.DataFrame({"id": [1, 2], "p_0": [0.9, 0.1], "p_1": [0.1, 0.9], "label": [None, None]})
    result = compare(p, p)
    assert result.n_labelled == 0
    json.dumps(result.to_dict(), allow_nan=False)


def test_values_of_odd_types_are_named():
    bytes_ = pl.DataFrame({"id": [1, 2], "prediction": [0, 1], "b": [b"\xff", b"\xfe"]})
    for arguments, what in (
        ({"slices": ["b"]}, "slices"),
        ({"cluster": "b"}, "clusters"),
        ({"columns": Columns(label="b")}, "labels"),
    ):
        with pytest.raises(InputError, match=f"base: column '.*' is Binary, no {what}"):
            compare(bytes_, bytes_, **arguments)
    with pytest.raises(InputError, match="one value per example"):
        compare([0, 1], [0, 1], slices={"s": [[1], [2]]})
    lists = pl.DataFrame({"id": [[1], [2]], "prediction": [0, 1]})
    with pytest.raises(InputError, match=r"base: column 'id' is List\(Int64\), no ids"):
        compare(lists, lists)
    assert compare(bytes_, bytes_[::-1], columns=Columns(id="b")).estimates["churn"].value == 0


def test_a_test_that_takes_rows_as_independent_is_not_shown_for_clusters():
    base, candidate, truth = [0, 1] * 30, [0, 0] * 30, [0, 1] * 30
    assert compare(base, candidate, truth).mcnemar is not None
    clustered = compare(base, candidate, truth, cluster=np.arange(60) // 6)
    assert clustered.mcnemar is None
    assert clustered.to_dict()["mcnemar_p"] is None
    assert "McNemar" not in clustered.markdown()


def test_slices_of_too_many_values_are_noted():
    base = pl.DataFrame({"prediction": [0] * 60, "age": range(60)})
    notes = compare(base, [0] * 60, slices="age").notes
    assert any(note.startswith("age: none of its values has 50 examples") for note in notes)


def test_order_does_not_matter_and_rows_of_one_side_are_counted(rng):
    base, candidate, labels = rng.integers(0, 3, (3, 200))
    whole = frame(base, label=labels)
    other = frame(candidate).sample(fraction=1, shuffle=True, seed=1)
    same = compare(whole, other).to_dict()
    assert same == compare(whole, frame(candidate)).to_dict()
    part = compare(whole[10:], other.filter(pl.col("id") < 190))
    assert part.n == 180
    assert part.paired.excluded == {"only in base": 10, "only in candidate": 10}
    np.testing.assert_array_equal(part.paired.ids.to_numpy(), np.arange(10, 190))


def test_labels_may_come_from_anywhere(rng):
    base, candidate, labels = rng.integers(0, 2, (3, 100))
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


@pytest.mark.parametrize(("truth", "said"), [
    (["yes", "no"], "proba_no, proba_yes;"), (["dog", "cat"], "proba_cat, proba_dog;"),
])  # fmt: skip
def test_probabilities_by_number_and_labels_by_name_say_how_to_call_the_columns(truth, said):
    base = pl.DataFrame({"id": [1, 2], "proba_0": [0.2, 0.9], "proba_1": [0.8, 0.1]})
    labels = pl.DataFrame({"id": [1, 2], "label": truth})
    with pytest.raises(InputError, match=said) as error:
        compare(base, base, labels)
    assert str(error.value).endswith("list them with probabilities=")
    names = said.removesuffix(";").split(", ")
    named = base.rename(dict(zip(("proba_0", "proba_1"), names, strict=True)))
    assert compare(named, named, labels).estimates["accuracy_base"].value == 1


def test_without_labels_it_says_in_which_columns_they_may_stand():
    table = frame([0, 1, 1]).with_columns(is_fraud=1, segment=2, user=pl.Series([3, 4, 4]))
    said = "no true labels found; not used: "
    assert compare(table, table).notes[-1] == f"{said}is_fraud, segment, user"
    found = compare(table, table, slices="segment", cluster="user")
    assert found.notes[-1] == f"{said}is_fraud"
    named = compare(table, table, columns={"label": "is_fraud"})
    truth = pl.DataFrame({"id": [0, 1, 2], "label": [0, 1, 1]})
    for other in (named, compare(table, table, truth), compare(frame([0]), frame([0]))):
        assert not any("no true labels" in note for note in other.notes)
    wide = frame([0]).with_columns(**{f"x{i}": 0 for i in range(9)})
    assert compare(wide, wide).notes[-1].endswith("x6, x7 …")
