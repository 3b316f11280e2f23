import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import nn

import toys
from unchurn import load
from unchurn.core.errors import InputError
from unchurn.methods import (
    METHODS,
    Anchor,
    Control,
    Ensemble,
    KnnLS,
    Method,
    Reference,
    Swa,
    make_method,
)
from unchurn.training.learners.base import DivergedError, score_distinct
from unchurn.training.loop import fit as module
from unchurn.training.loop.adam import Adam
from unchurn.training.loop.config import Training
from unchurn.training.loop.streams import Stream
from unchurn.training.networks.factories import mlp

X, Y = toys.blobs(90, distance=2)
TRAINING = Training(epochs=2, batch_size=32)


def run(method, **options):
    options = {"training": TRAINING, "seed": 0, "x": X, "y": Y, "factory": mlp} | options
    x, y, factory = options.pop("x"), options.pop("y"), options.pop("factory")
    return toys.fit_run(method, factory, x, y, 3, **options)


def weights_of(net: nn.Module) -> bytes:
    return b"".join(p.detach().numpy().tobytes() for p in net.parameters())


@pytest.fixture
def streams(monkeypatch):
    """The streams of every fit that a test makes, in order; the first of a member is its own."""
    used: list[tuple[Stream, ...]] = []
    train = module.train_networks

    def spy(methods, make_net, examples, training, streams, on_epoch):
        used.append(tuple(streams))
        return train(methods, make_net, examples, training, streams, on_epoch)

    monkeypatch.setattr(module, "train_networks", spy)
    return used


@pytest.mark.parametrize("name", METHODS)
def test_runs_of_one_setting_share_no_stream(name, streams):
    method = make_method(toys.SMALL.get(name, name))
    by_run = []
    for r in range(3):
        streams.clear()
        run(method, run=r)
        by_run.append({stream for fit in streams for stream in fit})
    shared = by_run[0] & by_run[1] | by_run[0] & by_run[2] | by_run[1] & by_run[2]
    need = method.reference()
    is_fixed = need is not None and need.is_fixed and not need.serves  # that is a study's affair
    assert shared == ({Stream(0, 0, 1)} if is_fixed else set())
    assert all(Stream(0, r, 0) in used for r, used in enumerate(by_run))


def test_who_uses_which_stream(streams):
    def used(method, r=2):
        streams.clear()
        run(method, run=r)
        return [[(s.run, s.fit) for s in fit] for fit in streams]

    assert used(Control()) == [[(2, 0)]]
    assert used(KnnLS(k=5)) == [[(2, 1)], [(2, 0)]]  # the reference first, never M's own seed
    assert used(KnnLS(k=5, fixed_reference=True)) == [[(0, 1)], [(2, 0)]]
    assert used(Anchor()) == [[(0, 1)], [(2, 0)]]
    assert used(Anchor(fixed_reference=False)) == [[(2, 1)], [(2, 0)]]
    assert used(Ensemble(m=3)) == [[(2, 0)], [(2, 1)], [(2, 2)]]
    assert used(METHODS["codistill_kl"](n_warm=0)) == [[(2, 0), (2, 1)]]


def test_streams_are_independent_of_each_other():
    drawn = {
        tuple(Stream(seed, r, fit).generator(purpose).integers(2**63, size=2))
        for seed in range(2)
        for r in range(3)
        for fit in range(3)
        for purpose in ("weights", "order", "mixing")
    }
    assert len(drawn) == 2 * 3 * 3 * 3


def test_an_ensemble_is_the_mean_of_its_plain_fits():
    """Member j is the plain fit of stream (r, j): member 0 is control, three are part of five."""
    three, five = run(Ensemble(m=3)), run(Ensemble(m=5))
    assert weights_of(three.members[0][0]) == weights_of(run(Control()).members[0][0])
    for one, other in zip(three.members, five.members, strict=False):
        assert weights_of(one[0]) == weights_of(other[0])
    singles = [module.Fitted(Control(), [nets]).probabilities(X) for nets in three.members]
    np.testing.assert_allclose(three.probabilities(X), np.mean(singles, axis=0), atol=1e-6)
    np.testing.assert_allclose(np.exp(three.logits(X)), three.probabilities(X), rtol=1e-5)


def test_the_reference_is_a_plain_fit_scored_on_distinct_rows(streams):
    seen = []

    class Spy(Method):
        def targets(self, t, reference):
            seen.append(reference.logits)
            return t

    repeated = np.concatenate([X, X[:7]])
    run(Spy(), x=repeated, y=np.concatenate([Y, Y[:7]]))
    assert seen[0].shape == (97, 3)
    np.testing.assert_array_equal(seen[0][90:], seen[0][:7])


def test_scoring_distinct_rows_gives_every_row_its_logits(rng):
    fitted = run(Control())
    many = X[rng.integers(0, 90, 5000)]  # more than one batch of scoring
    np.testing.assert_allclose(score_distinct(fitted, many), fitted.logits(many), atol=1e-5)


def test_a_reference_may_be_given(streams, rng):
    given = rng.normal(size=(90, 3)).astype(np.float32)
    run(KnnLS(k=5), reference=Reference(lambda: given, Y))
    assert len(streams) == 1


def test_weights_of_zero_take_examples_out():
    """Wrong labels without weight do no harm."""
    weights = (np.arange(90) % 2).astype(np.float32)
    labels = np.where(weights > 0, Y, (Y + 1) % 3)
    fitted = run(Control(), y=labels, weights=weights, training=Training(epochs=20, batch_size=16))
    assert (fitted.probabilities(X).argmax(axis=1) == Y).mean() > 0.85
    unweighted = run(Control(), y=labels, training=Training(epochs=20, batch_size=16))
    assert (unweighted.probabilities(X).argmax(axis=1) == Y).mean() < 0.75


def test_batches_without_weight_do_no_harm():
    weights = np.zeros(90, np.float32)
    weights[0] = 1
    fitted = run(Control(), weights=weights, training=Training(epochs=2, batch_size=1))
    assert np.isfinite(fitted.probabilities(X)).all()


def test_a_diverging_run_stops_and_says_where():
    class Exploding(Method):
        def loss(self, logits, batch, step):
            return logits[0].sum(dim=1) * (float("nan") if step == 4 else 1)

    with pytest.raises(DivergedError, match=r"loss is nan at step 4 \(epoch 2\)"):
        run(Exploding())


def test_weights_that_are_not_finite_at_the_end_are_a_divergence():
    with pytest.raises(DivergedError, match="weights are not finite after step 0, the last"):
        run(Control(), training=Training(epochs=1, batch_size=90, learning_rate=1e39))


def test_logits_that_are_not_finite_are_never_averaged():
    fitted = run(Control())
    with pytest.raises(DivergedError, match="logits that are not finite"):
        fitted.probabilities(np.full((1, 4), np.inf, np.float32))


def test_a_network_made_once_cannot_be_an_ensemble():
    net = mlp((4,), 3)
    with pytest.raises(InputError, match="the same network twice"):
        run(Ensemble(m=2), factory=lambda shape, n: net)


def test_training_is_by_adam_as_configured(monkeypatch):
    seen = []

    class Spy(Adam):
        def step(self, rate):
            seen.append((rate, self.epsilon, self.decay))
            super().step(rate)

    monkeypatch.setattr("unchurn.training.loop.steps.Adam", Spy)
    run(Control(), training=Training(1, 32, 0.25, 1e-3))
    assert set(seen) == {(0.25, 1e-3, 0)}


def test_the_weighted_loss_is_a_weighted_mean(rng):
    """Scaling all weights changes nothing: powers of two, so that not even the rounding does."""
    weights = rng.random(90).astype(np.float32)
    one, two = (run(Control(), weights=w).probabilities(X) for w in (weights, 4 * weights))
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("n_warm", [0, 10**6])
def test_networks_in_tandem_draw_their_own_dropout(n_warm):
    """So that co-distillation without effect is control, also with dropout."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="n_warm")
        tandem = run(METHODS["codistill_ce"](a=0, n_warm=n_warm), factory=toys.with_dropout)
    plain = run(Control(), factory=toys.with_dropout)
    assert tandem.probabilities(X).tobytes() == plain.probabilities(X).tobytes()


def test_fits_in_threads_give_equal_bits():
    before = torch.get_rng_state(), torch.get_num_threads()
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: run(Control()).probabilities(X).tobytes(), range(8)))
    assert found == {run(Control()).probabilities(X).tobytes()}
    assert torch.equal(torch.get_rng_state(), before[0])
    assert torch.get_num_threads() == before[1]


def test_only_distinct_rows_are_scored():
    scored = []

    class Spy:
        def logits(self, x):
            scored.append(len(x))
            return np.zeros((len(x), 3), np.float32)

    score_distinct(Spy(), np.concatenate([X, X, X[:5]]))  # type: ignore[arg-type]
    assert scored == [90]


def test_the_callers_torch_settings_do_not_matter():
    expected = run(Control()).probabilities(X).tobytes()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            assert run(Control()).probabilities(X).tobytes() == expected
    finally:
        torch.set_default_dtype(torch.float32)


def test_read_only_memory_is_fine():
    frozen = X.copy()
    frozen.flags.writeable = False
    assert (run(Control(), x=frozen).probabilities(frozen) == run(Control()).probabilities(X)).all()


def test_more_neighbours_than_examples_is_said_before_training(streams):
    with pytest.raises(InputError, match="k must be from 1 to the number of points, 90, not 91"):
        run(KnnLS(k=91))
    assert streams == []


def test_a_batch_that_batch_norm_skips_is_no_step():
    """An average over the last part of training would wait for a step that never comes."""
    x, y = toys.blobs(33, distance=2)  # a batch of 32, and one example that is left out
    with_one = run(Swa(part=0.5), x=x, y=y, factory=toys.with_batch_norm)
    plain = run(Control(), x=x, y=y, factory=toys.with_batch_norm)
    of_last, of_average = (one.members[0][0].parameters() for one in (plain, with_one))
    assert all(map(torch.equal, of_last, of_average))  # the last half of two steps is the last


def test_every_example_is_seen_once_an_epoch():
    seen = []

    class Spy(Method):
        def batch(self, batch, rng):
            seen.append(batch.x.clone())
            return batch

    run(Spy())
    assert [len(batch) for batch in seen] == [32, 32, 26] * 2  # the last partial batch is kept
    for epoch in (seen[:3], seen[3:]):
        rows = torch.cat(epoch).numpy()
        np.testing.assert_array_equal(np.unique(rows, axis=0), np.unique(X, axis=0))
    assert not torch.equal(seen[0], seen[3])


def test_progress_is_reported_for_every_epoch_of_every_fit():
    epochs = []
    run(KnnLS(k=5), on_epoch=lambda: epochs.append(1))
    assert len(epochs) == 2 * TRAINING.epochs


def test_training_is_the_papers_by_default():
    assert Training() == Training(20, 128, 0.001, 1e-7, "cpu")
    assert Training().n_steps(60000) == 20 * 469
    for wrong in ({"epochs": 0}, {"batch_size": 0}, {"learning_rate": 0}, {"epsilon": 0}):
        with pytest.raises(InputError):
            Training(**wrong)  # type: ignore[arg-type]


PAPERS_MNIST = {
    "control": {},
    "label_smoothing": {"a": 0.9},
    "knn_ls": {"k": 5, "a": 0.9, "b": 0.9},
    "anchor": {"a": 1.0},
    "l1_reg": {"a": 0.01},
    "l2_reg": {"a": 0.5},
    "bi_tempered": {"t1": 0.9, "t2": 1.0},
    "codistill_ce": {"a": 0.2, "n_warm": 100},
    "codistill_kl": {"a": 0.05, "n_warm": 100},
    "mixup": {"a": 0.2},
    "ensemble": {"m": 5},
    "ema": {"decay": 0.99},
    "decay": {},
}


@pytest.mark.parametrize("name", PAPERS_MNIST)
def test_one_epoch_of_mnist_at_the_papers_setting(real_data, name):
    data = load("mnist", real_data)
    method = METHODS[name](**PAPERS_MNIST[name])
    fitted = toys.fit_run(
        method, mlp, data.x_train, data.y_train, 10, training=Training(epochs=1), seed=0
    )
    accuracy = (fitted.probabilities(data.x_test).argmax(axis=1) == data.y_test).mean()
    assert accuracy > 0.92
