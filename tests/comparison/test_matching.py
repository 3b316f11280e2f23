"""Rows are paired by what tells them apart; where that cannot be known, nothing is answered."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unchurn import compare
from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.result import flipped
from unchurn.core.errors import InputError

N = 1000
CHURN = 0.038


@pytest.fixture
def frames(rng):
    """Two pandas frames of one test part, the second shuffled; 38 of 1,000 predictions differ."""
    said = rng.integers(0, 20, N)
    other = said.copy()
    other[rng.choice(N, 38, replace=False)] += 20
    order = rng.permutation(N)
    base = pd.DataFrame({"prediction": said})
    return base, pd.DataFrame({"prediction": other}).iloc[order]


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


def test_files_that_clearly_are_in_another_order_are_not_compared_by_place(frames, tmp_path):
    """Some texts are there twice, so they do not tell the rows, but they tell that rows moved."""
    base, other = (frame.assign(text=[f"t{i // 2 * 2}" for i in frame.index]) for frame in frames)
    base, other = (frame.assign(cost=[i / 7 for i in frame.index]) for frame in (base, other))
    base.to_parquet(tmp_path / "b.parquet", index=False)
    other.to_parquet(tmp_path / "c.parquet", index=False)
    pair = (tmp_path / "b.parquet", tmp_path / "c.parquet")
    with pytest.raises(InputError, match="base and candidate are not in one order: 'cost' has the"):
        compare(*pair)
    assert churn(*pair, columns=Columns(id="cost")) == CHURN


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


def test_a_rank_that_each_model_gave_joins_nothing(frames, rng):
    """Beside an id it does not matter; alone, files may be in another order, or not: which?"""
    base, other = (
        frame.assign(ticket=[f"T{i}" for i in frame.index], rank=rng.permutation(N))
        .reset_index(drop=True)
        for frame in frames
    )  # fmt: skip
    assert churn(base, other) == CHURN
    with pytest.raises(InputError, match="are not in one order: 'rank' has the same values in oth"):
        compare(base.drop(columns="ticket"), other.drop(columns="ticket"))


def test_a_rank_does_not_win_over_an_index_that_kept_its_rows(frames, tmp_path, rng):
    """Beside one that was made anew it may be an id: which is right has to be said."""
    for name, frame in zip("bc", frames, strict=True):
        ranked = frame.assign(rank=rng.permutation(N))
        ranked.to_csv(tmp_path / f"{name}.csv")
        ranked.sort_index().reset_index(drop=True).to_csv(tmp_path / f"anew_{name}.csv")
    assert churn(tmp_path / "b.csv", tmp_path / "c.csv") == CHURN
    anew = (tmp_path / "anew_b.csv", tmp_path / "anew_c.csv")
    with pytest.raises(InputError, match=r"'rank' has the same .* or 'Unnamed: 0' if the index is"):
        compare(*anew)
    assert churn(*anew, columns=Columns(id="Unnamed: 0")) == CHURN
    assert churn(*anew, columns={"id": ""}) == CHURN


@pytest.mark.parametrize("kind", ["rank of more", "seconds", "times", "tokens"])
def test_what_each_model_measured_is_no_id(rng, kind):
    """Rows are in one order here; joined by it, 0.3 to 60 % seemed to change instead of 10 %."""
    said = rng.integers(0, 2, N)
    base, other = (pl.DataFrame({"prediction": p}) for p in (said, said ^ (np.arange(N) < N / 10)))

    def measured(job):
        numbers = {
            "rank of more": rng.choice(5 * N // 4, N, replace=False),
            "seconds": 1_700_000_000 + np.arange(N) + job,
            "times": np.arange(N) + job,
            "tokens": rng.permutation(np.arange(N) + 50),
        }[kind]
        if kind == "times":
            return [f"2026-01-01T{i // 60:02}:{i % 60:02}:00" for i in numbers]
        return numbers

    pair = [
        table.with_columns(pl.Series("m", measured(job))) for job, table in enumerate((base, other))
    ]
    if kind == "tokens":  # the same numbers in other rows may be ids, too
        with pytest.raises(InputError, match="are not in one order: 'm' has the same values"):
            compare(*pair)
    else:
        assert churn(*pair) == 0.1


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


def test_an_index_is_not_gone_by_where_a_column_contradicts_it(frames, tmp_path):
    """Texts of which some are there twice join nothing; a file may lack some of the rows."""
    base, other = (frame.assign(ticket=[f"T{i // 2}" if i < 9 else f"T{i}" for i in frame.index])
                   for frame in frames)  # fmt: skip
    base.to_csv(tmp_path / "b.csv")
    for part in (other, other[:900]):
        numbered_anew(part).to_csv(tmp_path / "c.csv")
        with pytest.raises(
            InputError, match="are not paired by their index: 'ticket' has the same"
        ):
            compare(tmp_path / "b.csv", tmp_path / "c.csv")
    other.to_csv(tmp_path / "c.csv")
    assert churn(tmp_path / "b.csv", tmp_path / "c.csv") == CHURN


def test_what_a_model_measured_is_no_id(rng):
    """Of scores that a model left as they were, the rows that moved would be left out."""
    scores, said = rng.normal(size=N), rng.integers(0, 2, N)
    base = pl.DataFrame({"logit": scores, "prediction": said})
    moved = np.arange(N) < 100
    other = pl.DataFrame({"logit": scores + moved, "prediction": said ^ moved})
    assert churn(base, other) == 0.1


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


def test_what_each_model_says_of_a_row_is_no_sign_of_another_order(rng):
    right = rng.permutation([0, 1] * 50)
    base = pl.DataFrame({"prediction": right, "correct": right, "seconds": rng.random(100)})
    other = base.with_columns(correct=pl.col("correct").reverse(), seconds=pl.col("seconds") * 2)
    assert churn(base, other) == 0


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


def test_leading_zeros_are_part_of_an_id_and_of_a_class(tmp_path):
    """As numbers, 001 to 150 would be joined with text from 100 on: 51 rows."""
    ids = [f"{i:03}" for i in range(1, 151)]
    pl.DataFrame({"id": ids, "prediction": ["01", "1"] * 75}).write_csv(tmp_path / "b.csv")
    text = pl.DataFrame({"id": ids[::-1], "prediction": ["1", "01"] * 75})
    text.write_parquet(tmp_path / "c.parquet")
    found = compare(tmp_path / "b.csv", tmp_path / "c.parquet")
    assert (found.n, found.estimates["churn"].value) == (150, 0)
    assert found.paired.classes == ("01", "1")
    plain = pl.DataFrame({"id": range(1, 151), "prediction": ["01", "1"] * 75})
    with pytest.raises(InputError, match="only 51 of the 150 rows of base"):
        compare(tmp_path / "b.csv", plain)


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


def test_spaces_around_classes_are_one_warning_and_no_flips(tmp_path):
    pl.DataFrame({"id": [1, 2], "prediction": ["cat ", " dog"]}).write_csv(tmp_path / "b.csv")
    other = pl.DataFrame({"id": [1, 2], "prediction": ["cat", "dog"]})
    found = compare(tmp_path / "b.csv", other)
    assert found.estimates["churn"].value == 0
    assert found.warnings == (
        "classes have spaces around their names, such as ' dog', which do not count: base",
    )
    assert found.markdown().splitlines()[2].startswith("⚠️ classes have spaces")
    assert compare(other, other).warnings == ()


def test_classes_that_differ_only_in_case_are_a_warning():
    """They may be two, where one side has both; else somebody wrote them another way."""
    base, other = (pl.DataFrame({"id": [1, 2, 3], "prediction": said})
                   for said in (["OK", "OK", "bad"], ["ok", "ok", "bad"]))  # fmt: skip
    found = compare(base, other)
    assert found.estimates["churn"].value == pytest.approx(2 / 3)
    assert found.warnings == (
        "classes differ only in case, and so count as different ones: 'OK' and 'ok'",
    )
    assert compare(["A", "a", "b"], ["A", "A", "b"]).warnings == ()
    (warning,) = compare(["A", "b"], ["A", "b"], labels=["a", "b"]).warnings
    assert "'A' and 'a'" in warning


def test_one_answer_in_every_form(tmp_path, rng):
    """One table in many types and formats: the same numbers from every pair of files."""
    n = 120
    ids, said = rng.permutation(n) + 1, rng.integers(0, 3, n)
    table = {"id": ids, "prediction": said, "label": ids % 3, "group": ids % 2}
    moved = np.where(rng.random(n) < 0.2, (said + 1) % 3, said)
    order = rng.permutation(n)
    second = {"id": ids[order], "prediction": moved[order]}
    expected = _numbers(compare(pl.DataFrame(table), pl.DataFrame(second), slices="group"))
    for kind, write in FORMS.items():
        base, other = (
            write(tmp_path / f"{kind}-{i}", one) for i, one in enumerate((table, second))
        )
        for pair in ((base, other), (base, pl.DataFrame(second)), (pl.DataFrame(table), other)):
            assert _numbers(compare(*pair, slices="group")) == expected, kind


HARD = {
    "beyond floats": [2**53 + i for i in range(40)],
    "beyond narrow floats": [2**24 + i for i in range(40)],
    "leading zeros": [f"{i:03}" for i in range(1, 41)],
    "beyond 64 bits": [str(2**64 + i) for i in range(40)],
    "hexadecimal": [f"{i:x}e{i % 7}" for i in range(40)],
    "versions": [f"{i}.{j}0" for i in range(8) for j in range(5)],
}


@pytest.mark.parametrize("kind", HARD)
def test_ids_that_some_types_cannot_hold_give_the_one_answer_or_none(tmp_path, rng, kind):
    table = {"id": HARD[kind], "prediction": rng.integers(0, 3, 40), "group": [0, 1] * 20}
    order = rng.permutation(40)
    second = {"id": [HARD[kind][i] for i in order], "prediction": rng.integers(0, 3, 40)}
    said = dict(zip(second["id"], second["prediction"], strict=True))
    flips = sum(said[one] != two for one, two in zip(*list(table.values())[:2], strict=True))
    answered = 0
    for name, write in FORMS.items():
        for pair in ("both", "one"):
            try:
                base = write(tmp_path / f"{name}-b", table)
                other = write(tmp_path / f"{name}-c", second) if pair == "both" else second
                found = compare(base, pl.DataFrame(other) if pair == "one" else other)
            except (InputError, OverflowError, ValueError, pl.exceptions.PolarsError):
                continue  # refused, or a form that cannot hold them at all
            assert (found.n, found.estimates["churn"].value) == (40, flips / 40), name
            answered += 1
    assert answered >= len(FORMS) // 2


def _numbers(found):
    values = found.to_dict()
    return {k: values[k] for k in ("n", "churn", "bad_flips", "classes", "slices", "excluded")}


def _csv(change=lambda text: text):
    def write(path, table):
        path = path.with_suffix(".csv")
        path.write_text(change(pl.DataFrame(table).write_csv()))
        return path

    return write


def _cast(kind, suffix=".parquet"):
    def write(path, table):
        frame = pl.DataFrame(table).with_columns(pl.all().cast(kind))
        path = path.with_suffix(suffix)
        {".parquet": frame.write_parquet, ".jsonl": frame.write_ndjson,
         ".feather": frame.write_ipc}[suffix](path)  # fmt: skip
        return path

    return write


def _npz(kind):
    def write(path, table):
        path = path.with_suffix(".npz")
        np.savez(path, **{name: np.asarray(column).astype(kind) for name, column in table.items()})
        return path

    return write


def _zipped(path, table):
    path = path.with_name(f"{path.name}.csv.gz")
    path.write_bytes(gzip.compress(pl.DataFrame(table).write_csv().encode()))
    return path


FORMS = {
    "csv": _csv(),
    "crlf": _csv(lambda text: text.replace("\n", "\r\n")),
    "quoted": _csv(lambda text: "\n".join(
        ",".join(f'"{cell}"' for cell in line.split(",")) for line in text.splitlines())),
    "spaced": _csv(lambda text: text.replace(",", ", ")),
    "bom": _csv(lambda text: "\ufeff" + text),
    "gzip": _zipped,
    **{f"pandas {kind}": lambda path, table, kind=kind: pd.DataFrame(table).astype(kind)
       for kind in ("int64", "Int64", "float64", "str", "object", "category", "int32[pyarrow]")},
    **{f"parquet {kind}": _cast(kind)
       for kind in (pl.Int16, pl.UInt64, pl.Int128, pl.Float32, pl.Float64, pl.String,
                    pl.Decimal(20, 0))},
    "parquet categories": _cast(pl.String),
    "feather": _cast(pl.Int64, ".feather"),
    "jsonl numbers": _cast(pl.Int64, ".jsonl"),
    "jsonl floats": _cast(pl.Float64, ".jsonl"),
    "jsonl text": _cast(pl.String, ".jsonl"),
    **{f"npz {kind}": _npz(kind) for kind in ("int8", "uint64", "float64", "float32", "str", "S")},
}  # fmt: skip
