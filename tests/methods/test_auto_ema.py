"""The average serves once steps jump about more than they make way."""

import numpy as np
import torch

import toys
from unchurn.methods import AutoEma, Control, Ema
from unchurn.training.loop.config import Training
from unchurn.training.loop.fit import fit_together
from unchurn.training.networks.factories import mlp

SHORT = Training(epochs=4, learning_rate=0.01)


def served(x, y, training, net=mlp):
    """The probabilities of the last weights, of the average, and of what `auto_ema` serves."""
    methods = [Control(), Ema(), AutoEma()]
    each = fit_together(methods, net, x, y, 3, training=training, seed=0)
    return [one.probabilities(x).tobytes() for one in each]


def test_while_training_makes_way_the_last_weights_serve():
    plain, averaged, found = served(*toys.blobs(300, distance=4), SHORT)
    assert found == plain != averaged


def test_once_it_only_jumps_about_the_average_serves():
    training = Training(epochs=60, batch_size=8, learning_rate=0.3)
    plain, averaged, found = served(*toys.blobs(300, distance=1), training, toys.linear)
    assert found == averaged != plain


def judged(weights):
    """What is shown to the judge, where the one weight of a network goes through these."""
    net = torch.nn.Linear(1, 1, bias=False)
    fit = AutoEma.fit_class(AutoEma(), [net], len(weights))
    for step, value in enumerate(weights):
        with torch.no_grad():
            net.weight.fill_(value)
        fit.after_step(step)
    shown = []
    fit.finish(lambda nets: shown.append(nets[0].weight.item()) or 0.0)
    return shown, fit.averages[0].weight.item()


def test_on_a_straight_way_what_is_judged_does_not_lag():
    (without_lag, last), average = judged(np.arange(500.0))
    assert last == 499
    assert average < 0.92 * last
    assert abs(without_lag - last) < 0.015 * last


def test_jumps_are_averaged_out_of_what_is_judged(rng):
    (without_lag, last), _ = judged([*rng.normal(size=999), 3.0])
    assert last == 3
    assert abs(without_lag) < 0.5
