"""Early stopping: what serves is the epoch of lowest loss on rows that were not trained on."""

import numpy as np
import torch

import toys
from unchurn.methods import Control, Early, Method
from unchurn.training.loop.config import Training
from unchurn.training.loop.streams import Stream, hold_out
from unchurn.training.networks.factories import mlp

X, Y = toys.blobs(120, distance=1)


def held_loss(fitted, rows):
    logits = torch.tensor(fitted.logits(X[rows]))
    return float(torch.nn.functional.cross_entropy(logits, torch.tensor(Y[rows])))


def test_the_epoch_of_lowest_held_out_loss_serves():
    """Trainings of 1 … 12 epochs are the same but for their end: the best of them is served."""
    _, held = hold_out(Early(part=0.25), Stream(0, 0, 0), 120)
    losses, fits = [], []
    for epochs in range(1, 13):
        training = Training(epochs=epochs, batch_size=16, learning_rate=0.01)
        fits.append(toys.fit_run(_HoldsOut(), mlp, X, Y, 3, training=training, seed=0))
        losses.append(held_loss(fits[-1], held))
    best = int(np.argmin(losses))
    assert 0 < best < 11  # it does overfit
    served = toys.fit_run(Early(part=0.25), mlp, X, Y, 3, training=training, seed=0)
    assert served.probabilities(X).tobytes() == fits[best].probabilities(X).tobytes()


class _HoldsOut(Method):
    """Plain training without the rows that Early holds out."""

    def holds_out(self):
        return 0.25


def test_rows_that_are_held_out_are_not_trained_on():
    seen = set()

    class Spy(Early):
        def loss(self, logits, batch, step):
            seen.update(batch.rows.tolist())
            return super().loss(logits, batch, step)

    toys.fit_run(Spy(part=0.25), mlp, X, Y, 3, training=Training(epochs=2), seed=0)
    kept, held = hold_out(Spy(part=0.25), Stream(0, 0, 0), 120)
    assert seen == set(kept.tolist())
    assert len(held) == 30
    assert not seen & set(held.tolist())


def test_dropout_goes_on_as_without_it():
    """Scoring the held-out rows draws nothing."""
    training = Training(epochs=3, batch_size=32)
    last = []
    for method in (_HoldsOut(), _Last(part=0.25)):
        fitted = toys.fit_run(method, toys.with_dropout, X, Y, 3, training=training, seed=0)
        last.append(fitted.probabilities(X).tobytes())
    assert last[0] == last[1]


class _LastFit(Early.fit_class):
    def served(self):
        return self.nets


class _Last(Early):
    """Early, but for what it serves."""

    fit_class = _LastFit


def test_nothing_is_held_out_of_plain_training():
    kept, held = hold_out(Control(), Stream(0, 0, 0), 5)
    assert kept.tolist() == [0, 1, 2, 3, 4]
    assert len(held) == 0
