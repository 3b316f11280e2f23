"""A small experiment with settings of every kind, which tests share."""

import toys
from unchurn.core.executors.local import Local
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.parts import make_parts
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import make_setting
from unchurn.study.results.collect import collect
from unchurn.study.trainings.run import carry_out
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.config import Training

DATA = toys.dataset(120)
TRAINING = Training(epochs=2, batch_size=32)
ALL = tuple(
    make_setting(name, **parameters)
    for name, parameters in [
        ("control", {}),
        ("label_smoothing", {"a": 0.5}),
        ("knn_ls", {"k": 5, "a": 0.5, "b": 0.5}),
        ("knn_ls", {"k": 9, "a": 0.9, "b": 0.1}),
        ("anchor", {}),
        ("codistill_kl", {"n_warm": 1}),
        ("mixup", {}),
        ("ensemble", {"m": 3}),
    ]
)


def experiment(settings=ALL, **options):
    options = {"data": DATA, "learner": TorchLearner("mlp", TRAINING), **options}
    options = {"parts": make_parts(options["data"]), **options}
    return Experiment(settings=tuple(settings), runs=3, **options)


def train(what, store, workers=1, **options):
    """Carry an experiment out."""
    return carry_out(make_schedule(what), store, Local(workers), **options)


def read(what, store):
    """The result of what was carried out before."""
    return collect(train(what, store))
