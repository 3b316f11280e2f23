import numpy as np
import polars as pl
import pytest

from unchurn import compare
from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.report import words
from unchurn.core.errors import InputError


def frame(predictions, **columns):
    return pl.DataFrame({"id": range(len(predictions)), "prediction": predictions, **columns})


def test_the_noise_floor_and_what_is_beyond_it(rng):
    truth = rng.integers(0, 2, 3000)

    def retrained(rate):
        return np.where(rng.random(3000) < rate, 1 - truth, truth)

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


def test_the_floor_is_of_the_rows_that_all_have(rng):
    base, candidate, other = rng.integers(0, 2, (3, 100))
    retrain = frame(other)[20:].sample(fraction=1, shuffle=True, seed=0)
    floor = compare(frame(base), frame(candidate), retrains=[retrain, frame(other)]).floor
    assert floor.n == 80
    assert floor.each == tuple([np.mean(base[20:] != other[20:])] * 2)
    assert floor.candidate == np.mean(base[20:] != candidate[20:])


def test_clusters_widen_the_floor_too(rng):
    users = np.repeat(np.arange(200), 10)
    hard = np.repeat(rng.random(200) < 0.2, 10)  # users whose rows flip often, in any retraining
    flip = (hard & (rng.random((4, 2000)) < 0.7)).astype(int)
    flip[0] |= np.repeat(rng.random(200) < 0.2, 10)
    base = np.zeros(2000, int)
    plain = compare(base, flip[0], retrains=list(flip[1:])).floor
    found = compare(base, flip[0], retrains=list(flip[1:]), cluster=users).floor
    assert found.churn.value == pytest.approx(plain.churn.value)
    assert found.excess.value == pytest.approx(plain.excess.value)
    assert found.churn.high - found.churn.low > 1.5 * (plain.churn.high - plain.churn.low)
    assert found.excess.high - found.excess.low > 1.5 * (plain.excess.high - plain.excess.low)
    alone = compare(base, flip[0], retrains=list(flip[1:]), cluster=np.arange(2000)).floor
    assert alone.excess.low == pytest.approx(plain.excess.low)


def test_the_floor_is_of_the_classes_that_the_candidate_tells(rng):
    truth = rng.choice(["a", "b", "c"], 300)
    other = np.where(rng.random((3, 300)) < 0.1, "c", truth)
    base, *again = (frame(said) for said in other)
    one = pl.DataFrame({"id": range(300), "p": (other[0] == "a").astype(float)})
    floor = compare(base, one, retrains=again, columns=Columns(positive="a")).floor
    wanted = [((row == "a") != (other[0] == "a")).mean() for row in other[1:]]
    assert floor.each == pytest.approx(wanted)
    with pytest.raises(InputError, match="retraining 1 tells only 'a' from all others"):
        compare(base, again[0], retrains=[one], columns=Columns(positive="a"))


def test_intervals_stay_within_what_can_be():
    flips = (np.arange(12) < 5, np.arange(12) > 5, np.arange(12) % 2 == 0)
    one, two, candidate = (flip.astype(int) for flip in flips)
    floor = compare(np.zeros(12, int), candidate, retrains=[one, two]).floor
    assert 0 <= floor.churn.low <= floor.churn.high <= 1
    assert -1 <= floor.excess.low <= floor.excess.high <= 1


def test_retrainings_may_be_rows_of_an_array_or_a_folder(tmp_path):
    assert compare([0, 1], [1, 1], retrains=np.array([[0, 1], [1, 1]])).floor.each == (0, 0.5)
    (tmp_path / "predictions").mkdir()
    for number in range(3):
        path = tmp_path / f"predictions/control-{number}.parquet"
        frame([0, number % 2, 1]).write_parquet(path)
    files = [tmp_path / f"predictions/control-{n}.parquet" for n in range(2)]
    assert compare(*files, retrains=tmp_path).floor.each == (0.0,)


def test_the_sentences_say_on_how_many_examples_and_on_which_side_of_the_range(rng):
    truth = rng.integers(0, 2, 2000)

    def model(wrong):
        return frame(np.where(rng.random(2000) < wrong, 1 - truth, truth))

    base, *others = (model(0.1) for _ in range(5))
    labels = frame(truth).rename({"prediction": "label"})
    for wrong, where in ((0.3, "below"), (0.001, "above")):
        result = compare(base, model(wrong), labels, retrains=[o[:1499] for o in others])
        moves, has = words.sentences(result)[1:]
        assert moves.startswith("Retraining alone moves, on the 1,499 examples that all have, ")
        assert has.endswith(f", and the candidate's is {where} that.")


@pytest.mark.parametrize("kind", ["polars", "pandas", "array"])
def test_one_retraining_needs_no_list(kind):
    """Its columns are no retrainings, of which one would be the true labels."""
    truth = np.arange(200) % 2
    base, candidate, again = (np.where(np.arange(200) < n, 1 - truth, truth) for n in (9, 20, 30))

    def of(said):
        frame = pl.DataFrame({"prediction": said, "label": truth})
        return {"polars": frame, "pandas": frame.to_pandas(), "array": said}[kind]

    one, several = (
        compare(of(base), of(candidate), retrains=given).floor for given in (of(again), [of(again)])
    )
    assert one.each == several.each == (21 / 200,)
