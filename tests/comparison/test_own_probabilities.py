"""Predictions against the probabilities beside them: some are noted, most are doubted."""

import numpy as np
import polars as pl
import pytest

from unchurn import compare


def model(said, p):
    """Predictions beside probabilities, (n,) of the class 1 or (n, classes)."""
    table = np.stack([1 - p, p], axis=1) if p.ndim == 1 else p
    columns = {f"p_{i}": column for i, column in enumerate(table.T)}
    return pl.DataFrame({"id": range(len(said)), "prediction": said, **columns})


def doubts(*models):
    return [(doubt.check, doubt.warning) for doubt in compare(*models).doubts]


def test_predictions_that_are_not_the_most_probable_class_are_noted():
    likely = pl.DataFrame({"p_a": [0.7, 0.4, 0.5, None], "p_b": [0.3, 0.6, 0.5, None]})
    by_threshold = likely.with_columns(prediction=pl.Series(["b", "b", "b", "a"]))
    notes = compare(by_threshold, likely.with_columns(prediction=pl.Series([*"abab"]))).notes
    assert [note for note in notes if "most probable" in note] == [
        "base: 1 prediction is not of the most probable class: taken as they are, by another "
        "threshold perhaps"
    ]


def test_predictions_that_are_turned_round_are_doubted_and_a_gate_holds(rng):
    p = rng.random(1000)
    right, wrong = model((p > 0.5).astype(int), p), model((p < 0.5).astype(int), p)
    ((check, warning),) = doubts(wrong, right)
    assert check == "probabilities"
    assert warning.startswith(
        "base: 1,000 predictions are not of the most probable class, and no threshold gives them: "
        "a row of one class has the higher probability of it in 0.00% of all pairs with a row of "
        "the other: are predictions turned round"
    )
    found = compare(wrong, right)
    assert not [note for note in found.notes if "threshold perhaps" in note]
    verdict = found.gate({"max_churn": 1.0})
    assert (verdict.decision, verdict.checks[-1].name) == ("hold", "probabilities")
    assert doubts(right, wrong)[0][1].startswith("candidate: ")
    again = compare(right, right, retrains=[right, wrong])
    assert again.doubts[0].warning.startswith("retraining 2: ")


def test_probabilities_of_other_rows_are_doubted(rng):
    p = rng.random(1000) ** 2
    assert doubts(model((p > 0.5).astype(int), rng.permutation(p)), model((p > 0.5).astype(int), p))


@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.95])
def test_any_threshold_may_have_made_them(threshold, rng):
    """Also one for each country, rounded probabilities, and rules for some rows besides."""
    p = rng.random(2000)
    said = (p > threshold).astype(int)
    assert not doubts(model(said, p), model(said, p))
    assert not doubts(model(said, p.round(1)), model(said, p))
    country = rng.random(2000) < 0.5
    by_country = (p > np.where(country, threshold, threshold * 0.5)).astype(int)
    assert not doubts(model(by_country, p), model(said, p))
    ruled = np.where(rng.random(2000) < 0.02, 1, said)
    found = compare(model(ruled, p), model(said, p))
    assert not found.doubts
    assert any("by another threshold perhaps" in note for note in found.notes)


def test_a_rare_class_is_enough_if_all_of_it_is_turned_round():
    p = np.append(np.linspace(0.0, 0.3, 1000), np.full(9, 0.9))
    assert doubts(model((p < 0.5).astype(int), p), model((p > 0.5).astype(int), p))


def test_half_of_the_way_to_chance_is_the_end(rng):
    p = rng.random(4000)
    said = (p > 0.5).astype(int)
    for share, is_doubted in ((0.4, False), (0.6, True)):  # of rows with another row's probability
        mixed, at = p.copy(), np.flatnonzero(rng.random(4000) < share)
        mixed[at] = mixed[rng.permutation(at)]
        assert bool(doubts(model(said, mixed), model(said, p))) == is_doubted


def test_few_rows_and_predictions_of_one_class_stay_a_note(rng):
    p = rng.random(19)
    few = model((p < 0.5).astype(int), p)
    assert not doubts(few, few)
    p = np.linspace(0.1, 0.4, 1000)
    two = model(np.isin(np.arange(1000), (990, 999)).astype(int), 1 - p)  # by a rule, against p
    assert not doubts(two, two)
    p = rng.random(1000)
    assert not doubts(model(np.zeros(1000, int), p), model((p > 0.5).astype(int), p))


def test_of_more_classes_most_must_be_the_most_probable(rng):
    p = rng.dirichlet(np.ones(3), 1000)
    most = p.argmax(axis=1)
    right = model(most, p)
    half = np.where(np.arange(1000) < 500, (most + 1) % 3, most)
    assert not doubts(model(half, p), right)
    half[999] = (half[999] + 1) % 3
    ((_, warning),) = doubts(model(half, p), right)
    assert "501 predictions are not of the most probable class, of 1,000: are" in warning
