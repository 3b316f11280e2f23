"""Ids that files call by different names: found out, and joined by both names."""

import polars as pl
import pytest

from unchurn import blend, compare
from unchurn.core.errors import InputError

N = 40
BASE = pl.DataFrame(
    {"customer_id": range(100, 100 + N), "prediction": ["a", "b"] * (N // 2), "age": [30, 40] * 20}
)
FLIPPED = BASE.with_columns(
    prediction=pl.when(pl.col("customer_id") == 107).then(pl.lit("a")).otherwise("prediction")
)
OTHER = FLIPPED.select("prediction", cust="customer_id")
SHUFFLED = OTHER.sample(fraction=1, shuffle=True, seed=3)
BOTH = {"id": "customer_id=cust"}


def as_files(tables, kind, folder):
    """The same tables in files, or as they are."""
    if kind == "frames":
        return tables
    paths = [folder / f"{i}.{kind}" for i in range(len(tables))]
    for table, path in zip(tables, paths, strict=True):
        getattr(table, f"write_{kind}")(path)
    return paths


@pytest.mark.parametrize("kind", ["frames", "csv", "parquet"])
def test_ids_in_another_order_are_refused_and_then_joined(kind, tmp_path):
    pair = as_files([BASE, SHUFFLED], kind, tmp_path)
    with pytest.raises(InputError) as error:
        compare(*pair)
    assert str(error.value) == (
        "base and candidate are not in one order: 'customer_id' ('cust' in candidate) has the same "
        "values in other rows. Join them with id= customer_id=cust, or leave it out if it is no id"
    )
    found = compare(*pair, columns=BOTH)
    assert found.estimates["churn"].value == 1 / N
    assert (found.taken["base"]["id"], found.taken["candidate"]["id"]) == ("customer_id", "cust")


def test_nearly_all_of_the_ids_are_enough():
    base = pl.DataFrame({"nr": range(200), "prediction": ["a", "b"] * 100})
    other = base.select("prediction", number=pl.col("nr") + 1).reverse()  # 0 is not there, 200 is
    with pytest.raises(InputError, match="id= nr=number"):
        compare(base, other)
    assert compare(base, other.with_columns(number=pl.col("number") + 9)).n == 200  # 190 are


def test_the_same_order_by_any_name_is_paired_by_place():
    found = compare(BASE, OTHER)
    assert found.estimates["churn"].value == 1 / N
    counted = FLIPPED.select("prediction", nr=pl.int_range(N))
    counting = BASE.with_columns(row=pl.int_range(N)).drop("customer_id")
    assert compare(counting, counted).estimates["churn"].value == 1 / N


def test_other_values_in_other_rows_say_nothing():
    measured = FLIPPED.select("prediction", cost=1000 - 3 * pl.int_range(N))
    assert compare(BASE, measured).estimates["churn"].value == 1 / N


def test_labels_retrainings_and_a_third_name():
    truth = BASE.select(client="customer_id", label="prediction").reverse()
    names = {"id": "customer_id=cust=client"}
    found = compare(BASE, SHUFFLED, truth, retrains=[SHUFFLED, FLIPPED], columns=names)
    assert found.estimates["bad_flips"].value == 1 / N
    assert found.floor.each == (1 / N, 1 / N)
    with pytest.raises(InputError, match="labels: no column 'customer_id' or 'cust': there are cl"):
        compare(BASE, SHUFFLED, truth, columns=BOTH)


def test_several_columns_may_have_names_of_their_own():
    base = pl.DataFrame({"shop": ["x", "x", "y"], "day": [1, 2, 1], "prediction": ["a", "b", "a"]})
    other = base.rename({"shop": "store"}).reverse()
    found = compare(base, other, columns={"id": "shop=store, day"})
    assert found.estimates["churn"].value == 0


def test_the_only_column_that_is_left_is_still_the_prediction():
    left = SHUFFLED.rename({"prediction": "answer"})
    assert compare(BASE, left, columns=BOTH).estimates["churn"].value == 1 / N


def test_a_column_with_the_sign_in_its_name_is_one():
    odd = BASE.rename({"customer_id": "a=b"})
    assert compare(odd, odd.reverse(), columns={"id": "a=b"}).estimates["churn"].value == 0


def test_what_is_served_has_the_bases_name_for_its_ids():
    base = pl.DataFrame({"nr": [7, 3], "p_0": [0.9, 0.2], "p_1": [0.1, 0.8]})
    other = base.rename({"nr": "number"}).reverse()
    served = blend(base, other, ratio=1, columns={"id": "nr=number"}).table
    assert served["nr"].to_list() == [7, 3]


def test_a_gap_among_the_ids_of_one_file_is_no_crash():
    base = pl.DataFrame({"id": [1, None, 3], "prediction": ["a", "b", "a"]})
    other = pl.DataFrame({"ticketno": [1, 2, 3], "prediction": ["a", "b", "a"]})
    with pytest.raises(
        InputError, match=r"'ticketno' has the same values, so give id= id=ticketno"
    ):
        compare(base, other)
