"""What an estimate counts; the clock is one of ours, as no test holds a time against another."""

from types import SimpleNamespace

import numpy as np
import pytest

import toys
from unchurn.core.errors import InputError
from unchurn.study.api import make_experiment
from unchurn.study.design import costs, estimate
from unchurn.study.design.costs import Costs
from unchurn.study.design.estimate import START_UP, Estimate
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import make_setting
from unchurn.study.trainings.fresh_runs import expected_schedule
from unchurn.study.trainings.store import Store
from unchurn.training.learners.base import Probe
from unchurn.training.learners.make import make_learner

DATA = toys.dataset(8000)  # 4,000 to train on and 4,000 to test on
COSTS = Costs(fit=10.0, scoring=1.0, keeping_logits=4.0)


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setattr(Costs, "measure", classmethod(lambda cls, learner, parts: COSTS))


def schedule(*methods, runs=3):
    return make_schedule(make_experiment(DATA, list(methods), runs=runs, validation=False))


def estimated(*schedules, workers):
    return estimate.estimate(schedules, {key for one in schedules for key in one.jobs}, workers)


def seconds(*schedules, workers=1):
    return estimated(*schedules, workers=workers).seconds


def test_scoring_references_and_waiting_count(known):
    assert seconds(schedule("control")) == 3 * 11
    assert seconds(schedule("codistill_ce")) == 3 * 21  # two networks, scored once
    # References keep logits; what looks at them begins when they are done.
    assert seconds(schedule("knn_ls")) == 3 * 15 + 3 * 11
    assert seconds(schedule("knn_ls"), workers=2) == START_UP + 2 * 15 + 2 * 11


def test_the_longest_are_made_first(known):
    """A tandem takes as long as two others: it is not begun when one core is done."""
    mixed = schedule("control", "label_smoothing(a=0.1)", "codistill_ce", runs=2)
    assert seconds(mixed, workers=3) == START_UP + 21 + 11  # beside them 11 + 11


def test_workers_take_time_to_start_where_they_pay_off(known):
    one = schedule("control", runs=2)
    assert estimated(one, workers=2) == Estimate(START_UP + 11, 2)
    left = [next(iter(one.jobs))]
    assert estimate.estimate([one], left, 2) == Estimate(11, 1)  # a single training is made here
    assert estimate.estimate([one], [], 2) == Estimate(0, 1)


def test_what_is_done_before_workers_have_started_is_made_here(monkeypatch):
    small = Costs(fit=0.1, scoring=0.0, keeping_logits=0.0)
    monkeypatch.setattr(Costs, "measure", classmethod(lambda cls, learner, parts: small))
    found = estimated(schedule("control", runs=4), workers=2)
    assert found.workers == 1
    assert found.seconds == pytest.approx(0.4)


def test_fresh_runs_count_and_what_they_share_only_once(known, tmp_path):
    many = [make_setting("anchor", a=a / 10) for a in range(1, 7)]
    one = schedule(*many, runs=2)
    fresh = expected_schedule(one.experiment, Store(tmp_path))
    assert seconds(one) == 15 + 12 * 11  # one reference for all runs
    assert seconds(one, fresh) == 15 + 12 * 11 + 2 * 11


def test_a_probe_scores_some_examples_and_reckons_with_all(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(costs, "time", SimpleNamespace(perf_counter=lambda: clock[0]))

    class Fitted:
        def probabilities(self, x):
            clock[0] += len(x)  # a second for each
            return np.full((len(x), 3), 1 / 3)

        def logits(self, x):
            clock[0] += 2 * len(x)
            return np.zeros((len(x), 3), np.float32)

    class Learner:
        def __init__(self, probe):
            self.probe = probe

    experiment = schedule("control").experiment
    found = Costs.measure(Learner(lambda x, y, n: Probe(7.0, Fitted())), experiment.parts)
    assert found == Costs(fit=7.0, scoring=4000.0, keeping_logits=8000.0)
    assert clock[0] == 3 * costs.PROBE_ROWS
    assert Costs.measure(Learner(lambda x, y, n: None), experiment.parts) is None


def test_what_cannot_be_probed_has_no_estimate():
    def bad(x, targets, seed):
        def predict(x):
            raise InputError("no")

        return predict

    experiment = make_experiment(DATA, ["control"], learner=make_learner(bad), runs=2)
    assert estimate.estimate([make_schedule(experiment)], ["any"], 1) is None
