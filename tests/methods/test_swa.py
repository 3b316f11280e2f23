"""The plain average of the last part, against one taken by hand."""

import copy

import torch

import toys
from unchurn.methods import Control, Swa
from unchurn.training.loop.config import Training

X, Y = toys.blobs(90, distance=2)
TRAINING = Training(epochs=4, batch_size=32)  # 12 steps


def test_the_average_is_that_of_the_last_part(monkeypatch):
    noted = []

    class Noting(Swa.fit_class):
        def after_step(self, step):
            super().after_step(step)
            noted.append(copy.deepcopy(self.nets[0].state_dict()["weight"]).double())

    monkeypatch.setattr(Swa, "fit_class", Noting)
    fitted = toys.fit_run(Swa(part=0.25), toys.linear, X, Y, 3, training=TRAINING, seed=0)
    served = fitted.members[0][0].state_dict()["weight"].double()
    torch.testing.assert_close(served, torch.stack(noted[-3:]).mean(dim=0), atol=1e-6, rtol=1e-6)


def test_of_a_part_below_a_step_the_last_weights_serve():
    plain, averaged = (
        toys.fit_run(method, toys.linear, X, Y, 3, training=TRAINING, seed=0)
        for method in (Control(), Swa(part=0.01))
    )
    assert plain.probabilities(X).tobytes() == averaged.probabilities(X).tobytes()
