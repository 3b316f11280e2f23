"""The rows of a given base: joined by id or by place, its classes matched, or refused."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from bases import (
    BEFORE,
    DATA,
    LOGITS,
    SAID,
    SHORT,
    TABLE,
    TREND,
    X,
    named,
)
from unchurn import StableClassifier, bench, load_table
from unchurn.core.errors import InputError
from unchurn.study.advice.advice import advice
from unchurn.study.api import make_experiment
from unchurn.study.scenarios import Upgrade
from unchurn.study.scenarios.given_base import open_base

TOLD = named(SAID, "prob_")
ONE = pl.DataFrame({"row": TABLE["row"], **TOLD})


@pytest.mark.parametrize(
    ("base", "options", "message"),
    [
        (SAID[:-1], {}, "base has 239 rows and table 240: give all, or join them with id="),
        (SAID[:, :2], {}, r"finite numbers of shape \(rows, 3\), not float32 of \(240, 2\)"),
        (np.where(SAID[7, 1] == SAID, np.nan, SAID), {}, "base: row 7 has a number that is not fi"),
        (np.array(["a"] * 240), {}, "base must be a fitted model, a table, or finite numbers"),
        (SAID / 2, {}, "base: probabilities of 240 rows do not sum to 1"),
        (LogisticRegression(), {}, "base must be fitted and have classes_"),
        (ONE[:-2], {"id": "row"}, "base has no row for 2 of the 240 ids of table, such as 'r23"),
        (ONE.drop("row"), {"id": "row"}, "base: no column 'row': there are prob_a"),
        (
            ONE.rename({"row": "x0"}),
            {"id": "x0"},
            "table has no column 'x0' aside: load the table with aside= x0",
        ),
        (
            ONE.select("row"),
            {},
            "base: give its probabilities or logits, a column .*, prob_CLASS .*: there are row",
        ),
        (
            ONE.select(prediction=pl.lit("a")),
            {},
            "a column for each class, prob_CLASS .*: there are prediction",
        ),
        (ONE.select("prob_a"), {}, "a column for each class, prob_CLASS .*: there are prob_a"),
        (ONE.select(score="prob_a"), {}, "base: of which class is 'score'\\? Give a column for"),
        (
            ONE.with_columns(prediction=pl.lit("c")),
            {},
            "base: .* predictions, first 'c', are not the most probable class",
        ),
        (
            ONE.drop("row").with_columns(prob_a=pl.when(pl.int_range(240) != 3).then("prob_a")),
            {},
            "base: rows without a prediction, and no id= to join by",
        ),
        (
            ONE.with_columns(prob_a=pl.when(pl.int_range(240) != 3).then("prob_a")),
            {},
            "base has no probabilities for 1 of the 240 ids of table, such as 'r3' in column 'row'",
        ),
        (
            pl.concat([ONE, ONE[5:8]]),
            {},
            "base: 3 ids in column 'row' are there more than once, such as 'r5': keep one row of",
        ),
        (
            pl.DataFrame(named(LOGITS, "logits_")).with_columns(logits_a=pl.lit(None)),
            {},
            "base: logits in row 0 are not all finite numbers",
        ),
        (
            ONE.rename({"prob_a": "prob_x", "prob_b": "prob_y", "prob_c": "prob_z"}),
            {},
            "base knows the classes x, y, z, none of a, b, c",
        ),
    ],
)
def test_what_is_no_base_of_these_rows(base, options, message):
    with pytest.raises(InputError, match=message):
        make_experiment(DATA, "control", scenario=Upgrade(base=base, **options))


def test_a_file_is_named_in_errors(tmp_path):
    for base, message in (
        (pl.concat([ONE, ONE[:1]]), r"b\.csv: 1 ids in column 'row' are there more than once"),
        (ONE[:-2], r"b\.csv has no row for 2 of the 240 ids"),
        (ONE.drop("row")[:-2], r"b\.csv has 238 rows and table 240"),
        (ONE.select("row"), r"b\.csv: give its probabilities or logits"),
        (ONE.select("row", prob_x="prob_a", prob_y=1 - pl.col("prob_a")), r"b\.csv knows the cl"),
    ):
        base.write_csv(tmp_path / "b.csv")
        with pytest.raises(InputError, match=message):
            make_experiment(DATA, "control", scenario=Upgrade(base=tmp_path / "b.csv"))


@pytest.mark.parametrize("name", ["base", "base.v2"])
def test_a_model_may_be_saved_under_any_name(tmp_path, name):
    model = StableClassifier(epochs=1, random_state=0).fit(DATA)
    model.save(tmp_path / name)
    experiment = make_experiment(DATA, "control", scenario=Upgrade(base=tmp_path / name))
    said = np.array(DATA.classes)[experiment.scenario.given.predictions["test"]]
    np.testing.assert_array_equal(said, model.predict(DATA.x_test))
    (tmp_path / name).write_text("a,b")
    with pytest.raises(InputError, match=r"must end in (?!.*\.npy.*\.npy).*\.npy, \.safetensors"):
        make_experiment(DATA, "control", scenario=Upgrade(base=tmp_path / name))


@pytest.mark.parametrize("n", range(984, 992))
def test_a_table_is_no_model_whatever_its_bytes(tmp_path, n):
    """A Parquet file with so many rows has { where a saved model's header begins."""
    column = np.random.default_rng(0).random(n)
    path = tmp_path / "base.parquet"
    pl.DataFrame({"prob_a": column, "prob_b": 1 - column}).write_parquet(path)
    assert path.read_bytes()[8:9] == b"{"
    assert open_base(path) == path
    path.rename(tmp_path / "base.v2")
    with pytest.raises(InputError, match="the name must end in"):
        open_base(tmp_path / "base.v2")


def test_a_regressor_is_no_base():
    with pytest.raises(InputError, match="must be a classifier with predict_proba: Ridge has none"):
        make_experiment(DATA, "control", scenario=Upgrade(base=Ridge().fit(X, X[:, 0])))


def joined(table, base, **options):
    """What a base of the table is found to say of the test rows, and the notes."""
    data = load_table(table, "y", **options)
    experiment = make_experiment(data, "control", scenario=Upgrade(base=base), validation=False)
    said = np.array(data.classes)[experiment.scenario.given.predictions["test"]]
    return said.tolist(), experiment.data.notes


@pytest.mark.parametrize("column", ["emp_id", "id", "key", "Unnamed: 0"])
def test_the_tables_own_id_joins_a_base_that_has_it(column):
    """Nobody names it: as it stands in both, rows are not taken by their place."""
    table = TABLE.select(pl.int_range(1000, 1240).alias(column), pl.exclude("row"))
    base = pl.DataFrame({column: table[column], **TOLD}).reverse()
    said, notes = joined(table, base)
    assert said == BEFORE.tolist()
    shown = "the index that pandas wrote" if column == "Unnamed: 0" else f"column '{column}'"
    assert f"rows of the base and of the table were joined by {shown}" in notes


def test_the_only_column_aside_that_tells_rows_apart_joins_it_too():
    assert joined(TABLE, ONE.reverse(), aside="row")[0] == BEFORE.tolist()


def test_of_two_ids_that_which_the_base_has():
    table = TABLE.drop("row").with_columns(id=pl.int_range(240), user_id=pl.int_range(240) + 7)
    base = pl.DataFrame({"user_id": table["user_id"], **TOLD}).reverse()
    said, notes = joined(table, base)
    assert said == BEFORE.tolist()
    assert "rows of the base and of the table were joined by column 'user_id'" in notes


def test_a_base_without_the_tables_id_goes_by_place_and_that_is_said():
    by_place = "rows of the base and of the table were joined by their place"
    table = TABLE.drop("row").with_columns(emp_id=pl.int_range(240))
    for base in (pl.DataFrame(TOLD), SAID):
        said, notes = joined(table, base)
        assert said == BEFORE.tolist()
        assert by_place in notes
    assert not any("joined" in note for note in joined(table, TREND)[1])


def test_an_index_that_counts_the_rows_of_the_base_tells_but_their_place():
    """A frame of probabilities that was written as it is, beside a table of some rows."""
    table = TABLE.select(pl.Series("", np.arange(240)[::-1]), pl.exclude("row"))
    said, notes = joined(table, pl.DataFrame({"": range(240), **TOLD}))
    assert said == BEFORE.tolist()
    assert "rows of the base and of the table were joined by their place" in notes


def test_rows_in_another_order_are_not_joined_by_place():
    """What is no id by its name, and is not kept aside, shows it all the same."""
    table = TABLE.drop("row").with_columns(nr=pl.int_range(240))
    base = pl.DataFrame({"nr": table["nr"], **TOLD})
    assert joined(table, base)[0] == BEFORE.tolist()
    with pytest.raises(InputError, match="table and base are not in one order: 'nr' has the same"):
        joined(table, base.reverse())


def test_ids_that_do_not_tell_rows_apart_join_nothing():
    table = TABLE.drop("row").with_columns(id=pl.lit(1))
    base = pl.DataFrame({"id": range(240), **TOLD})
    with pytest.raises(InputError, match="'id', and those of table are missing or twice"):
        joined(table, base, aside="id")
    with pytest.raises(InputError, match="column 'id' of table has ids that are missing or twice"):
        bench(table, "control", target="y", id="id", scenario=Upgrade(base=base), **SHORT)


def test_a_base_with_ids_is_not_joined_by_place_to_a_table_without():
    base = pl.DataFrame({"id": range(240), **TOLD})
    options = {"target": "y", "scenario": Upgrade(base=base), **SHORT}
    with pytest.raises(InputError, match="'id', and table has none: drop it if the rows are in"):
        bench(TABLE.drop("row"), "control", **options)


NUMBERED = pl.DataFrame({f"prob_{i}": SAID[:, i] for i in range(3)})


@pytest.mark.parametrize(
    "base",
    [NUMBERED, LogisticRegression().fit(DATA.x_train, DATA.y_train)],
    ids=["columns", "model"],
)
def test_numbers_that_are_taken_for_classes_are_told(base):
    notes = joined(TABLE.drop("row"), base)[1]
    assert "classes of the base are numbers, taken 0 for a, 1 for b, 2 for c" in notes


def test_names_that_are_the_datas_need_no_note():
    assert not any("class" in note for note in joined(TABLE.drop("row"), pl.DataFrame(TOLD))[1])


def test_a_class_that_is_new_to_the_base_or_gone_is_noted():
    fewer = pl.DataFrame({"prob_a": SAID[:, 0], "prob_b": 1 - SAID[:, 0]})
    assert "the base does not know class c" in joined(TABLE.drop("row"), fewer)[1]
    more = pl.DataFrame(TOLD).with_columns(prob_d=0.0)
    assert "the base knows class d, which the data lack" in joined(TABLE.drop("row"), more)[1]
    two = LogisticRegression().fit(DATA.x_train, np.where(DATA.y_train == 2, "a", "b"))
    assert "the base does not know class c" in joined(TABLE.drop("row"), two)[1]


def test_a_class_of_the_bases_own_in_place_of_one_of_the_datas_is_told():
    """Classes 1, 2, 3 and columns 0, 1, 2 are matched by name, two of three."""
    table = TABLE.drop("row").with_columns(y=pl.col("y").replace_strict({"a": 1, "b": 2, "c": 3}))
    asked = "the base knows class 0, which the data lack, and not 3: are its classes the data's?"
    assert asked in joined(table, NUMBERED)[1]


def test_a_base_whose_rows_end_before_the_tests_does_not_know_them():
    sure = np.eye(3)[np.concatenate([DATA.y_train, DATA.y_test])][np.argsort(DATA.order)]
    days = load_table(TABLE.drop("row").with_row_index("day"), "y", aside="day")
    known = Upgrade(base=sure, time="day", split=120)
    result = bench(days, "control", scenario=known, runs=2, **SHORT)
    assert advice(result).endswith("than any of these, 100.00%: keep it.")
    assert not [n for n in result.subject.data.notes if "not trained on test rows" in n]
