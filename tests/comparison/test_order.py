"""Files are not paired by place or index where a column shows that other rows belong together."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unchurn import compare
from unchurn.comparison.inputs.columns import Columns
from unchurn.core.errors import InputError

N = 1000
CHURN = 0.038  # of `frames`


def churn(*sources, **options):
    return compare(*sources, **options).estimates["churn"].value


def numbered_anew(frame):
    """Rows in another order, whose index counts them from 0 again."""
    return frame.sort_values(["prediction", "ticket"]).reset_index(drop=True)


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


def test_what_each_model_says_of_a_row_is_no_sign_of_another_order(rng):
    right = rng.permutation([0, 1] * 50)
    base = pl.DataFrame({"prediction": right, "correct": right, "seconds": rng.random(100)})
    other = base.with_columns(correct=pl.col("correct").reverse(), seconds=pl.col("seconds") * 2)
    assert churn(base, other) == 0


def written(frame, path):
    """A file of a frame without its index."""
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True)
    return path


@pytest.fixture
def numbered(frames):
    """The frames with a column `ticket` that tells their rows, which are in another order."""
    return [frame.assign(ticket=frame.index + 101) for frame in frames]


@pytest.mark.parametrize("kinds", [("csv", "csv"), ("parquet", "parquet"), ("jsonl", "csv")])
@pytest.mark.parametrize("has_gap", [False, True])
def test_whole_numbers_that_are_floats_in_one_file_tell_another_order(
    numbered, tmp_path, kinds, has_gap
):
    """As pandas makes them where there is, or was, a gap; by place, nearly all seemed to change."""
    base, other = numbered
    other = other.assign(ticket=other["ticket"].astype(float))
    if has_gap:
        other.iloc[7, 1] = np.nan
    pair = [
        written(frame, tmp_path / f"{name}.{kind}")
        for name, frame, kind in zip("bc", (base, other), kinds, strict=True)
    ]
    for one, two in (pair, pair[::-1]):
        with pytest.raises(InputError, match="are not in one order: 'ticket' has the same values"):
            compare(one, two)
    if not has_gap:
        assert churn(*pair, columns=Columns(id="ticket")) == CHURN


def test_the_same_numbers_in_one_order_are_no_contradiction(numbered):
    """Whatever type holds them, and where some are missing."""
    base = numbered[0]
    floats = base.assign(ticket=base["ticket"].where(base.index % 10 > 0))
    padded = base.assign(ticket="00" + base["ticket"].astype(str))
    for other in (floats, padded):
        assert churn(base, other) == churn(other, base) == 0


def repeat(frame, n, rng):
    """Of n rows, the ticket is that of another row."""
    rows = rng.choice(len(frame), 2 * n, replace=False)
    tickets = frame["ticket"].to_numpy(copy=True)
    tickets[rows[:n]] = tickets[rows[n:]]
    return frame.assign(ticket=tickets)


@pytest.mark.parametrize("n_twice", [1, 3, 60])
@pytest.mark.parametrize("form", ["{}", "T{}", "{}.0"])
def test_ids_that_are_there_twice_tell_another_order_all_the_same(numbered, rng, n_twice, form):
    base, other = (
        frame.assign(ticket=[form.format(i) for i in frame["ticket"]]) for frame in numbered
    )
    twice = repeat(other, n_twice, rng)
    for pair in ((base, twice), (twice, base), (repeat(base, n_twice, rng), twice)):
        with pytest.raises(InputError) as error:
            compare(*(pl.from_pandas(frame) for frame in pair))
        assert str(error.value) == (
            "base and candidate are not in one order: 'ticket' has the same values in other rows. "
            "Mend what is missing, there twice or written otherwise, and join them with "
            "id= 'ticket', or leave it out if it is no id"
        )
    assert churn(base, repeat(base, n_twice, rng)) == 0


def test_an_id_that_is_there_twice_is_noticed_in_a_small_file(tmp_path):
    """103 was written again and 106 lost: by place, one row of six would have its own partner."""
    (tmp_path / "b.csv").write_text("ticket,answer\n101,a\n102,a\n103,b\n104,b\n105,a\n106,b\n")
    (tmp_path / "c.csv").write_text("ticket,answer\n105,a\n101,a\n103,b\n102,a\n103,b\n104,b\n")
    columns = Columns(prediction="answer")
    with pytest.raises(InputError, match="'ticket' has the same values in other rows"):
        compare(tmp_path / "b.csv", tmp_path / "c.csv", columns=columns)


def test_a_row_that_is_written_twice_moves_all_that_follow(numbered):
    """The file was cut to its length, so that its last row is lost."""
    base = numbered[0]
    other = pd.concat([base[:1], base[:-1]], ignore_index=True)
    with pytest.raises(InputError, match="are not in one order: 'ticket' has the same values"):
        compare(base, other)


def test_rows_that_only_one_file_has_do_not_hide_another_order(numbered):
    base, other = (frame.reset_index(drop=True) for frame in numbered)
    for n_new, form in ((1, int), (50, int), (50, "T{}".format)):
        new = other["ticket"].where(other.index >= n_new, other["ticket"] + 5000)
        pair = base.assign(ticket=base["ticket"].map(form)), other.assign(ticket=new.map(form))
        with pytest.raises(InputError, match="are not in one order: 'ticket' has the same values"):
            compare(*pair)


def test_a_number_that_is_there_twice_contradicts_an_index_made_anew(numbered, tmp_path, rng):
    base, other = numbered
    base.to_csv(tmp_path / "b.csv")
    repeat(numbered_anew(other), 2, rng).to_csv(tmp_path / "c.csv")
    with pytest.raises(
        InputError, match=r"not paired by their index: 'ticket' has .* or 'Unnamed: 0' if the index"
    ):
        compare(tmp_path / "b.csv", tmp_path / "c.csv")


OTHERWISE = {
    "spaces": lambda tickets: [f" T{i} " for i in tickets],
    "case": lambda tickets: [f"t{i}" for i in tickets],
    "leading zeros": lambda tickets: [f"{i:06}" for i in tickets],
    "lost digits": lambda tickets: [float(i * 10**15) for i in tickets],
}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("how", OTHERWISE)
def test_values_that_are_written_otherwise_tell_another_order(numbered, tmp_path, how, suffix):
    """They join nothing, as they may be others, but files that they contradict are refused."""
    plain = {"leading zeros": lambda i: i, "lost digits": lambda i: i * 10**15 + 1}
    base, other = numbered
    base = base.assign(ticket=base["ticket"].map(plain.get(how, "T{}".format)))
    same = base.assign(ticket=OTHERWISE[how](numbered[0]["ticket"]))
    other = other.assign(ticket=OTHERWISE[how](other["ticket"]))
    files = [
        written(frame, (tmp_path / name).with_suffix(suffix))
        for name, frame in (("b", base), ("c", other), ("s", same))
    ]
    with pytest.raises(InputError, match="there twice or written otherwise, and join them with id"):
        compare(files[0], files[1])
    assert churn(files[0], files[2]) == 0


def test_a_column_that_is_called_otherwise_tells_another_order(numbered):
    base, other = numbered
    with pytest.raises(
        InputError, match=r"'ticket' \('Ticket' in candidate\) has .* with id= ticket=Ticket"
    ):
        compare(base, other.reset_index(drop=True).rename(columns={"ticket": "Ticket"}))
    both = base.assign(Ticket=range(N, 0, -1))  # not the column of the other that is called so
    assert churn(both, base) == 0


def test_a_feature_that_was_mended_in_some_rows_is_no_sign_of_another_order(rng):
    income = rng.integers(10_000, 99_999, N).astype(float)
    gaps = np.where(rng.random(N) < 0.1, np.nan, income)
    at_random = np.where(rng.random(N) < 0.2, rng.choice(income, N), income)
    codes = rng.integers(0, 3 * N // 4, N)
    pairs = {
        "filled with the median": (gaps, np.where(np.isnan(gaps), np.nanmedian(gaps), gaps)),
        "filled with one that is there": (gaps, np.where(np.isnan(gaps), np.nanmin(gaps), gaps)),
        "cut off": (income, income.clip(max=np.sort(income)[-100])),
        "replaced": (income, at_random),
        "rounded": (income / 7, (income / 7).round(2)),
        "numbered by each": (pd.factorize(codes)[0], pd.factorize(codes, sort=True)[0]),
    }
    said = rng.integers(0, 2, N)
    for what, pair in pairs.items():
        for one, two in (pair, pair[::-1]):
            files = [pl.DataFrame({"x": x, "prediction": said}) for x in (one, two)]
            assert churn(*files) == 0, what


def test_what_each_model_measured_is_no_sign_of_another_order(rng):
    """Confidences, times and counts: many values are in both, but not nearly all."""
    said = rng.integers(0, 2, N)
    measures = {
        "confidence": lambda: rng.beta(8, 2, N).round(4),
        "milliseconds": lambda: rng.gamma(3, 300, N).round(),
        "nearest": lambda: rng.integers(0, N, N),
        "clock": lambda: np.sort(rng.integers(0, 2 * N, N)),
    }
    for what, measure in measures.items():
        files = [pl.DataFrame({what: measure(), "prediction": said}) for _ in range(2)]
        assert all(file[what].n_unique() > N / 2 for file in files)
        assert churn(*files) == 0, what


def test_clocks_of_which_one_began_later_are_no_sign_of_another_order():
    for seconds in (np.arange(N), np.arange(N)[::-1]):
        files = [pl.DataFrame({"at": seconds + job, "prediction": 0}) for job in (0, 1)]
        assert churn(*files) == 0


def test_durations_are_looked_at_beside_an_index_like_any_column(numbered):
    base, other = (
        pl.from_pandas(frame.rename_axis("__index_level_0__").reset_index()) for frame in numbered
    )
    pair = [frame.with_columns(pl.col("ticket").cast(pl.Duration("us"))) for frame in (base, other)]
    assert churn(*pair) == CHURN
