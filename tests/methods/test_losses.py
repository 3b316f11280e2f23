"""Each loss and each change of targets or batches, against values from elsewhere."""

import numpy as np
import pytest
import scipy.special
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as st

import toys
from unchurn.core.errors import InputError
from unchurn.methods import (
    BiTempered,
    CodistillCE,
    CodistillKL,
    Control,
    KnnLS,
    L1Reg,
    L2Reg,
    LabelSmoothing,
    Mixup,
    Need,
    Reference,
    cross_entropy,
)
from unchurn.methods.anchor import anchor_labels
from unchurn.methods.bi_tempered import bi_tempered_loss, tempered_softmax
from unchurn.methods.codistill import codistillation_divergence
from unchurn.methods.lp_reg import lp_penalty
from unchurn.methods.mixup import mix
from unchurn.training.loop.determinism import one_thread

GRID = [(t1, t2) for t1 in BiTempered.grid["t1"] for t2 in BiTempered.grid["t2"]]


@pytest.fixture(autouse=True)
def _one_thread():
    """Thousands of tiny steps: a second thread would only spin."""
    with one_thread():
        yield


def random_logits(rng, n=8, n_classes=4, scale=3.0, dtype=torch.float64):
    return torch.tensor(scale * rng.normal(size=(n, n_classes)), dtype=dtype)


def random_targets(rng, n=8, n_classes=4, dtype=torch.float64):
    return torch.tensor(rng.dirichlet(np.ones(n_classes), n), dtype=dtype)


def one_hot(rng, n=8, n_classes=4, dtype=torch.float64):
    return torch.tensor(np.eye(n_classes)[rng.integers(0, n_classes, n)], dtype=dtype)


def test_cross_entropy_is_torchs(rng):
    z, t = random_logits(rng), random_targets(rng)
    theirs = torch.nn.functional.cross_entropy(z, t, reduction="none")
    torch.testing.assert_close(cross_entropy(z, t), theirs)


@pytest.mark.parametrize("p", [1, 2])
def test_lp_penalty_is_numpys_norm(p, rng):
    z = random_logits(rng)
    expected = np.linalg.norm(z.numpy(), ord=p, axis=1)
    np.testing.assert_allclose(lp_penalty(z, p).numpy(), expected)


@pytest.mark.parametrize("p", [1, 2])
def test_lp_penalty_has_a_finite_gradient_at_zero(p):
    """An empty input through zero biases gives logits of exactly 0."""
    z = torch.zeros(2, 3, requires_grad=True)
    lp_penalty(z, p).sum().backward()
    assert z.grad is not None
    assert z.grad.isfinite().all()


def test_codistillation_divergence_is_scipys(rng):
    first, second = random_logits(rng), random_logits(rng)
    p, q = (scipy.special.softmax(z.numpy(), axis=1) for z in (first, second))
    kl = scipy.stats.entropy(p, q, axis=1)
    np.testing.assert_allclose(codistillation_divergence(first, second, "kl").numpy(), kl)
    ce = kl + scipy.stats.entropy(p, axis=1)
    np.testing.assert_allclose(codistillation_divergence(first, second, "ce").numpy(), ce)


def gradients(rng, method, step=0):
    first, second = random_logits(rng).requires_grad_(), random_logits(rng).requires_grad_()
    t = one_hot(rng)
    toys.total_loss(method, [first, second], t, step).sum().backward()
    plain = [torch.softmax(z.detach(), 1) - t for z in (first, second)]
    return [z.grad - g for z, g in zip((first, second), plain, strict=True)]


@pytest.mark.parametrize("kind", [CodistillCE, CodistillKL])
def test_codistillation_starts_after_the_warm_up(kind, rng):
    for extra in gradients(rng, kind(a=0.5, n_warm=3), step=2):
        torch.testing.assert_close(extra, torch.zeros_like(extra))
    for extra in gradients(rng, kind(a=0.5, n_warm=3), step=3):
        assert extra.abs().max() > 1e-3


def test_codistillation_gradient_is_joint_unless_stopped(rng):
    """Stopped, both divergences pull network 2 by a·(p₂ − p₁) and network 1 by the opposite."""
    for kind in (CodistillCE, CodistillKL):
        pull_first, pull_second = gradients(rng, kind(a=0.5, n_warm=0, stop_gradient=True))
        torch.testing.assert_close(pull_first, -pull_second)
        joint_first, joint_second = gradients(rng, kind(a=0.5, n_warm=0))
        assert not torch.allclose(joint_first, -joint_second)


def test_anchor_by_hand():
    y = np.array([[1, 0], [0, 1]], np.float32)
    logits = np.log(np.array([[0.6, 0.4], [0.2, 0.8]], np.float32))
    expected = [[0.25 + 0.75 * 0.6, 0.75 * 0.4], [0.75 * 0.2, 0.25 + 0.75 * 0.8]]
    np.testing.assert_allclose(anchor_labels(y, logits, 0.75), expected, rtol=1e-6)


def test_knn_ls_without_weight_on_neighbours_is_label_smoothing():
    assert KnnLS(b=1).reference() is None
    assert KnnLS(a=0).reference() is None
    assert KnnLS(k=7, a=0.1, b=0.9).reference() == Need(is_fixed=False, ks=(7,))
    assert KnnLS(a=0.3, b=1).simplest() == LabelSmoothing(a=0.3)


def test_mix_by_hand():
    x, t = torch.tensor([[0.0], [10.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    swap = torch.tensor([1, 0])
    mixed_x, mixed_t, w = mix(x, t, torch.ones(2), 0.75, swap)
    torch.testing.assert_close(mixed_x, torch.tensor([[2.5], [7.5]]))
    torch.testing.assert_close(mixed_t, torch.tensor([[0.75, 0.25], [0.25, 0.75]]))
    torch.testing.assert_close(w, torch.ones(2))


def test_the_weighted_loss_of_a_mixture_is_the_mixture_of_the_weighted_losses(rng):
    z, t, w = random_logits(rng), one_hot(rng), torch.tensor(rng.random(8))
    w[0] = w[3] = 0
    partners = torch.tensor([3, 2, 1, 0, 5, 4, 7, 6])
    _, mixed, weight = mix(z, t, w, 0.3, partners)
    expected = 0.3 * w * cross_entropy(z, t) + 0.7 * w[partners] * cross_entropy(z, t[partners])
    torch.testing.assert_close(weight * cross_entropy(z, mixed), expected)


def test_mixup_shares_are_beta_distributed():
    method, rng = Mixup(a=0.4), np.random.default_rng(0)
    x, t = torch.tensor([[0.0], [1.0]]), torch.eye(2)
    shares = []
    while len(shares) < 2000:
        mixed = method.batch(toys.batch_of(t, x), rng).x
        if mixed[0] != 0:  # partners were swapped, not themselves
            shares.append(1 - mixed[0].item())
    assert scipy.stats.kstest(shares, scipy.stats.beta(0.4, 0.4).cdf).pvalue > 0.01


FIXED = np.random.default_rng(0)
Z, Z2, T = random_logits(FIXED), random_logits(FIXED), random_targets(FIXED)
P, P2 = (scipy.special.softmax(z.numpy(), axis=1) for z in (Z, Z2))
CE, CE2 = (-(T.numpy() * scipy.special.log_softmax(z.numpy(), axis=1)).sum(axis=1) for z in (Z, Z2))


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (L1Reg(a=0.3), CE + 0.3 * np.abs(Z.numpy()).sum(axis=1)),
        (L2Reg(a=0.3), CE + 0.3 * np.sqrt((Z.numpy() ** 2).sum(axis=1))),
        (L2Reg(a=0.3, squared=True), CE + 0.3 * (Z.numpy() ** 2).sum(axis=1)),
        (CodistillKL(a=0.3, n_warm=0), CE + CE2 + 0.3 * scipy.stats.entropy(P, P2, axis=1)),
        (
            CodistillCE(a=0.3, n_warm=0),
            CE + CE2 + 0.3 * (scipy.stats.entropy(P, P2, axis=1) + scipy.stats.entropy(P, axis=1)),
        ),
        (BiTempered(t1=0.3, t2=2.0, n_iters=7), bi_tempered_loss(Z, T, 0.3, 2.0, 7).numpy()),
        (Control(), CE),
    ],
)
def test_each_method_trains_on_its_own_loss(method, expected):
    logits = [Z, Z2][: method.n_nets]
    np.testing.assert_allclose(toys.total_loss(method, logits, T).numpy(), expected, rtol=1e-9)


def test_each_method_trains_on_its_own_targets():
    y = np.eye(3, dtype=np.float32)[[0, 0, 1, 2]]
    logits = np.array([[0.0], [1.0], [2.0], [9.0]], np.float32)
    reference = Reference(lambda: logits, y.argmax(axis=1))
    eta = np.array([[1, 0, 0], [2 / 3, 1 / 3, 0], [1 / 2, 1 / 2, 0], [0, 1 / 2, 1 / 2]])
    expected = 0.4 * y + 0.6 * (0.2 / 3 + 0.8 * eta)
    targets = KnnLS(k=2, a=0.6, b=0.2).targets(y, reference)
    np.testing.assert_allclose(targets, expected, rtol=1e-6)
    smoothed = LabelSmoothing(a=0.6).targets(y, reference)
    np.testing.assert_allclose(smoothed, 0.4 * y + 0.2, rtol=1e-6)


# Bi-tempered


@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.parametrize(("t1", "t2"), GRID)
def test_finite_on_the_whole_grid(t1, t2, n_classes, rng):
    corners = torch.tensor([[100.0, -100.0], [-100.0, 100.0], [0.0, 0.0], [100.0, 100.0]])
    corners = torch.nn.functional.pad(corners, (0, n_classes - 2), value=-100.0)
    wide = random_logits(rng, 200, n_classes, dtype=torch.float32).clamp(-3, 3) * (100 / 3)
    z = torch.cat([corners, wide]).requires_grad_()
    t = one_hot(rng, len(z), n_classes, torch.float32)
    loss = bi_tempered_loss(z, t, t1, t2)
    loss.sum().backward()
    assert loss.isfinite().all()
    assert (loss > -1e-4).all() or t2 > 1  # a divergence is positive where the iterations converge
    assert z.grad is not None
    assert z.grad.isfinite().all()
    p = BiTempered(t1=t1, t2=t2).probabilities([z.detach()])
    assert p.isfinite().all()
    np.testing.assert_allclose(p.sum(dim=1).numpy(), 1, atol=1e-5)


@pytest.mark.parametrize("t", [0.1, 0.3, 0.5, 0.9, 0.99, 1.01, 1.1, 1.5, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("scale", [1, 10, 50])
def test_tempered_softmax_sums_to_one_given_enough_iterations(t, scale, rng):
    p = tempered_softmax(random_logits(rng, 50, 10, scale), t, n_iters=2000)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(dim=1).numpy(), 1, atol=1e-5)


@pytest.mark.parametrize("t", [0.99, 0.999, 0.9999, 1.0001, 1.001, 1.01])
def test_tempered_softmax_is_exact_near_one_in_single_precision(t, rng):
    z = random_logits(rng, 50, 10, 3.0, torch.float32)
    p = tempered_softmax(z, t, n_iters=200)
    np.testing.assert_allclose(p.sum(dim=1).numpy(), 1, atol=1e-5)
    np.testing.assert_allclose(p.numpy(), torch.softmax(z, 1).numpy(), atol=0.02)


def test_temperatures_without_a_finite_loss_are_refused():
    for t1, t2 in ((2, 1), (0.5, 0), (1, 0.5)):
        with pytest.raises(InputError):
            bi_tempered_loss(Z, T, t1, t2)
    with pytest.raises(InputError, match="kind must be 'ce', 'kl' or 'symmetric', not 'KL'"):
        codistillation_divergence(Z, Z2, "KL")  # type: ignore[arg-type]


@given(st.floats(0.1, 4), st.floats(-50, 50))
def test_tempered_softmax_keeps_the_order_and_ignores_a_shift(t, shift):
    z = torch.tensor([[1.0, 3.0, 2.0]], dtype=torch.float64)
    p = tempered_softmax(z, t, 60)
    assert p[0, 1] > p[0, 2] >= p[0, 0]
    torch.testing.assert_close(tempered_softmax(z + shift, t, 60), p, atol=1e-9, rtol=1e-9)


def test_tempered_softmax_in_closed_form():
    """Two tied classes share alike; at t = 2, exp_t(x) = 1/(1 − x) can be solved by hand."""
    for t in (0.5, 1.0, 2.0, 4.0):
        p = tempered_softmax(torch.tensor([[7.0, 7.0]], dtype=torch.float64), t, 200)
        np.testing.assert_allclose(p.numpy(), [[0.5, 0.5]], atol=1e-9)
    # 1/(1 + λ) + 1/(1 + λ + d) = 1 with d = 3/2 gives λ = 1/2: probabilities 2/3 and 1/3.
    p = tempered_softmax(torch.tensor([[1.5, 0.0]], dtype=torch.float64), 2.0, 200)
    np.testing.assert_allclose(p.numpy(), [[2 / 3, 1 / 3]], atol=1e-9)


def test_bi_tempered_loss_in_closed_form():
    """t1 = 0, t2 = 2 on probabilities 2/3, 1/3: Σ y·(y − p) − (y² − p²)/2 = Σ (y − p)²/2."""
    z, t = torch.tensor([[1.5, 0.0]], dtype=torch.float64), torch.tensor([[0.0, 1.0]])
    loss = bi_tempered_loss(z, t.double(), 0.0, 2.0, 200)
    np.testing.assert_allclose(loss.numpy(), [((2 / 3) ** 2 + (2 / 3) ** 2) / 2], atol=1e-9)


def test_at_temperatures_of_one_it_is_cross_entropy(rng):
    z, hard, soft = random_logits(rng), one_hot(rng), random_targets(rng)
    torch.testing.assert_close(bi_tempered_loss(z, hard, 1, 1), cross_entropy(z, hard))
    near = bi_tempered_loss(z, soft, 1 - 1e-7, 1 + 1e-7, 200)
    torch.testing.assert_close(near, bi_tempered_loss(z, soft, 1, 1), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("t1", "t2"),
    [*GRID, (0.0, 2.0), (1.0, 3.0), (0.5, 0.5), (0.7, 0.3), (0.2, 0.1), (0.9, 0.9), (0.0, 0.1)],
)
def test_the_closed_form_gradient_agrees_with_finite_differences(t1, t2, rng):
    t = random_targets(rng)
    z = random_logits(rng, scale=1.0).requires_grad_()

    def loss(z):
        return bi_tempered_loss(z, t, t1, t2, 500)

    assert torch.autograd.gradcheck(loss, z, atol=1e-4, rtol=1e-3)
