"""Sharing, resuming and failing: what an experiment trains, and that nothing else depends on it."""

import multiprocessing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import toys
from experiments import ALL, DATA, TRAINING, experiment, read, train
from unchurn import churn_summary
from unchurn.core.executors import local
from unchurn.core.executors.local import Local
from unchurn.core.executors.pool import Pool
from unchurn.methods import METHODS, Method
from unchurn.study.design.costs import Costs
from unchurn.study.design.job import Job
from unchurn.study.design.parts import make_parts
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import make_setting
from unchurn.study.trainings.run import carry_out
from unchurn.study.trainings.store import Store
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.networks.factories import mlp


def stored_bytes(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*.npy"))}


def test_plain_fits_are_shared():
    schedule = make_schedule(experiment())
    plain = {
        k: (j.run, j.fit) for k, j in schedule.jobs.items() if j.method == METHODS["control"]()
    }
    # Control needs (r, 0); ensembles of 3 (r, 0…2); k-NN's references (r, 1); anchor's (0, 1).
    assert sorted(plain.values()) == [(r, fit) for r in range(3) for fit in range(3)]
    neighbours = {plain[key]: ks for key, ks in schedule.neighbours.items()}
    assert neighbours == {(r, 1): {5, 9} for r in range(3)}
    assert len(schedule.jobs) - len(plain) == 6 * 3
    assert schedule.n_separate == 3 * (1 + 1 + 2 + 2 + 2 + 1 + 1 + 3)


def test_settings_that_do_the_same_are_trained_once():
    same = [
        make_setting("control"),
        make_setting("knn_ls", a=0),
        make_setting("label_smoothing", a=0),
        make_setting("label_smoothing", a=0.3),
        make_setting("knn_ls", a=0.3, b=1),
        make_setting("ensemble", m=1),
    ]
    assert len(make_schedule(experiment(same)).jobs) == 3 + 3


def test_shared_trainings_give_what_separate_ones_give(tmp_path, trainings):
    """Predictions of every setting are those of `fit_run` on its own, bit for bit."""
    run = experiment()
    store = Store(tmp_path)
    train(run, store)
    assert len(trainings) == len(set(trainings)) == len(make_schedule(run).jobs)
    for setting, result in zip(run.settings, read(run, store).settings, strict=True):
        for r in range(3):
            alone = toys.fit_run(
                setting.method, mlp, DATA.x_train, DATA.y_train, 3,
                training=TRAINING, seed=0, run=r,
            )  # fmt: skip
            expected = alone.probabilities(DATA.x_test).argmax(axis=1)
            np.testing.assert_array_equal(result.predictions["test"][r], expected)
        expected = churn_summary(result.predictions["test"], DATA.y_test)
        assert result.summary["test"] == expected
    for job in make_schedule(run).jobs.values():
        arrays = store.get(run.identity(job)).arrays
        np.testing.assert_array_equal(arrays["test_predictions"], arrays["test"].argmax(axis=1))


@pytest.mark.parametrize(("start_up", "here"), [(0.0, False), (1e9, True)])
def test_any_number_of_workers_gives_the_same_bytes_here_and_there(
    tmp_path, monkeypatch, start_up, here
):
    """Where workers start at once all is made by them; where they never do, all here."""
    sent = []
    start = Pool.start
    monkeypatch.setattr(Pool, "start", lambda self, call: (sent.append(call), start(self, call)))
    monkeypatch.setattr(local, "START_UP", start_up)
    train(experiment(), Store(tmp_path / "one"))
    assert sent == []
    train(experiment(), Store(tmp_path / "two"), 2)
    n_searches = 3  # among the logits of k-NN's references, one of which is anchor's, too
    assert len(sent) == (0 if here else make_schedule(experiment()).n_trainings + n_searches)
    assert stored_bytes(tmp_path / "one") == stored_bytes(tmp_path / "two")


def test_what_others_wait_for_comes_first_then_the_longest(tmp_path, monkeypatch):
    costs = Costs(fit=1.0, scoring=0.0, keeping_logits=0.0)
    monkeypatch.setattr(Costs, "measure", classmethod(lambda cls, learner, parts: costs))
    seen = []

    def note(self, calls, killed):
        seen.extend(call.key.keys[0] for call in calls)
        return iter(())

    monkeypatch.setattr(Local, "execute", note)
    schedule = make_schedule(experiment())
    carry_out(schedule, Store(tmp_path), Local(2))
    ranks = [(schedule.keeps(key).logits, schedule.jobs[key].method.n_nets) for key in seen]
    assert ranks == sorted(ranks, reverse=True)
    assert {nets for _, nets in ranks} == {1, 2}


def test_two_processes_on_one_folder_end_in_the_same_bytes(tmp_path):
    fork = multiprocessing.get_context("fork")
    together = [
        fork.Process(target=train, args=(experiment(), Store(tmp_path / "shared")))
        for _ in range(2)
    ]
    for process in together:
        process.start()
    for process in together:
        process.join()
        assert process.exitcode == 0
    train(experiment(), Store(tmp_path / "alone"))
    assert stored_bytes(tmp_path / "shared") == stored_bytes(tmp_path / "alone")


TOGETHER = tuple(
    map(make_setting, ("control", "ema(decay=0.5)", "ema(decay=0.9)", "swa", "mixup", "mixup+ema",
                       "knn_ls(k=5)", "knn_ls(k=5)+swa", "ensemble(m=3)+ema", "distill(m=2)",
                       "distill(m=2)+ema", "medoid(m=2)+ema", "early", "safe_ema", "twin+ema",
                       "twin", "codistill_kl(n_warm=1)+ema", "codistill_kl(n_warm=1)+safe_ema"))
)  # fmt: skip


def test_what_differs_only_in_what_serves_is_trained_together(tmp_path, trainings):
    """And gives what `fit_run` gives of each alone, bit for bit."""
    run = experiment(TOGETHER)
    store = Store(tmp_path)
    train(run, store)
    # By run: plain fits 0 to 2, of which 1 and 2 are references too, ema(0.999)'s members with
    # them; mixup, knn_ls, distill, medoid, early, twin and codistill_kl once each.
    schedule = make_schedule(run)
    assert len(trainings) == schedule.n_trainings == 3 * (3 + 7)
    for setting, members in zip(run.settings, schedule.members, strict=True):
        for r, keys in enumerate(members):
            alone = toys.fit_run(
                setting.method, mlp, DATA.x_train, DATA.y_train, 3,
                training=TRAINING, seed=0, run=r,
            ).probabilities(DATA.x_test)  # fmt: skip
            kept = [store.get(run.identity(schedule.jobs[key])).arrays["test"] for key in keys]
            if len(kept) == 1:
                assert alone.tobytes() == kept[0].tobytes()
            else:
                np.testing.assert_allclose(alone, np.mean(kept, axis=0), atol=1e-6)


def test_a_plain_fit_that_nobody_looked_at_is_made_again_for_who_does(tmp_path, trainings):
    store = Store(tmp_path)
    train(experiment([make_setting("ensemble", m=3)]), store)
    trainings.clear()
    result = read(experiment([make_setting("ensemble", m=3), make_setting("distill", m=2)]), store)
    # Fit 1 keeps its logits always, fit 2 is made again with them; then there are the students.
    assert len(trainings) == 3 + 3
    assert not result.notes


def test_what_is_kept_is_not_trained_again(tmp_path, trainings):
    store = Store(tmp_path)
    train(experiment(ALL[:2]), store)
    assert len(trainings) == 6
    trainings.clear()
    reports = []
    train(experiment(), store, 1, on_progress=lambda *r: reports.append(r[:2]))
    total = len(make_schedule(experiment()).jobs)
    assert len(trainings) == total - 6
    assert reports[0] == (6, total)
    assert reports[-1] == (total, total)
    trainings.clear()
    train(experiment(), store)
    assert trainings == []


def test_a_damaged_run_is_reported_and_made_again(tmp_path, trainings):
    store = Store(tmp_path)
    train(experiment(), store)
    before = stored_bytes(tmp_path)
    victim = sorted(tmp_path.rglob("test.npy"))[3]
    victim.write_bytes(victim.read_bytes()[:-1])
    trainings.clear()
    (note,) = train(experiment(), store).notes
    assert "damaged, made again" in note
    assert victim.parent.name in note
    assert len(trainings) == 1
    assert stored_bytes(tmp_path) == before


def test_identities_hold_what_decides_a_result_and_nothing_else(tmp_path):
    base = experiment()
    job = next(iter(make_schedule(base).jobs.values()))
    identity = base.identity(job)
    other_data = replace(DATA, y_test=1 + DATA.y_test)
    for change in (
        {"data": other_data},
        {"learner": TorchLearner("mlp", replace(TRAINING, epochs=3))},
        {"seed": 1},
        {"parts": make_parts(DATA, validation=True)},
        {"learner": TorchLearner("lenet5", TRAINING)},
        {"learner": TorchLearner(toys.linear, TRAINING)},
    ):
        assert replace(base, **change).identity(job) != identity
    renamed = replace(DATA, name="other", notes=("here",))
    assert replace(base, data=renamed, runs=9, settings=ALL[:1]).identity(job) == identity


def test_validation_is_held_out_of_training():
    parts = make_parts(DATA, validation=True)
    counts = np.bincount(DATA.y_train)
    assert np.bincount(parts.y["validation"]).tolist() == (counts // 5).tolist()
    assert len(parts.x_train) == 60 - (counts // 5).sum()
    together = np.concatenate([parts.x_train, parts.x["validation"]])
    np.testing.assert_array_equal(np.unique(together, axis=0), np.unique(DATA.x_train, axis=0))


class Edited(Method):
    """A method of the test's own."""


def test_a_method_of_ones_own_is_known_by_its_code():
    """Edited, it is trained again, though its name and parameters are as before."""
    before = experiment().identity(Job(Edited(), 0))

    class Edited2(Method):
        def learning_rate(self, progress):
            return 0.5

    Edited2.__name__ = Edited2.__qualname__ = "Edited"
    assert before["method"].startswith("Edited:")
    assert experiment().identity(Job(Edited(), 0)) == before
    assert experiment().identity(Job(Edited2(), 0)) != before
    combined = experiment().identity(Job(Edited() + METHODS["ema"](), 0))
    assert combined["parameters"]["methods"][0]["method"] == before["method"]
    assert combined["parameters"]["methods"][1] == {"method": "Ema", "parameters": {"decay": 0.999}}
