"""Sharing, resuming and failing: what an experiment trains, and that nothing else depends on it."""

import multiprocessing
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from torch import nn

from unchurn import Dataset, churn_summary
from unchurn.core.executors import local
from unchurn.core.executors.local import Local
from unchurn.methods import METHODS, Method
from unchurn.study import run as module
from unchurn.study.experiment import Experiment, plan
from unchurn.study.result import collect
from unchurn.study.run import carry_out
from unchurn.study.settings import Setting, make_setting
from unchurn.study.store import Store
from unchurn.training.loop import Training, fit_run
from unchurn.training.networks import mlp

RNG = np.random.default_rng(0)


def toy_data(n=120):
    y = RNG.integers(0, 3, n)
    x = (RNG.normal(size=(n, 4)) + 1.5 * np.eye(3, 4)[y]).astype(np.float32)
    half = n // 2
    return Dataset("toy", x[:half], y[:half], x[half:], y[half:], ("a", "b", "c"))


DATA = toy_data()
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
    return Experiment(DATA, tuple(settings), training=TRAINING, runs=3, **options)


def stored_bytes(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*.npy"))}


@pytest.fixture
def trainings(monkeypatch):
    """Count the trainings."""
    made = []
    train = module._train

    def spy(job, *rest):
        made.append((repr(job.method), job.run, job.fit))
        return train(job, *rest)

    monkeypatch.setattr(module, "_train", spy)
    return made


def test_plain_fits_are_shared():
    todo = plan(experiment())
    # Control needs (r, 0); ensembles of 3 (r, 0…2); k-NN's references (r, 1); anchor's (0, 1).
    assert list(todo.plain) == [(r, fit) for r in range(3) for fit in range(3)]
    assert todo.neighbours == {(r, 1): [5, 9] for r in range(3)}
    assert len(todo.fits) == 6 * 3
    assert todo.n_separate == 3 * (1 + 1 + 2 + 2 + 2 + 1 + 1 + 3)


def test_settings_that_do_the_same_are_trained_once():
    same = [
        make_setting("control"),
        make_setting("knn_ls", a=0),
        make_setting("label_smoothing", a=0),
        make_setting("label_smoothing", a=0.3),
        make_setting("knn_ls", a=0.3, b=1),
        make_setting("ensemble", m=1),
    ]
    todo = plan(experiment(same))
    assert len(todo.plain) == 3
    assert len(todo.fits) == 3


def test_shared_trainings_give_what_separate_ones_give(tmp_path, trainings):
    """Predictions of every setting are those of `fit_run` on its own, bit for bit."""
    run = experiment()
    store = Store(tmp_path)
    carry_out(run, store, Local(1))
    assert len(trainings) == len(set(trainings)) == len(plan(run).jobs)
    for result in collect(run, store).settings:
        for r in range(3):
            alone = fit_run(
                result.setting.method, mlp, DATA.x_train, DATA.y_train, 3,
                training=TRAINING, seed=0, run=r,
            )  # fmt: skip
            expected = alone.probabilities(DATA.x_test).argmax(axis=1)
            np.testing.assert_array_equal(result.predictions["test"][r], expected)
        expected = churn_summary(result.predictions["test"], DATA.y_test)
        assert result.summary["test"] == expected
    for job in plan(run).jobs:
        arrays = store.get(run.identity(job)).arrays
        np.testing.assert_array_equal(arrays["test_predictions"], arrays["test"].argmax(axis=1))


def test_any_number_of_workers_gives_the_same_bytes(tmp_path):
    carry_out(experiment(), Store(tmp_path / "one"), Local(1))
    carry_out(experiment(), Store(tmp_path / "two"), Local(2))
    assert stored_bytes(tmp_path / "one") == stored_bytes(tmp_path / "two")


def test_two_processes_on_one_folder_end_in_the_same_bytes(tmp_path):
    fork = multiprocessing.get_context("fork")
    together = [
        fork.Process(target=carry_out, args=(experiment(), Store(tmp_path / "shared"), Local(1)))
        for _ in range(2)
    ]
    for process in together:
        process.start()
    for process in together:
        process.join()
        assert process.exitcode == 0
    carry_out(experiment(), Store(tmp_path / "alone"), Local(1))
    assert stored_bytes(tmp_path / "shared") == stored_bytes(tmp_path / "alone")


def test_what_is_kept_is_not_trained_again(tmp_path, trainings):
    store = Store(tmp_path)
    carry_out(experiment(ALL[:2]), store, Local(1))
    assert len(trainings) == 6
    trainings.clear()
    reports = []
    carry_out(experiment(), store, Local(1), on_progress=lambda *r: reports.append(r[:2]))
    total = len(plan(experiment()).jobs)
    assert len(trainings) == total - 6
    assert reports[0] == (6, total)
    assert reports[-1] == (total, total)
    trainings.clear()
    carry_out(experiment(), store, Local(1))
    assert trainings == []


def test_a_damaged_run_is_reported_and_made_again(tmp_path, trainings):
    store = Store(tmp_path)
    carry_out(experiment(), store, Local(1))
    before = stored_bytes(tmp_path)
    victim = sorted(tmp_path.rglob("test.npy"))[3]
    victim.write_bytes(victim.read_bytes()[:-1])
    trainings.clear()
    (note,) = carry_out(experiment(), store, Local(1))
    assert "damaged, made again" in note
    assert victim.parent.name in note
    assert len(trainings) == 1
    assert stored_bytes(tmp_path) == before


def wide(shape, n_classes):
    return nn.Linear(shape[0], n_classes)


def test_identities_hold_what_decides_a_result_and_nothing_else(tmp_path):
    base = experiment()
    job = plan(base).jobs[0]
    identity = base.identity(job)
    other_data = replace(DATA, y_test=1 + DATA.y_test)
    for change in (
        {"data": other_data},
        {"training": replace(TRAINING, epochs=3)},
        {"seed": 1},
        {"validation": True},
        {"model": "lenet5"},
        {"model": wide},
    ):
        assert replace(base, **change).identity(job) != identity
    renamed = replace(DATA, name="other", notes=("here",))
    assert replace(base, data=renamed, runs=9, settings=ALL[:1]).identity(job) == identity


def linear(width, shape, n_classes):
    return nn.Sequential(nn.Linear(shape[0], width), nn.Linear(width, n_classes))


def closure(width):
    return lambda shape, n_classes: linear(width, shape, n_classes)


def test_own_networks_are_told_apart_by_all_that_makes_them():
    networks = [wide, partial(linear, 2), partial(linear, 3), closure(2), closure(3)]
    identities = {replace(experiment(), model=net)._model_identity for net in networks}
    assert len(identities) == 5
    assert len({replace(experiment(), model=closure(2))._model_identity for _ in range(2)}) == 1


def test_own_code_has_one_identity_in_every_process():
    script = (
        "import unchurn\n"
        "from unchurn.study.experiment import Experiment\n"
        "def net(shape, n): return shape in {'a', 'b', 'c', 'd', 'e'}\n"
        "print(Experiment(unchurn.load('two_gaussians'), (), net)._model_identity)\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed},
            check=True, capture_output=True, text=True,
        ).stdout
        for seed in "123"
    }  # fmt: skip
    assert len(found) == 1


def test_validation_is_held_out_of_training():
    parts = experiment(validation=True).parts
    counts = np.bincount(DATA.y_train)
    assert np.bincount(parts.y["validation"]).tolist() == (counts // 5).tolist()
    assert len(parts.x_train) == 60 - (counts // 5).sum()
    together = np.concatenate([parts.x_train, parts.x["validation"]])
    np.testing.assert_array_equal(np.unique(together, axis=0), np.unique(DATA.x_train, axis=0))


@dataclass
class Exploding(Method):
    """Diverges in run 1."""

    a: float = 1.0

    def batch(self, x, t, w, rng):
        return (x * float("nan") if rng.bit_generator.seed_seq.spawn_key[0] == 1 else x), t, w


def test_a_diverged_run_is_a_failure_with_its_reason(tmp_path, monkeypatch, trainings):
    monkeypatch.setitem(METHODS, "exploding", Exploding)
    run = experiment([make_setting("control"), Setting("exploding", Exploding())])
    store = Store(tmp_path)
    carry_out(run, store, Local(1))
    result = collect(run, store)
    assert result.settings[1].failures == ("run 1: loss is nan at step 0 (epoch 1)",)
    assert result.settings[1].summary == {}
    assert list(result.choose()) == ["control"]
    assert "loss is nan at step 0" in result.table()
    assert "loss is nan at step 0" in result.table("csv")
    trainings.clear()
    carry_out(run, store, Local(1))
    assert trainings == []  # it would diverge again


def test_a_diverged_reference_fails_the_runs_that_need_it(tmp_path):
    huge = replace(DATA, x_train=np.full_like(DATA.x_train, 1e38))
    run = replace(experiment(ALL[:3]), data=huge)
    store = Store(tmp_path)
    carry_out(run, store, Local(1))
    failures = collect(run, store).settings[2].failures
    assert len(failures) == 3
    assert "its reference, plain fit 1 of run 0: loss is " in failures[0]


def test_a_killed_run_fails_with_its_reason_and_is_tried_again_next_time(tmp_path, monkeypatch):
    run = experiment()
    store = Store(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(
            local, "execute", lambda f, calls, w, killed: enumerate(killed() for _ in calls)
        )
        carry_out(run, store, Local(1))
    assert "killed, most likely for want of memory" in collect(run, store).settings[0].failures[0]
    carry_out(run, store, Local(1))
    assert not any(result.failures for result in collect(run, store).settings)
