"""Rows are paired by what tells them apart; where that cannot be known, nothing is answered."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unchurn import compare
from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.result import flipped
from unchurn.core.errors import InputError

N = 1000
CHURN = 0.038  # of `frames`


def churn(*sources, **options):
    return compare(*sources, **options).estimates["churn"].value


@pytest.mark.parametrize("kind", ["csv", "parquet", "again"])
def test_the_index_that_pandas_wrote_is_the_id(frames, tmp_path, kind, rng):
    """By place, two shuffled files would differ in nearly all rows."""
    base, other = frames
    base = base.iloc[rng.permutation(N)]  # of rows in order, Parquet has no column
    paths = []
    for name, frame in (("b", base), ("c", other)):
        path = tmp_path / f"{name}.{'parquet' if kind == 'parquet' else 'csv'}"
        if kind == "parquet":
            frame.to_parquet(path)
        else:
            frame.to_csv(path)
        if kind == "again":  # read and written again, the index is a column like any
            pd.read_csv(path).to_csv(path, index=False)
        paths.append(path)
    found = compare(*paths)
    assert found.estimates["churn"].value == CHURN
    assert found.taken["base"]["id"] == "the index that pandas wrote"
    labels = pd.Series(np.arange(N) % 40, name="label")
    labels.iloc[::-1].to_frame().to_csv(tmp_path / "l.csv")
    assert compare(*paths, labels=tmp_path / "l.csv").n_labelled == N


def test_an_index_that_only_one_has_must_number_the_rows(frames, tmp_path):
    base, other = frames
    base.to_csv(tmp_path / "b.csv", index=False)
    base.to_csv(tmp_path / "counted.csv")
    other.to_csv(tmp_path / "c.csv")
    assert churn(tmp_path / "b.csv", tmp_path / "counted.csv") == 0
    with pytest.raises(
        InputError, match="candidate has the index of a pandas frame whose rows wer"
    ):
        compare(tmp_path / "b.csv", tmp_path / "c.csv")


def test_an_index_with_repeated_values_tells_rows_only_where_all_have_the_same(tmp_path):
    base = pd.DataFrame({"prediction": [0, 1, 1]}, index=[0, 0, 1])
    base.to_csv(tmp_path / "b.csv")
    base.assign(prediction=[0, 1, 0]).to_csv(tmp_path / "same.csv")
    base.iloc[::-1].to_csv(tmp_path / "moved.csv")
    assert churn(tmp_path / "b.csv", tmp_path / "same.csv") == 1 / 3
    with pytest.raises(InputError, match="and values are there more than once"):
        compare(tmp_path / "b.csv", tmp_path / "moved.csv")


def numbered_anew(frame):
    """Rows in another order, whose index counts them from 0 again."""
    return frame.sort_values(["prediction", "ticket"]).reset_index(drop=True)


@pytest.mark.parametrize("names", [["ticket"], ["ticket", "mail"], ["ticket", "index"]])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_that_tells_the_rows_wins_over_an_index_made_anew(frames, tmp_path, names, kind):
    """Paired by their new numbers, 61 of 100 predictions seemed to change."""
    base, other = (
        frame.assign(**{name: [f"{name}{i}" for i in frame.index] for name in ("mail", "ticket")})
        for frame in frames
    )
    tables = {
        "b": base,
        "c": numbered_anew(other),
        "l": base.assign(label=base["prediction"])[::-1],
    }
    paths = {name: tmp_path / f"{name}.{kind}" for name in tables}
    for name, table in tables.items():
        whole = table.reset_index() if "index" in names else table
        kept = whole[[c for c in (*names, "prediction", "label") if c in whole]]
        if name == "l":
            kept = kept.drop(columns="prediction").reset_index(drop=True)
            kept = kept.assign(index=range(N)) if "index" in names else kept
        kept.to_csv(paths[name]) if kind == "csv" else kept.to_parquet(paths[name], index=True)
    found = compare(*paths.values())
    assert found.estimates["churn"].value == CHURN
    assert found.estimates["accuracy_base"].value == 1
    assert found.taken["base"]["id"] == "ticket"


def test_a_column_called_index_is_an_id_where_nothing_better_is(frames):
    base, other = (frame.reset_index() for frame in frames)
    found = compare(base, other)
    assert found.estimates["churn"].value == CHURN
    assert found.taken["base"] == {"id": "index", "prediction": "prediction"}
    assert churn(base.rename(columns={"prediction": "said"}), other) == CHURN


def test_columns_that_pair_the_rows_differently_are_named(frames, rng):
    base, other = (
        frame.reset_index(drop=True).assign(ticket=[f"T{i}" for i in frame.index])
        for frame in frames
    )
    base, other = (f.assign(till=[f"k{i}" for i in rng.permutation(N)]) for f in (base, other))
    with pytest.raises(InputError) as error:
        compare(base, other)
    assert str(error.value) == (
        "'ticket' and 'till' pair the rows differently: name one with id=, or leave the other out"
    )
    assert churn(base, other, columns=Columns(id="ticket")) == CHURN


def test_what_one_file_calls_id_another_may_call_index(frames):
    base, other = frames
    pair = base.reset_index(names="id"), other.reset_index()
    assert churn(*pair) == CHURN
    with pytest.raises(InputError, match="base has a column called index, and candidate has none"):
        compare(base.reset_index(), other.reset_index(drop=True))


def test_whole_numbers_called_as_ids_join_files(frames):
    pair = [frame.reset_index(names="customer_id") for frame in frames]
    assert compare(*pair).taken["base"]["id"] == "customer_id"
    assert churn(*pair) == CHURN


def test_a_models_own_predictions_are_no_labels(frames):
    base, other = (frame.reset_index(names="id") for frame in frames)
    with pytest.raises(InputError, match="labels: which column is the true label"):
        compare(base, other, other)


def test_a_labelled_list_of_flips_does_not_change_how_models_are_joined(frames, tmp_path):
    """Its own ids are called `id`, the models' are not."""
    base, other = (frame.assign(ticket=[f"T{i}" for i in frame.index]) for frame in frames)
    first = compare(base, other)
    flips = flipped(first).with_columns(label=pl.col("base"))
    found = compare(base, other, flips)
    assert found.estimates["churn"].value == CHURN
    assert found.estimates["bad_flips"].value == CHURN


def tickets(rng, numbers, **columns):
    """A table whose rows are told by a column of one's own, in an order of its own."""
    order = rng.permutation(len(numbers))
    table = pl.DataFrame({"ticket": [f"T{n}" for n in numbers], **columns})
    return table[order]


def test_the_one_column_that_tells_the_rows_of_all_files_joins_them(rng):
    """Whatever it is called, and what stands beside it: nothing has to be named."""
    n = 300
    said, truth = rng.integers(0, 2, (2, n))
    base, same = (tickets(rng, range(n), answer=said) for _ in range(2))
    labels = tickets(rng, range(200), outcome=truth[:200])
    found = compare(base, same, labels, labels_cover="all")
    assert found.estimates["churn"].value == 0
    right = (said[:200] == truth[:200]).mean()
    assert found.estimates["accuracy_base"].value == pytest.approx(right)
    assert found.taken["base"] == {"id": "ticket", "prediction": "answer"}
    assert found.taken["labels"] == {"id": "ticket", "label": "outcome"}


def test_a_column_that_tells_rows_in_one_file_alone_joins_nothing(rng):
    """Values that are not mostly the same are no ids, nor are some that are there twice."""
    n = 100
    said = rng.integers(0, 2, n)
    base = pl.DataFrame({"seen_at": [f"t{i}" for i in range(n)], "prediction": said})
    later = base.with_columns(seen_at=pl.Series([f"u{i}" for i in range(n)]))
    assert compare(base, later).taken["base"]["id"] == "the row's place"
    twice = base.with_columns(seen_at=pl.Series([f"t{i // 2}" for i in range(n)]))
    assert compare(base, twice).taken["base"]["id"] == "the row's place"
    counted = pl.DataFrame({"nr": range(n), "prediction": said})
    assert compare(counted, counted).taken["base"]["id"] == "the row's place"


def test_pandas_indexes_that_differ_are_not_made_ids_by_advice(frames):
    """`reset_index` alone would join by new row numbers, if they are that."""
    base, other = frames
    with pytest.raises(InputError, match=r"if they only number rows, give every table a column of"):
        compare(base, other)
    assert churn(*(frame.rename_axis("id").reset_index() for frame in frames)) == CHURN


def test_a_small_overlap_is_refused_unless_allowed():
    base = pl.DataFrame({"id": range(20_000), "prediction": 0})
    other = pl.DataFrame({"id": range(19_930, 39_930), "prediction": 0})
    with pytest.raises(InputError) as error:
        compare(base, other)
    assert str(error.value) == (
        "only 70 of the 20,000 rows of base (0.35%) are in both: 0 is the first id of base, 19930 "
        "of candidate. If that is meant, give min_overlap= 0.003"
    )
    assert compare(base, other, min_overlap=0.003).n == 70
    with pytest.raises(
        InputError, match=r"retraining\. If that is meant, give min_overlap= 0\.003"
    ):
        compare(base, base, retrains=[other, other])
    with pytest.raises(InputError, match="min_overlap must be from 0 to 1"):
        compare(base, other, min_overlap=2)


def test_an_id_is_there_once_with_or_without_a_prediction():
    base = pl.DataFrame({"id": [0, 1], "prediction": [0, 1]})
    other = pl.DataFrame({"id": [0, 1, 1], "prediction": [0, 1, None]})
    with pytest.raises(
        InputError, match="1 ids are there more than once, with a prediction and wit"
    ):
        compare(base, other)


def test_slices_and_clusters_may_stand_beside_the_labels(rng):
    ids = np.arange(200)
    base = pl.DataFrame({"id": ids, "prediction": ids % 2})
    other = pl.DataFrame({"id": ids, "prediction": (ids % 2) ^ (ids < 20)})
    order = rng.permutation(200)
    table = {"id": ids, "label": ids % 2, "land": ["de", "fr"] * 100, "user": ids // 4}
    truth = pl.DataFrame(table)[order]
    found = compare(base, other, truth, slices="land", cluster="user", min_slice=1)
    beside = compare(pl.DataFrame(table | {"prediction": ids % 2}), other, slices="land",
                     cluster="user", min_slice=1)  # fmt: skip
    assert found.to_dict()["slices"] == beside.to_dict()["slices"]
    assert found.estimates == beside.estimates
    some = compare(base, other, truth.filter(pl.col("id") < 150), slices="land", cluster="user",
                   labels_cover="all")  # fmt: skip
    assert "50 examples have no cluster: they count as one" in some.notes
    assert {one.value: one.n for one in some.slices} == {"de": 75, "fr": 75, "(missing)": 50}
    with pytest.raises(
        InputError, match="no column 'x' for slices= in any file: there are id, pred"
    ):
        compare(base, other, truth, slices="x")


@pytest.mark.parametrize("said", [["a", "b", "c", "d"], ["a", "b", "c", "b"], [1, 2, 3, 2]])
@pytest.mark.parametrize("has_labels", [False, True])
def test_the_only_column_is_the_prediction_whatever_it_is_called(said, has_labels):
    """Two of few predictions were swapped: no ids of rows in another order, but two flips."""
    swapped = [said[1], said[0], *said[2:]]
    beside = {"label": said[2:] * 2} if has_labels else {}
    found = compare(*(pl.DataFrame({"answer": values, **beside}) for values in (said, swapped)))
    assert found.estimates["churn"].value == 0.5
    assert found.taken["base"]["id"] == "the row's place"


def test_too_few_rows_in_both_say_what_is_missing():
    base = pl.DataFrame({"id": range(100), "prediction": ["a", "b"] * 50})
    empty = base.with_columns(pl.when(pl.col("id") < 40).then("prediction"))
    said = r"have a prediction in both: of 60, the prediction is empty in candidate. If .*= 0\.4"
    with pytest.raises(InputError, match=f"only 40 of the 100 rows of base .* {said}"):
        compare(base, empty)
    with pytest.raises(InputError, match=r"40 of the 100 rows of candidate .* is empty in base"):
        compare(empty, base)
    with pytest.raises(InputError, match=r"40 of the 100 rows of base .* are in both: .* give"):
        compare(base, empty.drop_nulls())


def test_ids_that_differ_in_their_spelling_alone_are_told():
    ids = [f"{i:04d}" for i in range(800, 1200)]  # half of them are the same without zeros
    base = pl.DataFrame({"id": ids, "prediction": ["a", "b"] * 200})
    plain = base.with_columns(pl.col("id").cast(int))
    said = r"differ in case, spaces or leading zeros, as '0800' and '800': write ids alike$"
    with pytest.raises(InputError, match=f"200 of the 400 rows .* {said}"):
        compare(base, plain, min_overlap=0.9)
    with pytest.raises(InputError, match=f"no id in common: .* {said}"):
        compare(base[:200], plain[:200])
    upper = [base.with_columns(id=pl.lit(of) + pl.col("id")) for of in ("u-a", "U-A")]
    with pytest.raises(InputError, match=r"in common: .* as 'u-a0800' and 'U-A0800': write ids"):
        compare(*upper)
    with pytest.raises(InputError, match=r"9999 of the other$"):
        compare(plain, plain.with_columns(pl.col("id") + 9199))
