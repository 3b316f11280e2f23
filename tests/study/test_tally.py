"""Trainings are counted once, whatever serves or looks at them."""

import toys
from unchurn import bench
from unchurn.study.api import make_experiment
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import make_setting
from unchurn.study.trainings.fresh_runs import expected_schedule
from unchurn.study.trainings.store import Store
from unchurn.study.trainings.tally import trainings_of
from unchurn.training.learners.make import make_learner
from unchurn.training.loop.config import Training

DATA = toys.dataset(200)
# ema is served by control's training; what anchor looks at, all its runs do, fresh ones too.
SETTINGS = [
    *(make_setting(name) for name in ("control", "ema", "anchor")),
    *(make_setting("label_smoothing", a=a) for a in (0.01, 0.05, 0.1, 0.3, 0.5, 0.7)),
]
RUNS = 2
PLANNED = RUNS * (len(SETTINGS) - 1) + 1 + 3 * RUNS


def test_the_bar_goes_to_what_was_planned_and_never_back(tmp_path):
    learner = make_learner("mlp", Training(2))
    experiment = make_experiment(DATA, SETTINGS, runs=RUNS, learner=learner)
    schedule, fresh = make_schedule(experiment), expected_schedule(experiment, Store(tmp_path))
    assert schedule.n_trainings == RUNS * (len(SETTINGS) - 1) + 1
    assert len(trainings_of([schedule, fresh])) == PLANNED
    seen = []
    bench(
        DATA, SETTINGS, runs=RUNS, epochs=2, workers=1, out=tmp_path,
        on_progress=lambda *report: seen.append(report[:2]),
    )  # fmt: skip
    done = [n for n, _ in seen]
    assert done == sorted(done)
    assert {total for _, total in seen} == {done[-1]} == {PLANNED}
