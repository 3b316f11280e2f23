"""Methods of several fits: bagging, distillation, ELODI, the medoid, twins."""

import numpy as np
import pytest
import torch
from scipy.special import rel_entr, softmax

import toys
from unchurn.methods import (
    Bagging,
    Control,
    Distill,
    Elodi,
    Ema,
    Medoid,
    Reference,
    Twin,
    WeightDecay,
)
from unchurn.methods.codistill import codistillation_divergence
from unchurn.methods.cost import serving_cost, training_cost
from unchurn.methods.distill import distill_labels
from unchurn.methods.elodi import logit_difference
from unchurn.methods.registry import make_method
from unchurn.training.learners.function import FunctionLearner
from unchurn.training.loop.config import Training
from unchurn.training.loop.streams import Stream, hold_out, member_fits
from unchurn.training.networks.factories import mlp

X, Y = toys.blobs(120, distance=1)
TRAINING = Training(epochs=2, batch_size=32)
ONE_STEP = Training(epochs=1, batch_size=120, learning_rate=0.01)


def fit(method, **options):
    return toys.fit_run(method, mlp, X, Y, 3, training=TRAINING, seed=0, **options)


def plain(stream):
    """The plain fit of a stream of run 0."""
    return toys.fit_run(Control(), mlp, X, Y, 3, training=TRAINING, seed=0, fit=stream)


def test_distillation_is_from_the_mean_of_plain_fits_of_the_same_run():
    targets = []

    class Spy(Distill):
        def targets(self, t, reference):
            targets.append(super().targets(t, reference))
            return targets[-1]

    fit(Spy(m=2, a=0.75))
    taught = np.mean([plain(stream).probabilities(X) for stream in (1, 2)], axis=0)
    np.testing.assert_allclose(targets[0], 0.25 * np.eye(3)[Y] + 0.75 * taught, atol=1e-6)


def test_distillation_takes_as_many_teachers_as_there_are(rng):
    one = rng.normal(size=(120, 3)).astype(np.float32)
    given = Distill(m=5).targets(np.eye(3, dtype=np.float32)[Y], Reference(lambda: one, Y))
    np.testing.assert_allclose(given, softmax(one, axis=1), atol=1e-6)
    np.testing.assert_array_equal(distill_labels(one, [one], 0), one)


def test_logit_difference_against_a_loop(rng):
    z, mean = rng.normal(size=(2, 5, 4))
    y = rng.integers(4, size=5)
    expected = [
        np.mean([max(abs(z[i, k] - mean[i, k]) - 0.3, 0) ** 2 * (k != y[i]) for k in range(4)])
        for i in range(5)
    ]
    given = logit_difference(torch.tensor(z), torch.tensor(mean), torch.tensor(y), 0.3)
    np.testing.assert_allclose(given.numpy(), expected)


def test_elodi_looks_at_the_mean_logits_of_plain_fits():
    extras = []

    class Spy(Elodi):
        def extras(self, n, reference, rng):
            extras.append(super().extras(n, reference, rng))
            return extras[-1]

    fit(Spy(m=2))
    expected = np.mean([plain(stream).logits(X) for stream in (1, 2)], axis=0)
    np.testing.assert_allclose(extras[0]["elodi"], expected, atol=1e-5)


def test_references_are_trained_once_whoever_asks():
    fits = []

    def train(x, targets, seed):
        fits.append(seed)
        return lambda new: np.full((len(new), 3), 1 / 3)

    for text in ("ensemble(m=3)+distill(m=3)", "medoid(m=3)+distill(m=3)"):
        fits.clear()
        method = make_method(text)
        FunctionLearner(train).fit(method, X, Y, 3, seed=0, run=0)
        assert len(fits) == training_cost(method) == 6


def test_elodis_and_twins_losses_against_loops(rng):
    z, other, mean = rng.normal(size=(3, 4, 3))
    y = rng.integers(3, size=4)
    log_p, log_q = (np.log(softmax(one, axis=1)) for one in (z, other))
    batch = toys.batch_of(torch.tensor(np.eye(3)[y]))
    bootstraps = torch.tensor([[2.0, 0], [0, 1], [1, 1], [0, 0]])
    batch.extras = {"elodi": torch.tensor(mean), "twin": bootstraps}
    given = Elodi(a=0.8).loss([torch.tensor(z)], batch, 0).numpy()
    gaps = (z - mean) ** 2
    drawn = [np.mean([gaps[i, k] * (k != y[i]) for k in range(3)]) for i in range(4)]
    plain = [-log_p[i, y[i]] for i in range(4)]
    np.testing.assert_allclose(given, 0.2 * np.array(plain) + 0.8 * np.array(drawn))
    nets = [torch.tensor(z), torch.tensor(other)]
    second = [-log_q[i, y[i]] for i in range(4)]
    counts = batch.extras["twin"].numpy()
    np.testing.assert_allclose(
        Twin(a=7).loss(nets, batch, 0).numpy(), counts[:, 0] * plain + counts[:, 1] * second
    )
    p, q = np.exp(log_p), np.exp(log_q)
    both = (rel_entr(p, q).sum(axis=1) + rel_entr(q, p).sum(axis=1)) / 2
    np.testing.assert_allclose(
        Twin(a=7).penalty(nets, batch, 0).numpy(), 7 * counts.mean(axis=1) * both
    )


def test_weight_decay_is_adamws():
    decayed = toys.fit_run(WeightDecay(strength=5), toys.linear, X, Y, 3, training=ONE_STEP, seed=0)
    plain = toys.fit_run(Control(), toys.linear, X, Y, 3, training=ONE_STEP, seed=0)
    first = []

    class Spy(Control):
        def begin(self, nets, n_steps):
            first.append(nets[0].weight.detach().clone())
            return super().begin(nets, n_steps)

    toys.fit_run(Spy(), toys.linear, X, Y, 3, training=ONE_STEP, seed=0)
    taken = plain.members[0][0].weight - decayed.members[0][0].weight
    torch.testing.assert_close(taken, 0.01 * 5 * first[0], atol=1e-6, rtol=1e-4)


def test_streams_of_references_and_candidates_are_apart():
    assert member_fits(Distill(m=3)) == [[0]]
    assert member_fits(make_method("ensemble(m=3)+distill(m=2)")) == [[0], [3], [4]]
    assert member_fits(Medoid(m=3)) == [[0, 1, 2]]
    assert member_fits(make_method("medoid(m=2)+codistill_kl")) == [[0, 1, 2, 3]]


def test_the_medoid_is_the_candidate_nearest_to_their_mean():
    _, held = hold_out(Medoid(m=3), Stream(0, 0, 0), 120)
    assert len(held) == 24

    class Spy(Medoid):
        def pick(self, held):
            said.append(held)
            picked.append(super().pick(held))
            return picked[-1]

    said, picked = [], []
    served = fit(Spy(m=3)).probabilities(X[held])
    mean = np.mean(said[0], axis=0)
    distances = [((one - mean) ** 2).mean() for one in said[0]]
    assert picked == [int(np.argmin(distances))]
    assert served.tobytes() == said[0][picked[0]].tobytes()


def test_a_function_trains_medoids_and_bags_too():
    rows = []

    def train(x, targets, seed):
        rows.append(len(np.unique(x, axis=0)))
        mean = targets.mean(axis=0) * (seed % 7 + 1)
        return lambda new: np.tile(mean / mean.sum(), (len(new), 1))

    learner = FunctionLearner(train)
    for method in (Medoid(m=3), Bagging(m=3), Distill(m=3)):
        rows.clear()
        p = learner.fit(method, X, Y, 3, seed=0, run=0).probabilities(X)
        assert p.shape == (120, 3)
        assert len(rows) == training_cost(method)
        if isinstance(method, Medoid):
            assert rows == [96] * 3
        if isinstance(method, Bagging):
            assert all(0.5 < n / 120 < 0.75 for n in rows)  # 1 − 1/e


def test_bags_are_drawn_anew_for_each_member():
    fitted = fit(Bagging(m=2))
    member = Bagging(m=2).members()[0]
    first, second = (
        toys.fit_run(member, mlp, X, Y, 3, training=TRAINING, seed=0, fit=number).probabilities(X)
        for number in (0, 1)
    )
    np.testing.assert_allclose(fitted.probabilities(X), (first + second) / 2, atol=1e-6)
    assert (first != second).any()


def test_symmetric_divergence_against_scipy(rng):
    a, b = rng.normal(size=(2, 6, 4))
    p, q = softmax(a, axis=1), softmax(b, axis=1)
    expected = (rel_entr(p, q).sum(axis=1) + rel_entr(q, p).sum(axis=1)) / 2
    given = codistillation_divergence(torch.tensor(a), torch.tensor(b), "symmetric")
    np.testing.assert_allclose(given.numpy(), expected)


def test_twins_serve_the_mean_of_two_nets_that_agree_more_the_more_they_must():
    gaps = []
    for a in (0.0, 100.0):
        fitted = fit(Twin(a=a))
        nets = fitted.members[0]
        first, second = (net(torch.tensor(X)).softmax(dim=1).detach().numpy() for net in nets)
        np.testing.assert_allclose(fitted.probabilities(X), (first + second) / 2, atol=1e-6)
        gaps.append(np.abs(first - second).mean())
    assert gaps[1] < gaps[0] / 2


def test_twins_weigh_examples_by_their_bootstraps(rng):
    counts = Twin().extras(500, Reference(lambda: None, Y), rng)["twin"]
    assert counts.shape == (500, 2)
    assert counts.sum(axis=0).tolist() == [500, 500]
    assert (counts[:, 0] != counts[:, 1]).any()


@pytest.mark.parametrize(
    ("method", "trained", "served"),
    [
        ("control", 1, 1),
        ("ema", 1, 1),
        ("knn_ls+ema", 2, 1),
        ("ensemble(m=5)+ema", 5, 5),
        ("ensemble(m=5)+knn_ls", 6, 5),
        ("bagging(m=3)", 3, 3),
        ("distill(m=5)", 6, 1),
        ("medoid(m=5)", 5, 1),
        ("codistill_kl", 2, 1),
        ("twin", 2, 2),
        ("ensemble(m=3)+twin", 6, 6),
        ("medoid(m=3)+codistill_kl", 6, 1),
    ],
)
def test_costs(method, trained, served):
    made = make_method(method)
    assert (training_cost(made), serving_cost(made)) == (trained, served)


def test_a_medoid_of_averages_is_of_averages():
    """The candidates of a combination are combinations."""
    assert [type(one) for one in (Medoid(m=2) + Ema()).candidates()] == [Ema, Ema]
