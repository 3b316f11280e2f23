"""Methods that look at the model in production: rcp, focal, warm_start, project."""

from functools import partial

import numpy as np
import pytest
import torch

import toys
from unchurn.core.errors import InputError
from unchurn.methods import HeldOut, Project, Rcp, Reference, WarmStart, make_method
from unchurn.methods.focal import focal_distance
from unchurn.methods.warm_start import move_weights
from unchurn.training.loop.config import Training
from unchurn.training.networks.factories import mlp

X, Y = toys.blobs(150, distance=1)
ONE_HOT = np.eye(3, dtype=np.float32)[Y]
TRAINING = Training(epochs=4, batch_size=32)
BASE = toys.fit_run(make_method("control"), mlp, X, Y, 3, training=TRAINING, seed=9)
LOGITS = BASE.logits(X)
fit = partial(toys.fit_run, factory=mlp, x=X, y=Y, n_classes=3, training=TRAINING, seed=0)


def base(**options):
    return Reference(lambda: LOGITS, Y, weights=BASE.weights, **options)


def accuracy(fitted):
    return (fitted.probabilities(X).argmax(axis=1) == Y).mean()


def test_rcp_leaves_what_the_base_has_wrong():
    right = LOGITS.argmax(axis=1) == Y
    method = Rcp(a=0.25, wrong=0.5)
    targets = method.targets(ONE_HOT, base())
    said = BASE.probabilities(X)
    np.testing.assert_allclose(
        targets[right], 0.75 * ONE_HOT[right] + 0.25 * said[right], atol=1e-6
    )
    np.testing.assert_array_equal(targets[~right], ONE_HOT[~right])
    weights = method.weights(np.full(150, 2, np.float32), base())
    np.testing.assert_array_equal(weights, np.where(right, 2, 1))


def test_classes_that_the_base_does_not_know_are_no_mistakes_of_it():
    known = np.array([True, True, False])
    of_new = Y == 2
    reference = base(known=known)
    assert not reference.is_right[of_new].any()
    np.testing.assert_array_equal(
        Rcp(wrong=0.1).weights(np.ones(150, np.float32), reference)[of_new], 1
    )
    for text in ("rcp(a=1)", "anchor(a=1)", "distill(a=1)"):
        targets = make_method(text).targets(ONE_HOT, reference)
        np.testing.assert_array_equal(targets[of_new], ONE_HOT[of_new])
    extras = make_method("focal").extras(150, reference, np.random.default_rng(0))
    assert not extras["focal_weights"][of_new].any()
    assert not make_method("elodi").extras(150, reference, None)["elodi_known"][of_new].any()


@pytest.mark.parametrize("text", ["focal", "elodi", "elodi(a=1)", "elodi+mixup"])
def test_logits_of_a_class_that_the_base_does_not_know_pull_nowhere(text):
    known = np.array([True, True, False])
    other = LOGITS.copy()
    other[:, 2] = -80
    other[Y == 2] = 7  # nor those of its examples
    before = np.where(known, LOGITS, np.float32(-50))
    trained = [
        fit(make_method(text), reference=Reference(lambda z=z: z, Y, known=known))
        for z in (before, other)
    ]
    one, two = (fitted.probabilities(X) for fitted in trained)
    # Mixup's share of an unknown example may be as small as rounding.
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-4 if "mixup" in text else 0)
    assert (trained[0].probabilities(X).argmax(axis=1) == Y)[Y == 2].mean() > 0.5


def test_focal_distances():
    z, before = torch.tensor([[1.0, 3.0]]), torch.tensor([[0.0, 1.0]])
    assert focal_distance(z, before, "logits", 1).tolist() == [2.5]
    p, q = (torch.softmax(torch.tensor([a, b]) / 2, 0) for a, b in ((0.0, 1.0), (1.0, 3.0)))
    expected = 4 * torch.distributions.kl_divergence(
        torch.distributions.Categorical(p), torch.distributions.Categorical(q)
    )
    torch.testing.assert_close(focal_distance(z, before, "kl", 2)[0], expected)


@pytest.mark.parametrize("kind", ["logits", "kl"])
def test_focal_draws_towards_the_base(kind):
    long = Training(epochs=30, batch_size=32, learning_rate=0.01)  # in which networks go apart

    def distance(text):
        own = fit(make_method(text), reference=base(), training=long).probabilities(X)
        return np.abs(own - BASE.probabilities(X)).mean()

    assert distance(f"focal(a=1, kind={kind!r})") < distance("control") / 2


def test_a_warm_start_is_where_training_begins():
    none = Training(epochs=1, batch_size=150, learning_rate=1e-12)  # a step that goes nowhere
    started = fit(make_method("warm_start"), training=none, reference=base())
    np.testing.assert_allclose(started.logits(X), LOGITS, atol=1e-4)
    half = fit(make_method("warm_start(a=0.5)"), training=none, reference=base()).weights()
    own = fit(make_method("control"), training=none).weights()
    for name, value in BASE.weights().items():
        np.testing.assert_allclose(half[name], (own[name] + value) / 2, atol=1e-6)


def test_averages_start_where_training_does():
    none = Training(epochs=1, batch_size=150, learning_rate=1e-12)
    started = fit(make_method("warm_start+ema"), training=none, reference=base())
    np.testing.assert_allclose(started.logits(X), LOGITS, atol=1e-4)


def test_without_a_reference_a_plain_fit_is_trained_first():
    alone = fit(make_method("warm_start"))
    plain = fit(make_method("control"), fit=1)  # the stream of references
    given = Reference(lambda: plain.logits(X), Y, weights=plain.weights)
    assert (
        alone.probabilities(X).tobytes()
        == fit(make_method("warm_start"), reference=given).probabilities(X).tobytes()
    )


def test_other_networks_and_frameworks_have_no_weights_to_start_from():
    with pytest.raises(InputError, match="the reference's weights: it must be a network of"):
        fit(make_method("warm_start"), reference=Reference(lambda: LOGITS, Y))
    linear = toys.fit_run(make_method("control"), toys.linear, X, Y, 3, training=TRAINING, seed=0)
    other = Reference(lambda: LOGITS, Y, weights=linear.weights)
    with pytest.raises(InputError, match="the reference is another network"):
        fit(make_method("warm_start"), reference=other)
    with pytest.raises(InputError, match="warm_start and codistill_ce cannot be combined"):
        make_method("warm_start+codistill_ce")


def test_weights_move_by_a_share_and_counts_are_taken():
    one, two = (toys.with_batch_norm((4,), 3) for _ in range(2))
    two(torch.from_numpy(X[:8]))  # its batch norm counts
    before = {name: value.clone() for name, value in one.state_dict().items()}
    move_weights(one, {n: v.numpy() for n, v in two.state_dict().items()}, 0.25)
    for name, value in one.state_dict().items():
        old, new = before[name], two.state_dict()[name]
        expected = 0.75 * old + 0.25 * new if value.is_floating_point() else new
        torch.testing.assert_close(value, expected)


@pytest.mark.parametrize("budget", [0, 0.01, 0.03, 0.1])
def test_project_keeps_its_budget_on_the_rows_it_was_given(budget):
    method = Project(max_bad_flips=budget, part=0.3)
    counted = []

    class Counting(Project):
        def settle(self, nets, reference, held):
            served = super().settle(nets, reference, held)
            (logits,) = held.logits(served)
            was_right = LOGITS[held.rows].argmax(1) == Y[held.rows]
            counted.append(np.mean(was_right & (logits.argmax(1) != Y[held.rows])))
            return served

    fit(Counting(**method.get_params()), reference=base())
    assert len(counted) == 1
    assert counted[0] <= budget


def test_project_counts_what_the_base_was_not_trained_on():
    """Of two held-out rows, the base has seen the one that flips, or it weighs nothing."""
    net = mlp((4,), 3)
    served = {"kept": [net]}
    logits = np.array([[0, 1, 0], [1, 0, 0]], np.float32)  # the first flips, the second does not
    said = np.array([[1, 0, 0], [1, 0, 0]], np.float32)
    labels = np.array([0, 0])
    for seen, taught, weights, is_kept in (
        ([True, False], [False, False], [1, 1], True),
        ([False, False], [False, False], [0, 2], True),
        ([False, False], [False, False], [1, 1], False),
        ([True, True], [False, False], [1, 0], False),  # nothing else to count: all count
        ([True, True], [True, False], [1, 1], True),  # but for those that it labelled itself
        ([True, True], [False, True], [1, 99], False),
        ([True, True], [True, True], [1, 1], False),
    ):
        held = HeldOut(
            rows=np.array([0, 1]), weights=np.float32(weights), logits=lambda nets: [logits]
        )
        masks = {"seen": np.array(seen), "taught": np.array(taught)}
        reference = Reference(lambda: said, labels, weights=BASE.weights, **masks)
        found = Project(max_bad_flips=0.1).settle(served["kept"], reference, held)
        assert (found[0] is net) == is_kept


def test_a_budget_that_never_binds_is_a_warm_start():
    assert Project(a=0.5, max_bad_flips=1).simplest() == WarmStart(0.5)
    free = fit(make_method("project(max_bad_flips=1)"), reference=base())
    warm = fit(make_method("warm_start"), reference=base())
    assert free.probabilities(X).tobytes() == warm.probabilities(X).tobytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rcp(wrong=2)", "wrong must be from 0 to 1"),
        ("focal(kind='l2')", "kind must be 'logits' or 'kl', not 'l2'"),
        ("focal(tau=0)", "tau must be above 0"),
        ("focal(beta=-1)", "beta must be a number of at least 0"),
        ("warm_start(a=2)", "a must be from 0 to 1"),
        ("project(max_bad_flips=-1)", "max_bad_flips must be from 0 to 1"),
        ("project(part=0)", "part must be above 0 and below 1"),
        ("project+warm_start", "each decides which weights training starts from"),
    ],
)
def test_bad_parameters_are_named(text, message):
    with pytest.raises(InputError, match=message):
        make_method(text)
