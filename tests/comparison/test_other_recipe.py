"""Retrainings of the candidate's recipe are no noise of base's: that is said above the answer."""

import numpy as np
import pytest

from unchurn import compare
from unchurn.comparison.noise.other_recipe import caution_on_recipe


def trained(rng, recipe, n_runs, rate=0.05):
    """Models that differ from their recipe's answers at random, so by about 2 × rate in pairs."""
    return [np.where(rng.random(len(recipe)) < rate, 1 - recipe, recipe) for _ in range(n_runs)]


@pytest.fixture
def recipes(rng):
    """The answers of base's recipe and of another, a fifth of which differ."""
    own = rng.integers(0, 2, 1000)
    return own, np.where(np.arange(1000) % 5 == 0, 1 - own, own)


@pytest.mark.parametrize("n_runs", [2, 3, 5])
def test_retrainings_of_the_candidates_recipe_are_told(rng, recipes, n_runs):
    own, another = recipes
    (base,), (candidate, *others) = trained(rng, own, 1), trained(rng, another, n_runs + 1)
    found = compare(base, candidate, retrains=others)
    (warning,) = found.warnings
    assert "seem to be of another recipe than base's" in warning
    verdict = found.gate({"max_excess_churn": 0.05})
    assert verdict.decision == "hold"
    assert verdict.checks[0].reason.endswith(
        "but retrainings seem to be of another recipe than base's"
    )
    assert warning.split(":")[0] in found.markdown(verdict)
    assert compare(base, candidate, retrains=trained(rng, own, n_runs)).warnings == ()


def test_classes_are_compared_by_their_names(rng, recipes):
    """Each retraining knows others: numbered by itself, they would differ from one another."""
    own, another = recipes
    names = np.array(["x", "y"])
    others = [names[said] for said in trained(rng, another, 2)]
    others[0][0] = "a"
    assert compare(names[own], names[another], retrains=others).warnings != ()


@pytest.mark.parametrize("n_runs", [2, 3, 5])
def test_of_one_recipe_it_is_rarely_said(rng, n_runs):
    """Also where some examples flip often and one run is noisier than the next."""
    alarms = 0
    for n in np.repeat([50, 200, 1000], 100):
        doubt = rng.beta(0.1, 0.9, n) * np.exp(rng.normal(0, 0.15, (n_runs + 1, 1)))
        said = (rng.random((n_runs + 1, n)) < doubt).astype(int)
        alarms += caution_on_recipe(said[1:] != said[0], said[1:]) is not None
    assert alarms <= 1


def test_clusters_are_what_may_differ_by_accident(rng):
    """All of the difference is in one user."""
    users = np.repeat(np.arange(50), 20)
    base, others = np.zeros(1000, int), np.tile((users == 7).astype(int), (2, 1))
    others[0, 140] = 0  # copies of one model would be another matter
    moved = others != base
    assert caution_on_recipe(moved, others) is not None
    assert caution_on_recipe(moved, others, users) is None
