"""The demo's two studies: retrainings of one model, and successors of models in production."""

from __future__ import annotations

from unchurn.core.errors import InputError
from unchurn.datasets import load
from unchurn.methods.registry import DEFAULT, FROM_WEIGHTS
from unchurn.metrics.registry import Runs
from unchurn.study.api import make_experiment
from unchurn.study.design.experiment import Experiment
from unchurn.study.results.result import Result, SettingResult
from unchurn.study.scenarios import Upgrade
from unchurn.training.learners.make import make_learner
from unchurn.training.loop.config import Training

DATA = "phishing"
RETRAIN, UPGRADE = "retrain", "upgrade"  # the studies, and their folders
RUNS, EPOCHS = 5, 20
PLAIN = "control"
# Plain training, the paper's method, the default, averaged weights without and with the paper's
# method (which share their fits), and an ensemble; the paper's methods have the settings that it
# published for this data.
RETRAINED = (PLAIN, "knn_ls", DEFAULT, "safe_ema", "knn_ls+safe_ema", "ensemble")
SUCCESSORS = (PLAIN, FROM_WEIGHTS)


def experiments(runs: int = RUNS, epochs: int = EPOCHS) -> dict[str, Experiment]:
    """Both studies, by name: so many runs of each setting; in an upgrade, each has its own base."""
    data, learner = load(DATA), make_learner("mlp", Training(epochs))
    return {
        RETRAIN: make_experiment(
            data, RETRAINED, preset="paper", learner=learner, runs=runs, validation=False
        ),
        UPGRADE: make_experiment(
            data,
            SUCCESSORS,
            learner=learner,
            runs=runs,
            validation=False,
            scenario=Upgrade(per_base=1),
        ),
    }


def tested(result: Result) -> dict[str, tuple[SettingResult, Runs]]:
    """Every setting with its runs on the test part; InputError if one of them failed."""
    for row in result.settings:
        if row.failures:
            raise InputError(f"{row.setting.name}: {row.failures[0]}")
    return {row.setting.name: (row, row.runs["test"]) for row in result.settings}
