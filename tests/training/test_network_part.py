"""Methods that change the network itself: successors keep what the base's method changed."""

import numpy as np
import pytest

import toys
from unchurn import StableClassifier, upgrade
from unchurn.methods import Smelu
from unchurn.training.learners.base import RemarkWarning
from unchurn.training.networks.factories import mlp
from unchurn.training.upgrade.recipes import FROM_ANSWERS, INSTEAD

X, Y = toys.blobs(240, distance=1.5)
FEW = {"epochs": 4, "random_state": 0}
PARTS = {"X_test": X[200:], "y_test": Y[200:], "base_saw": np.arange(200) < 120}


@pytest.fixture(scope="module")
def smooth():
    return StableClassifier(method="smelu(beta=0.5)+ema", **FEW).fit(X[:120], Y[:120])


@pytest.mark.parametrize("budget", [{}, {"max_churn": 1}])
def test_a_successor_keeps_the_activations_of_its_base(smooth, budget):
    found = upgrade(smooth, X[:200], Y[:200], **PARTS, **FEW, **budget)
    assert found.method.startswith("smelu(beta=0.5)+")
    assert found.tried
    assert all(one.method.combined[0] == Smelu(0.5) for one in found.tried)


def test_another_network_has_its_own_activations(smooth):
    found = upgrade(smooth, X[:200], Y[:200], model=mlp, **PARTS, **FEW)
    assert found.method in INSTEAD[FROM_ANSWERS]


def test_weights_that_were_learned_with_other_activations_are_warned_of(smooth):
    with pytest.warns(RemarkWarning, match=r"learned with smelu\(beta=0.5\), .* own activations"):
        upgrade(smooth, X[:200], Y[:200], method="warm_start", **PARTS, **FEW)
    plain = StableClassifier(method="control", **FEW).fit(X, Y)
    with pytest.warns(RemarkWarning, match="own activations, and training goes on with smelu,"):
        StableClassifier(method="smelu+warm_start", reference=plain, **FEW).fit(X, Y)
