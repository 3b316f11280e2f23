"""Methods that change the network itself: successors keep what the base's method changed."""

import numpy as np
import pytest
from torch import nn

import toys
from unchurn import StableClassifier, upgrade
from unchurn.core.errors import InputError
from unchurn.methods import Method, Smelu
from unchurn.methods.registry import FROM_ANSWERS
from unchurn.study.api import make_experiment
from unchurn.training.learners.base import RemarkWarning
from unchurn.training.networks.factories import mlp
from unchurn.training.upgrade.recipes import INSTEAD

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


def test_several_networks_have_no_weights_to_start_from_so_nothing_is_kept():
    several = StableClassifier(method="smelu+ensemble(m=2)", **FEW).fit(X[:120], Y[:120])
    found = upgrade(several, X[:200], Y[:200], **PARTS, **FEW)
    assert found.method in INSTEAD[FROM_ANSWERS]


class Gelu(Method):
    """Another activation, by a user's own class."""

    def adapt(self, net):
        net[2] = nn.GELU()
        return net


@pytest.mark.parametrize("budget", [{}, {"max_churn": 1}])
def test_what_an_own_class_changed_cannot_be_named_in_a_recipe(budget):
    own = StableClassifier(method=Gelu(), **FEW).fit(X[:120], Y[:120])
    with pytest.warns(RemarkWarning, match=r"was changed by .*Gelu.*, which no recipe can name"):
        found = upgrade(own, X[:200], Y[:200], **PARTS, **FEW, **budget)
    assert "warm_start" not in found.method


def test_another_network_has_its_own_activations(smooth):
    found = upgrade(smooth, X[:200], Y[:200], model=mlp, **PARTS, **FEW)
    assert found.method in INSTEAD[FROM_ANSWERS]


def test_weights_that_were_learned_with_other_activations_are_warned_of(smooth):
    with pytest.warns(RemarkWarning, match=r"learned with smelu\(beta=0.5\), .* own activations"):
        upgrade(smooth, X[:200], Y[:200], method="warm_start", **PARTS, **FEW)
    plain = StableClassifier(method="control", **FEW).fit(X, Y)
    with pytest.warns(RemarkWarning, match="own activations, and training goes on with smelu,"):
        StableClassifier(method="smelu+warm_start", reference=plain, **FEW).fit(X, Y)


def test_activations_are_warned_of_only_where_training_starts_from_weights(smooth):
    y = np.where(np.arange(len(Y)) < 20, 9, Y)  # a class that the base does not know
    with pytest.raises(InputError, match="does not know class 9"):  # and no warning
        StableClassifier(method="warm_start", reference=smooth, **FEW).fit(X, y)
    sharper = StableClassifier(method="smelu(beta=0.25)", **FEW).fit(X, Y)  # not in the search
    chosen = {"method": "smelu+warm_start(a=1.0)", "max_churn": 1}
    with pytest.warns(RemarkWarning, match="training goes on with smelu"):
        StableClassifier(**chosen, reference=sharper, **FEW).fit(X, Y)


def test_weights_between_networks_with_other_activations_cannot_keep_a_budget(smooth):
    project = {"method": "project+ema", "reference": smooth}
    with pytest.raises(InputError, match=r"learned with smelu\(beta=0.5\), and its own, with the"):
        StableClassifier(**project, **FEW).fit(X, Y)
    StableClassifier(**project | {"method": "smelu(beta=0.5)+project"}, **FEW).fit(X, Y)
    # A search tries only what keeps its budget: smelu's grid has 0.5 and 1.
    search = {"method": "smelu+project", "max_churn": 0.5}
    found = StableClassifier(**project | search, **FEW).fit(X, Y)
    assert all(one.method.combined[0] == Smelu(0.5) for one in found.tried_)
    with pytest.raises(InputError, match="own activations, and its own, with smelu"):
        StableClassifier(method="smelu+project", **FEW).fit(X, Y)  # its reference is a plain fit
    with pytest.raises(InputError, match="project serves weights between the reference's"):
        make_experiment(toys.dataset(), "smelu+project", scenario="upgrade")
    make_experiment(toys.dataset(), "project", scenario="upgrade")
