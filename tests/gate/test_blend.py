import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unchurn import Columns, InputError, blend, compare

NAMES = ("cat", "dog", "eel")


def frames(rng, n=500, classes=NAMES):
    """Two models' frames in other orders, and the truth by id."""
    truth = rng.integers(0, len(classes), n)
    ids = np.array([f"u{i}" for i in range(n)])
    made = []
    for _ in range(2):
        logits = rng.normal(size=(n, len(classes))) + 2 * np.eye(len(classes))[truth]
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        columns = {"id": ids, **{f"p_{c}": p[:, i] for i, c in enumerate(classes)}}
        made.append(pl.DataFrame(columns).sample(fraction=1, shuffle=True, seed=len(made)))
    return *made, pl.DataFrame({"id": ids, "label": np.array(classes)[truth]})


def numbers(comparison):
    """The estimates of a comparison by the names that a blend has for them."""
    found = dict(comparison.estimates)
    found["accuracy"] = found.get("accuracy_candidate")
    return found


def test_what_is_said_of_both_is_what_compare_says(rng):
    base, candidate, truth = frames(rng)
    found = blend(base, candidate, truth, max_bad_flips=0.01)
    alone = numbers(compare(base, candidate, truth))
    served = numbers(compare(base, found.table, truth))
    assert found.candidate == {name: alone[name] for name in found.candidate}
    assert found.served == {name: served[name] for name in found.served}
    assert served["bad_flips"].value <= 0.01 < alone["bad_flips"].value
    assert served["accuracy_difference"].value > 0
    assert found.switched.sum() == round(served["churn"].value * 500)


def test_a_ratio_that_was_chosen_serves_other_rows_without_labels(rng):
    base, candidate, truth = frames(rng)
    chosen = blend(base, candidate, truth, max_churn=0.1)
    again = blend(base, candidate, ratio=chosen.ratio)
    assert again.table.equals(chosen.table)
    assert (chosen.is_chosen, again.is_chosen) == (True, False)
    assert set(again.served) == {"churn"}
    assert repr(again).startswith(f"Ratio {chosen.ratio}: 50 of ")


def test_infinity_serves_the_base_and_zero_the_candidate(rng):
    base, candidate, _ = frames(rng)
    for ratio, model in ((math.inf, base), (0, candidate)):
        served = blend(base, candidate, ratio=ratio).table
        assert served["id"].to_list() == base["id"].to_list()
        assert compare(model, served).estimates["churn"].value == 0


def test_rows_are_served_with_their_own_probabilities(rng):
    base, candidate, _ = frames(rng)
    served = blend(base, candidate, ratio=1).table
    of = {name: table.sort("id").drop("id").to_numpy() for name, table in
          (("base", base), ("candidate", candidate))}  # fmt: skip
    shown = served.sort("id").drop("id", "prediction").to_numpy()
    surer = np.where(of["candidate"].max(axis=1) > of["base"].max(axis=1), "candidate", "base")
    differs = of["candidate"].argmax(axis=1) != of["base"].argmax(axis=1)
    for row, who in enumerate(np.where(differs, surer, "base")):
        assert (shown[row] == of[who][row]).all()


def test_the_base_gives_no_probability_to_a_new_class():
    base = pl.DataFrame({"id": [1, 2], "p_cat": [0.7, 0.2], "p_dog": [0.3, 0.8]})
    new = {"id": [2, 1], "p_dog": [0.1, 0.5], "p_eel": [0.85, 0.3], "p_cat": [0.05, 0.2]}
    found = blend(base, pl.DataFrame(new), ratio=1)
    assert found.table.to_dict(as_series=False) == {
        "id": [1, 2], "prediction": ["cat", "eel"], "probability_cat": [0.7, 0.05],
        "probability_dog": [0.3, 0.1], "probability_eel": [0.0, 0.85],
    }  # fmt: skip


def test_two_classes_by_one_probability():
    base, new = ({"id": [1, 2, 3], "prediction": ["no", "no", "yes"], "score": [0.4, 0.1, 0.8]},
                 {"id": [1, 2, 3], "prediction": ["yes", "yes", "yes"], "score": [0.9, 0.6, 0.9]}
                 )  # fmt: skip
    asked = Columns(positive="yes")
    found = blend(pl.DataFrame(base), pl.DataFrame(new), ratio=1, columns=asked)
    assert found.table["prediction"].to_list() == ["yes", "no", "yes"]
    assert found.table["probability_yes"].to_list() == [0.9, 0.1, 0.8]
    again = compare(pl.DataFrame(base), found.table, columns=asked)
    assert again.estimates["churn"].value == pytest.approx(1 / 3)


def test_answers_by_a_threshold_have_doubts_of_their_own():
    """From 0.2 on the answer is 1: one of 0.3 is in much doubt of it, though it is not of 0."""
    base, new = np.array([0.1, 0.3]), np.array([0.3, 0.1])
    tables = [pl.DataFrame({"id": [1, 2], "p": p}) for p in (base, new)]
    found = blend(*tables, ratio=1, columns=Columns(threshold=0.2))
    assert found.table["prediction"].to_list() == [0, 0]


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series([3, 1, 2], dtype=pl.UInt8), pl.Series(["007", "7", "a"]),
        pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 3), eager=True),
    ],
    ids=["numbers", "text", "dates"],
)  # fmt: skip
@pytest.mark.parametrize("ending", [".parquet", ".csv", ".jsonl"])
def test_compare_reads_back_what_is_served(tmp_path, ids, ending):
    base = pl.DataFrame({"key": ids, "label": [0, 1, 1], "p": [0.4, 0.1, 0.8]})
    candidate = pl.DataFrame({"uid": ids, "p": [0.8, 0.6, 0.1]}).reverse()
    found = blend(base, candidate, max_churn=0.7)
    assert found.table["key"].dtype == ids.dtype
    found.write(tmp_path / f"served{ending}")
    again = compare(base, tmp_path / f"served{ending}")
    assert again.estimates["churn"] == found.served["churn"]
    assert again.estimates["bad_flips"] == found.served["bad_flips"]
    assert again.movement is not None


def test_rows_without_ids_stay_without(rng):
    base, candidate, truth = (table.sort("id").drop("id") for table in frames(rng))
    found = blend(base, candidate, truth["label"].to_list(), max_bad_flips=0.01)
    assert "id" not in found.table.columns
    assert compare(base, found.table).estimates["churn"] == found.served["churn"]
    gap = candidate.with_columns(p_cat=pl.when(pl.int_range(500) != 3).then("p_cat"))
    with pytest.raises(InputError, match="1 of 500 rows are left out, and without ids"):
        blend(base, gap, ratio=1)


def test_an_index_that_pandas_wrote_comes_back_as_one(tmp_path):
    for name, p in (("base", [0.4, 0.1, 0.8]), ("candidate", [0.9, 0.1, 0.7])):
        pd.DataFrame({"p": p}, index=[5, 7, 6]).to_csv(tmp_path / f"{name}.csv")
    found = blend(tmp_path / "base.csv", tmp_path / "candidate.csv", ratio=1)
    found.write(tmp_path / "served.csv")
    again = compare(tmp_path / "base.csv", tmp_path / "served.csv")
    assert (again.n, again.estimates["churn"].value) == (3, pytest.approx(1 / 3))


def test_labels_on_flips_alone_keep_a_budget_of_all_rows(rng):
    base, candidate, truth = frames(rng)
    moved = compare(base, candidate).outcomes.flipped
    flipped = truth.filter(pl.col("id").is_in(base["id"].filter(pl.Series(moved)).implode()))
    whole = blend(base, candidate, truth, max_bad_flips=0.01)
    few = blend(base, candidate, flipped, max_bad_flips=0.01, labels_cover="flips")
    assert few.ratio == whole.ratio
    assert few.served["bad_flips"] == whole.served["bad_flips"]
    assert "accuracy" not in few.served


def test_clusters_widen_the_intervals(rng):
    base, candidate, truth = frames(rng)
    truth = truth.with_columns(user=pl.Series(np.arange(500) // 50))
    narrow, wide = (blend(base, candidate, truth, max_churn=0.1, cluster=c).served["churn"]
                    for c in (None, "user"))  # fmt: skip
    assert narrow.value == wide.value
    assert (narrow.low, narrow.high) != (wide.low, wide.high)


def test_to_dict_is_plain(rng):
    base, candidate, truth = frames(rng)
    plain = blend(base, candidate, truth, max_churn=0.0).to_dict()
    assert (plain["schema"], plain["ratio"], plain["new_answers"]) == ("unchurn.blend/1", None, 0)
    assert plain["served"]["churn"]["value"] == 0
    assert plain["accuracy_base"] == compare(base, candidate, truth).to_dict()["accuracy_base"]
    assert blend(base, candidate, ratio=2).to_dict()["served"]["bad_flips"] is None


def test_what_cannot_be_blended_is_named(rng):
    base, candidate, truth = frames(rng)
    answers = base.select("id", prediction=pl.lit("cat"))
    odd = base.with_columns(prediction=pl.lit("cow"))
    gaps = candidate.with_columns(prediction=pl.lit("dog"), p_cat=None, p_dog=None, p_eel=None)
    for call, message in (
        (lambda: blend(answers, candidate, ratio=1), "base: probabilities are needed, and there"),
        (lambda: blend(base, answers, ratio=1), "candidate: probabilities are needed"),
        (lambda: blend(base, odd, ratio=1), "candidate predicts 'cow', and has no probability"),
        (lambda: blend(base, gaps, ratio=1), "answers that differ have no probabilities"),
        (lambda: blend(base, candidate, max_bad_flips=0.1), "needs true labels"),
        (lambda: blend(base, candidate, truth), "Give max_bad_flips= or max_churn="),
        (
            lambda: blend(base, candidate, ratio=1, max_churn=0.1),
            "give ratio= or a budget, not both",
        ),
        (lambda: blend(base, candidate, ratio=-1), "ratio must be a number of 0 or more"),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_columns_may_be_a_dict():
    base = pl.DataFrame({"nr": [7, 3], "answer": [0, 1], "q_0": [0.9, 0.2], "q_1": [0.1, 0.8]})
    named = {"id": "nr", "prediction": "answer", "probabilities": "q_"}
    served = blend(base, base[::-1], ratio=1, columns=named).table
    assert served.select("nr", "answer").to_dict(as_series=False) == {
        "nr": [7, 3],
        "answer": [0, 1],
    }


def test_classes_are_matched_before_doubts_are_taken_and_written_as_base_spells_them():
    """Row 4: doubts of 0.49 and 0.1, so the candidate's 1 is served, and is called true."""
    base = pl.DataFrame(
        {"id": [1, 2, 3, 4], "prediction": [True, False, True, False],
         "probability": [0.51, 0.1, 0.8, 0.49], "label": [False, False, True, True]}
    )  # fmt: skip
    new = pl.DataFrame(
        {"id": [1, 2, 3, 4], "prediction": [0, 0, 1, 1], "probability": [0.1, 0.1, 0.8, 0.9]}
    )
    for columns in (None, Columns(positive="true"), Columns(positive="1")):
        found = blend(base, new, ratio=1, columns=columns)
        assert found.served["accuracy"].value == 1
        assert found.table["prediction"].to_list() == ["false", "false", "true", "true"]
        assert found.table.columns[2:] == ["probability_false", "probability_true"]
        assert found.table["probability_true"].to_list() == [0.1, 0.1, 0.8, 0.9]
        assert compare(base, found.table).estimates["accuracy_candidate"].value == 1
    turned = blend(new, base, ratio=1)
    assert turned.table["prediction"].to_list() == [0, 0, 1, 1]
    assert turned.table.columns[2:] == ["probability_0", "probability_1"]


def test_the_other_class_is_written_as_base_calls_it():
    base = pl.DataFrame({"id": [1, 2], "prediction": ["ok", "fraud"], "probability": [0.1, 0.6]})
    new = pl.DataFrame({"id": [1, 2], "probability": [0.2, 0.05]})
    found = blend(base, new, ratio=1, columns=Columns(positive="fraud")).table
    assert found.to_dict(as_series=False) == {
        "id": [1, 2], "prediction": ["ok", "ok"], "probability_ok": [0.9, 0.95],
        "probability_fraud": [0.1, 0.05],
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_ids_and_classes_are_written_as_they_are_and_join_again(rng, tmp_path, kind):
    """Also such as a spreadsheet would calculate, beside others that differ by a quote alone."""
    base, candidate, truth = (
        table.with_columns(id=pl.col("id").replace({"u0": "=1+1", "u1": "'=1+1", "u2": "@x"}))
        for table in frames(rng, classes=("=cat", "-dog", "eel"))
    )
    found = blend(base, candidate, truth, max_bad_flips=0.01)
    path = tmp_path / f"served.{kind}"
    found.write(path)
    again = compare(base, path, truth)
    assert again.paired.ids.to_list() == base["id"].to_list()
    assert (again.n, again.paired.excluded) == (500, {})
    served = numbers(again)
    assert found.served == {name: served[name] for name in found.served}


def test_a_score_of_an_unknown_class_is_asked_for_it():
    said = pl.DataFrame({"id": [1, 2], "prediction": ["ok", "fraud"], "score": [0.1, 0.6]})
    with pytest.raises(InputError, match=r"Name the positive one, fraud or ok\): give positive=$"):
        blend(said, said, ratio=1)
