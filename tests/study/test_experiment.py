"""Sharing, resuming and failing: what an experiment trains, and that nothing else depends on it."""

import multiprocessing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import toys
from unchurn import bench, churn_summary
from unchurn.core.errors import InputError
from unchurn.core.executors import local
from unchurn.core.executors.local import Local
from unchurn.core.executors.pool import Pool
from unchurn.methods import METHODS, Method
from unchurn.metrics.churn import MeanSd
from unchurn.metrics.over_runs import Excess
from unchurn.metrics.registry import METRICS, Metric
from unchurn.study.design.costs import Costs
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.job import Job
from unchurn.study.design.parts import make_parts
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import Setting, make_setting
from unchurn.study.results.collect import collect
from unchurn.study.scenarios import Scenario
from unchurn.study.scenarios.retrain import Retrain
from unchurn.study.trainings import run as module
from unchurn.study.trainings.run import carry_out
from unchurn.study.trainings.store import Store
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.config import Training
from unchurn.training.networks.factories import mlp

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


def stored_bytes(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*.npy"))}


@pytest.fixture
def trainings(monkeypatch):
    """Count the trainings."""
    made = []
    original = module.train_jobs

    def spy(jobs, *rest):
        made.append(tuple((repr(job.method), job.run, job.fit) for job, _ in jobs))
        return original(jobs, *rest)

    monkeypatch.setattr(module, "train_jobs", spy)
    return made


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


class Bootstrap(Retrain):
    """Every run sees its own sample: a scenario in one class."""

    name = "bootstrap"
    identity = Scenario.identity

    def rows(self, seed, run, fit, n):
        return np.random.default_rng((seed, run)).integers(0, n, n)


class Upgrade(Bootstrap):
    """A base on the first half of the data; every run, on all, is held against it."""

    name = "upgrade"
    churn = "churn_to_base"
    BASE = 7

    def rows(self, seed, run, fit, n):
        return np.arange(n // 2) if fit == self.BASE else None

    def base_of(self, run):
        return 0, self.BASE

    @property
    def metrics(self):
        def churn(runs):
            moved = np.mean(runs.predictions != runs.base, axis=1)
            return MeanSd(moved.mean(), moved.std(ddof=1), len(moved))

        own = Metric(name="churn_to_base", heading="churn to base", better="lower", of=churn)
        return {"accuracy": METRICS["accuracy"], own.name: own}

    def differences(self, ours, theirs):
        moved = [runs.predictions != runs.base for runs in (ours, theirs)]
        return {"churn_to_base": Excess.of(moved[0][0], moved[1]).interval()}


def test_a_scenario_decides_what_runs_see(tmp_path):
    store = Store(tmp_path)
    settings = [make_setting("control"), make_setting("knn_ls", k=5), make_setting("ensemble", m=2)]
    sampled = experiment(settings, scenario=Bootstrap())
    result = collect(train(sampled, store))
    rows = Bootstrap().rows(0, 1, 0, 60)
    for setting, found in zip(settings, result.settings, strict=True):
        alone = toys.fit_run(
            setting.method, mlp, DATA.x_train[rows], DATA.y_train[rows], 3,
            training=TRAINING, seed=0, run=1,
        )  # fmt: skip
        expected = alone.probabilities(DATA.x_test).argmax(axis=1)
        np.testing.assert_array_equal(found.predictions["test"][1], expected)
    plain = collect(train(experiment(settings), store))  # in the same folder, and apart
    assert (plain.settings[0].predictions["test"] != result.settings[0].predictions["test"]).any()


def test_a_scenario_may_hold_every_run_against_an_older_model(tmp_path):
    settings = [make_setting("control"), make_setting("label_smoothing", a=0.5)]
    upgraded = experiment(settings, scenario=Upgrade())
    result = collect(train(upgraded, Store(tmp_path)))
    half = toys.fit_run(
        METHODS["control"](), mlp, DATA.x_train[:30], DATA.y_train[:30], 3,
        training=TRAINING, seed=0, fit=Upgrade.BASE,
    )  # fmt: skip
    before = half.probabilities(DATA.x_test).argmax(axis=1)
    for found in result.settings:
        np.testing.assert_array_equal(found.runs["test"].base, np.tile(before, (3, 1)))
    churn = np.mean(result.settings[1].predictions["test"] != before)
    assert f"{100 * churn:.2f}" in result.table()
    assert "churn to base − control's" in result.table()
    assert list(result.choose()) == ["control", "label_smoothing"]


def test_scenarios_are_never_taken_for_each_other():
    """Even one that forgets to say what it is has runs of its own."""
    job = Job(METHODS["control"](), 0)
    kinds = [Retrain(), Bootstrap(), Upgrade()]
    assert len({str(experiment(scenario=kind).identity(job)) for kind in kinds}) == 3


def test_more_neighbours_than_a_run_sees_is_a_failed_run(tmp_path):
    class Few(Bootstrap):
        def rows(self, seed, run, fit, n):
            return np.arange(4)

    settings = [make_setting("control"), make_setting("knn_ls", k=5)]
    result = collect(train(experiment(settings, scenario=Few()), Store(tmp_path)))
    assert result.settings[1].failures[0] == "run 0: k=5 is more than the 4 training examples"


def test_more_runs_or_members_than_can_be_meant_are_refused_at_once():
    """A list of 2^53 trainings would never end."""
    with pytest.raises(InputError, match="runs must be at most 10,000, not 9,007,199,254,740,993"):
        bench(toys.dataset(60), ["control"], runs=2**53 + 1)
    with pytest.raises(InputError, match="m must be at most 1000"):
        bench(toys.dataset(60), ["ensemble(m=1000000000)"], runs=2)
