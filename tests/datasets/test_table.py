import datetime
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest

import toys
from unchurn import TextForm, load_csv, load_table
from unchurn.core.errors import InputError

TABLE = toys.shop()
N = TABLE.height


def test_numbers_are_standardised_and_text_is_one_hot(write):
    data = load_csv(write(TABLE), target="bought")
    assert data.name == "shop"
    assert data.classes == ("no", "yes")
    assert data.x_train.shape == (30, 1 + 1 + 3 + 2 + 1)
    assert data.x_train.dtype == np.float32
    age, height, colours, member, constant = np.split(data.x_train, [1, 2, 5, 7], axis=1)
    for numbers in (age, height):
        assert numbers.mean() == pytest.approx(0, abs=1e-6)
        assert numbers.std() == pytest.approx(1, rel=1e-5)
    assert (colours.sum(axis=1) == 1).all()
    assert (member.sum(axis=1) == 1).all()
    assert (constant == 0).all()


def test_every_row_is_in_one_part_and_classes_are_in_both(write):
    data = load_csv(write(TABLE.select("age", "bought")), target="bought")
    assert len(data.x_train) + len(data.x_test) == N
    assert len(np.unique(np.concatenate([data.x_train, data.x_test]))) == N
    assert data.y_train.sum() + data.y_test.sum() == 10
    assert data.y_test.sum() in (2, 3)


def test_the_split_and_the_format_do_not_matter(write, tmp_path):
    csv = load_csv(write(TABLE), target="bought")
    TABLE.write_parquet(tmp_path / "shop.parquet")
    parquet = load_csv(str(tmp_path / "shop.parquet"), target="bought")
    assert csv.fingerprint == parquet.fingerprint
    for name in ("shop.feather", "shop.xlsx"):
        other = load_csv(toys.write_table(tmp_path / name, TABLE), target="bought")
        assert (other.name, other.fingerprint) == ("shop", csv.fingerprint)


def test_text_in_another_form_is_the_same_table(tmp_path):
    expected = load_table(TABLE, target="bought").fingerprint
    TABLE.write_csv(tmp_path / "shop.csv", separator=";", decimal_comma=True)
    with pytest.raises(InputError, match=r"shop\.csv: one column: is the delimiter ';'"):
        load_csv(tmp_path / "shop.csv", target="bought")
    form = TextForm(delimiter=";", decimal=",")
    assert load_csv(tmp_path / "shop.csv", target="bought", form=form).fingerprint == expected
    packed = tmp_path / "shop.tsv.gz"
    packed.write_bytes(gzip.compress(TABLE.write_csv(separator="\t").encode("utf-16")))
    data = load_csv(packed, target="bought")
    assert (data.name, data.fingerprint) == ("shop", expected)


@pytest.mark.parametrize(
    ("target", "classes"), [("member", ("False", "True")), ("colour", ("blue", "green", "red"))]
)
def test_targets_of_any_label_kind(tmp_path, target, classes):
    TABLE.with_columns(pl.col("colour").cast(pl.Categorical)).write_parquet(tmp_path / "t.parquet")
    assert load_csv(tmp_path / "t.parquet", target=target).classes == classes


def test_integer_classes_are_sorted_as_numbers(write):
    table = TABLE.with_columns(grade=pl.Series([(2, 10)[i % 2] for i in range(N)]))
    assert load_csv(write(table), target="grade").classes == ("2", "10")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pl.Int64, [2, 10]),
        (pl.UInt8, [2, 10]),
        (pl.Int128, [2, 10]),
        (pl.Float32, [2.0, 10.0]),
        (pl.Boolean, [False, True]),
        (pl.String, ["no", "yes"]),
        (pl.Categorical, ["no", "yes"]),
    ],
)
def test_labels_are_of_the_type_of_the_target(kind, values):
    table = TABLE.with_columns(grade=pl.Series([values[i % 2] for i in range(N)], dtype=kind))
    data = load_table(table, target="grade")
    assert data.labels.tolist() == values
    assert [type(one) for one in data.labels.tolist()] == [type(one) for one in values]
    is_number = kind in (pl.UInt8, pl.Float32)
    assert not is_number or pl.Series(data.labels).dtype == kind
    assert [str(one) for one in data.classes] == [str(v).removesuffix(".0") for v in values]


@pytest.mark.parametrize(
    ("table", "target", "message"),
    [
        (TABLE, "sold", "no column 'sold': there are age, height, colour"),
        (TABLE.select("bought"), "bought", "is its only column"),
        (TABLE, "height", "it must be text, whole numbers or booleans"),
        (TABLE, "constant", "has a single class, 7"),
        (TABLE, "age", "class 20 of 'age' has a single row"),
        (toys.with_gap(TABLE, "bought"), "bought", "'bought' has 1 missing value"),
        (
            pl.concat([TABLE] * 30)
            .with_row_index("ticket")
            .with_columns(pl.format("u{}", "ticket").alias("ticket")),
            "bought",
            "'ticket' has 1,200 distinct texts, as an identifier",
        ),
        (TABLE.with_columns(height=pl.lit(float("inf"))), "bought", "'height' has inf in row 0"),
        (TABLE.head(4), "member", "too few rows to split"),
        (TABLE.head(0), "member", "has no rows"),
        (
            TABLE.with_columns(height=pl.Series(["12a" if i == 5 else str(i) for i in range(N)])),
            "bought",
            "'height' is numbers but for '12a' in row 5",
        ),
        (
            TABLE.with_columns(grade=pl.Series([2**64 + i % 2 for i in range(N)], dtype=pl.Int128)),
            "grade",
            "'grade' holds integers beyond 64 bits",
        ),
    ],
)
def test_tables_that_cannot_be_used_are_named(write, table, target, message):
    with pytest.raises(InputError, match=rf"shop\.csv: .*{message}"):
        load_csv(write(table), target=target)


@pytest.mark.parametrize(
    "days", [("31.01.2024", "1.2.2024"), ("1/31/2024 12:00", "12/1/2024 9:30"), ("2024/1/31", None)]
)
def test_dates_are_no_categories_however_they_are_written(days):
    """Hundreds of them would be as many columns, of which none says anything of a new day."""
    table = pl.DataFrame({"day": days * 10, "y": ["a", "b"] * 10})
    with pytest.raises(InputError, match="column 'day' has dates: turn it into numbers, or to"):
        load_table(table, "y")


def test_codes_that_look_a_little_like_dates_are_categories():
    for codes in (("10-20-3000", "11-21-3001"), ("1.2.3", "1.2.4"), ("31.01.2024", "soon")):
        data = load_table(pl.DataFrame({"code": codes * 10, "y": ["a", "b"] * 10}), "y")
        assert data.x_train.shape[1] == 2


def test_types_without_a_meaning_here_are_refused(tmp_path):
    table = TABLE.with_columns(day=pl.lit(datetime.date(2026, 1, 1)))
    table.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="column 'day' has dates"):
        load_csv(tmp_path / "t.parquet", target="bought")


def test_bad_calls(tmp_path, write):
    with pytest.raises(InputError, match=r"x\.txt: the name must end in \.csv, \.tsv"):
        load_csv(tmp_path / "x.txt", target="y")
    with pytest.raises(InputError, match="test_size must be between 0 and 1"):
        load_csv(write(TABLE), target="bought", test_size=1.0)
    with pytest.raises(FileNotFoundError):
        load_csv(tmp_path / "gone.csv", target="y")


def test_a_table_is_not_taken_for_the_published_one_of_its_name(write):
    assert load_csv(write(TABLE), target="bought").name == "shop"
    path = write(TABLE)
    assert load_csv(path.rename(path.with_name("phishing.csv")), "bought").name == "phishing.csv"


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__"])
def test_a_pandas_index_is_no_feature(tmp_path, name):
    indexed = TABLE.with_row_index(name or "x")
    indexed.columns = [name, *TABLE.columns]
    indexed.write_parquet(tmp_path / "shop.parquet")
    data = load_csv(tmp_path / "shop.parquet", target="bought")
    assert data.fingerprint == load_table(TABLE, target="bought").fingerprint
    assert data.notes == (f"column {name!r} is a pandas index: it is no feature",)


def test_frames_are_taken_as_files_are(write):
    file = load_csv(write(TABLE), target="bought")
    frame = pd.DataFrame({c: TABLE[c].to_list() for c in TABLE.columns})
    for table in (TABLE, frame, frame.astype({"colour": "category"})):
        assert load_table(table, target="bought").fingerprint == file.fingerprint
    frame.loc[3, "age"] = np.nan
    gaps = load_csv(write(toys.with_gap(TABLE, "age")), target="bought")
    assert load_table(frame, target="bought").fingerprint == gaps.fingerprint
    with pytest.raises(InputError, match="a Polars or pandas frame, not list"):
        load_table([1, 2], target="x")


def test_whole_numbers_written_as_floats_are_classes():
    table = pl.DataFrame({"x": np.arange(40.0), "y": np.tile([0.0, 1.0], 20)})
    assert load_table(table, "y").classes == ("0", "1")
    infinite = table.with_columns(y=pl.when(pl.int_range(40) == 3).then(np.inf).otherwise("y"))
    with pytest.raises(InputError, match="'y' has numbers that are not whole, such as inf; it"):
        load_table(infinite, "y")
    halves = table.with_columns(y=pl.col("y") / 2)
    said = (
        "such as 0.5; it must be .*: if these are classes, turn them into text, such as 'class 0.5"
    )
    with pytest.raises(InputError, match=said):
        load_table(halves, "y")
    text = halves.with_columns(y=pl.format("class {}", "y"))
    assert load_table(text, "y").classes == ("class 0.0", "class 0.5")


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
@pytest.mark.parametrize("classes", [(0.0, 1.0), (0.5, 1.5)])
def test_a_target_of_floats_has_a_gap_where_it_is_nan(frame, classes):
    table = frame(
        {"x": range(40), "y": [np.nan if i in (3, 5) else classes[i % 2] for i in range(40)]}
    )
    with pytest.raises(
        InputError, match=r"'y' has 2 missing value\(s\), first in row 3: drop these"
    ):
        load_table(table, "y")


def test_the_text_is_to_blame_and_not_a_gap_above_it():
    income = ["1", None, "", "NA", "12k", "5", "6", "7", "8", "9", "10", "11"]
    frame = pl.DataFrame({"income": income, "y": ["a", "b"] * 6})
    with pytest.raises(InputError, match="'income' is numbers but for '12k' in row 4"):
        load_table(frame, "y")


def test_all_that_is_wrong_with_columns_is_said_at_once():
    n = 1200
    frame = pl.DataFrame({
        "ticket": [f"t{i}" for i in range(n)],
        "income": ["12k", *map(str, range(1, n))],
        "x": range(n),
        "opened": ["2024-01-31"] * n,
        "y": ["a", "b"] * (n // 2),
    })  # fmt: skip
    with pytest.raises(InputError) as error:
        load_table(frame, "y")
    assert str(error.value) == (
        "column 'income' is numbers but for '12k' in row 0: fill or drop it; column 'ticket' has "
        "1,200 distinct texts, as an identifier would; column 'opened' has dates: turn them into "
        "numbers, or to leave them out give aside="
    )
    dates = {f"day{i}": ["2024-01-31"] * 12 for i in range(13)}
    with pytest.raises(InputError, match="'day9' has dates; and 3 columns more: turn them into"):
        load_table(pl.DataFrame({**dates, "y": ["a", "b"] * 6}), "y")


@pytest.mark.parametrize("ids", [range(12), [f"c{i}" for i in range(12)]])
def test_an_id_is_no_feature(ids):
    """One that is called so and tells all rows apart; others of the name may be categories."""
    rows = {"paid": range(12), "customer_id": ids, "groupId": [1, 2] * 6}
    frame = pl.DataFrame({**rows, "y": ["a", "b"] * 6})
    data = load_table(frame, "y")
    assert data.notes == (
        "column 'customer_id' is an id, by its name and as it tells all rows apart: it is no "
        "feature; rename it if it is to be one",
    )
    assert data.preparation.names == ["paid", "groupId"]
    assert data.aside["customer_id"].to_list() == [ids[i] for i in data.order]
    named = load_table(frame, "y", aside=["customer_id"])
    assert named.notes == ("column 'customer_id' is kept aside: it is no feature",)
    np.testing.assert_array_equal(named.x_train, data.x_train)
    renamed = load_table(frame.rename({"customer_id": "customer"}), "y")
    assert renamed.preparation.names == ["paid", "customer", "groupId"]
    with pytest.raises(InputError, match="only column beside customer_id: nothing to predict from"):
        load_table(frame.select("customer_id", "y"), "y")


def test_what_may_be_an_id_whatever_it_is_called_is_noted(rng):
    n = 200
    tickets = rng.permutation(n) + 10_000
    frame = pl.DataFrame({
        "ticket": tickets,
        "code": [f"t{i}" for i in tickets],
        "Id": np.where(np.arange(n) < 0.92 * n, tickets, 7),  # some are there twice
        "group_id": np.arange(n) // 2,
        "price": rng.random(n),
        "paid": np.append(tickets[1:], tickets[1]),
        "words": [f"t{i % 190}" for i in range(n)],
        "street": [f"t{i % 170}" for i in range(n)],
        "y": ["a", "b"] * (n // 2),
    })  # fmt: skip
    assert load_table(frame, "y").notes == (
        "column 'ticket' has another number in every row: if it is an id, keep it aside",
        "column 'code' has another text in every row: if it is an id, keep it aside",
        "column 'Id' is called as an id is, with 185 numbers in 200 rows: if it is an id, keep it "
        "aside",
        "column 'words' has 190 texts in 200 rows, each an input of its own: if it is an id, keep "
        "it aside",
    )
    few = frame.drop("Id", "group_id").head(80)  # of which numbers may be distinct by chance
    assert load_table(few, "y").notes == ()


def test_a_target_that_pandas_numbers(rng):
    numbered = pd.DataFrame(np.column_stack([rng.normal(size=(40, 2)), np.arange(40) % 2]))
    assert load_table(numbered, 2, aside=[1]).preparation.names == ["0"]


@pytest.mark.parametrize("values", [["a", "b"], [0, 1], [False, True]])
def test_the_target_among_the_features_is_noted(values):
    other = values * 10 + values[::-1] * 10
    frame = pl.DataFrame({"leak": values * 20, "x": range(40), "other": other, "y": values * 20})
    found = "column 'leak' is 'y' itself: keep it aside, or models learn nothing else"
    assert load_table(frame, "y").notes == (found,)
    assert load_table(frame, "y", aside="leak").notes[1:] == ()


@pytest.mark.parametrize("header", ["a,a,c,y", 'a,c,"a",y'])
def test_two_columns_of_one_name_are_refused(tmp_path, header):
    path = tmp_path / "table.csv"
    path.write_text("\n".join([header, *(f"{i},{i},{i},{i % 2}" for i in range(20))]))
    with pytest.raises(InputError, match=r"table\.csv: 2 columns are called 'a': rename or drop"):
        load_csv(path, "y")


def test_columns_without_a_name_are_no_two_of_one_name(tmp_path):
    """As a pandas index of two levels is written; and what another program renamed."""
    path = tmp_path / "table.csv"
    rows = [f"{i},{i},{i * 0.5},{i % 3},{i % 2}" for i in range(20)]
    path.write_text("\n".join([",,a,a_duplicated_0,y", *rows]))
    assert load_csv(path, "y").preparation.names[-2:] == ["a", "a_duplicated_0"]
