"""The average serves unless it fits what was trained on much worse than the last weights do."""

import copy

import numpy as np
import torch

import toys
from unchurn.methods import Control, Ema, SafeEma
from unchurn.training.loop.config import Training
from unchurn.training.loop.fit import fit_together
from unchurn.training.networks.factories import mlp

X, Y = toys.blobs(300, distance=4)  # far apart: the loss goes on falling
SHORT = Training(epochs=4, learning_rate=0.01)


def fit(training, *methods):
    """Of one training, what each of the methods serves."""
    return fit_together(methods, mlp, X, Y, 3, training=training, seed=0)


def loss(fitted, x=X, y=Y):
    z = torch.tensor(fitted.logits(x)).double()
    return float(torch.nn.functional.cross_entropy(z, torch.tensor(y)))


def test_while_training_makes_way_the_last_weights_serve():
    plain, averaged, safe = fit(SHORT, Control(), Ema(), SafeEma())
    assert 1.1 * loss(plain) < loss(averaged)
    assert safe.probabilities(X).tobytes() == plain.probabilities(X).tobytes()


def test_once_it_only_jumps_about_the_average_serves():
    x, y = toys.blobs(300, distance=1)
    training = Training(epochs=60, batch_size=8, learning_rate=0.3)
    methods = [Control(), Ema(), SafeEma()]
    plain, averaged, safe = fit_together(methods, toys.linear, x, y, 3, training=training, seed=0)
    assert loss(averaged, x, y) < loss(plain, x, y)
    assert safe.probabilities(x).tobytes() == averaged.probabilities(x).tobytes()


def test_the_loss_is_of_the_targets_and_rows_that_were_trained_on():
    told = []

    class Spy(SafeEma.fit_class):
        def finish(self, training_loss):
            told.append((training_loss(self.nets), copy.deepcopy(self.nets[0])))

    class Half(SafeEma):
        fit_class = Spy

        def sample(self, rng, n):
            return np.arange(0, n, 2)

        def targets(self, t, reference):
            return np.float32(0.8) * t + np.float32(0.2 / 3)

    fit_together([Half()], toys.linear, X, Y, 3, training=Training(2), seed=0)
    ((loss_told, net),) = told
    with torch.no_grad():
        log_p = net(torch.tensor(X[::2])).log_softmax(dim=1).double().numpy()
    targets = 0.8 * np.eye(3)[Y[::2]] + 0.2 / 3
    above_least = (targets * (np.log(targets) - log_p)).sum()  # the targets' entropy is no loss
    np.testing.assert_allclose(loss_told, above_least, rtol=1e-5)


def test_slack_decides():
    plain, averaged = fit(SHORT, Control(), Ema())
    above = loss(averaged) / loss(plain) - 1
    strict, lenient = fit(SHORT, SafeEma(slack=0.9 * above), SafeEma(slack=1.1 * above))
    assert strict.probabilities(X).tobytes() == plain.probabilities(X).tobytes()
    assert lenient.probabilities(X).tobytes() == averaged.probabilities(X).tobytes()
