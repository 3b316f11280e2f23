"""Files are not paired by place or index where a column shows that other rows belong together."""

import numpy as np
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
