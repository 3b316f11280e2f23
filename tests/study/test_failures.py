"""Runs that fail: with which reason, and what fails with them."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import toys
from experiments import ALL, DATA, experiment, read, train
from unchurn import bench
from unchurn.core.errors import InputError
from unchurn.core.executors.local import Local
from unchurn.methods import METHODS, Method
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import Setting, make_setting
from unchurn.study.results.collect import collect
from unchurn.study.trainings import run as module
from unchurn.study.trainings.store import Store


def test_all_that_wait_for_one_of_several_references_fail_with_it(tmp_path, monkeypatch):
    original = module.train_jobs

    def broken(jobs, *rest):
        job = jobs[0][0]
        if (job.run, job.fit) == (1, 2):
            return [module.failed_run("it broke")] * len(jobs)
        return original(jobs, *rest)

    monkeypatch.setattr(module, "train_jobs", broken)
    settings = [make_setting("distill(m=2)"), make_setting("distill(m=2)+ema"), make_setting("ema")]
    distilled, averaged, plain = read(experiment(settings), Store(tmp_path)).settings
    reason = "run 1: its reference, plain fit 2 of run 1: it broke"
    assert distilled.failures == averaged.failures == (reason,)
    assert not plain.failures


def test_of_several_kept_references_that_failed_the_first_is_named(tmp_path):
    """Whatever the order of their keys' hashes, which is another in every process."""
    run, store = experiment([make_setting("distill", m=8)]), Store(tmp_path)
    store.open()
    schedule = make_schedule(run)
    for key in {one for looked_at in schedule.references.values() for one in looked_at}:
        store.put(run.identity(schedule.jobs[key]), module.failed_run("it broke").record)
    (distilled,) = read(run, store).settings
    assert distilled.failures == tuple(
        f"run {r}: its reference, plain fit 1 of run {r}: it broke" for r in range(3)
    )


@dataclass
class Exploding(Method):
    """Diverges in run 1."""

    a: float = 1.0

    def batch(self, batch, rng):
        is_run_1 = rng.bit_generator.seed_seq.spawn_key[0] == 1
        return replace(batch, x=batch.x * float("nan")) if is_run_1 else batch


def test_a_diverged_run_is_a_failure_with_its_reason(tmp_path, monkeypatch, trainings):
    monkeypatch.setitem(METHODS, "exploding", Exploding)
    run = experiment([make_setting("control"), Setting("exploding", Exploding())])
    store = Store(tmp_path)
    train(run, store)
    result = read(run, store)
    assert result.settings[1].failures == ("run 1: loss is nan at step 0 (epoch 1)",)
    assert result.settings[1].summary == {}
    assert list(result.choose()) == ["control"]
    assert repr(result.settings[1]) == "SettingResult('exploding', failed)"
    assert "loss is nan at step 0" in result.table()
    assert "loss is nan at step 0" in result.table("csv")
    trainings.clear()
    train(run, store)
    assert trainings == []  # it would diverge again


def test_a_diverged_reference_fails_the_runs_that_need_it(tmp_path):
    huge = replace(DATA, x_train=np.full_like(DATA.x_train, 1e38))
    run = experiment(ALL[:3], data=huge)
    store = Store(tmp_path)
    train(run, store)
    failures = read(run, store).settings[2].failures
    assert len(failures) == 3
    assert "its reference, plain fit 1 of run 0: loss is " in failures[0]


def test_a_killed_run_fails_with_its_reason_and_is_tried_again_next_time(tmp_path, monkeypatch):
    run = experiment()
    store = Store(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(
            Local, "execute", lambda self, calls, killed: ((c.key, killed()) for c in calls)
        )
        failed = collect(train(run, store))
    assert "killed, most likely for want of memory" in failed.settings[0].failures[0]
    assert not any(result.failures for result in collect(train(run, store)).settings)


def test_more_runs_or_members_than_can_be_meant_are_refused_at_once():
    """A list of 2^53 trainings would never end."""
    with pytest.raises(InputError, match="runs must be at most 10,000, not 9,007,199,254,740,993"):
        bench(toys.dataset(60), ["control"], runs=2**53 + 1)
    with pytest.raises(InputError, match="m must be at most 1000"):
        bench(toys.dataset(60), ["ensemble(m=1000000000)"], runs=2)
