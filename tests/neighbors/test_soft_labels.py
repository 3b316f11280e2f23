import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unchurn import blend_knn_labels, knn_labels, knn_smooth_labels, off_label_mass, smooth_labels
from unchurn.core.errors import InputError

fraction = st.floats(0, 1)
LABELS = np.random.default_rng(0).integers(0, 3, 60)
LOGITS = np.random.default_rng(1).normal(size=(60, 3)) + np.eye(3)[LABELS]
ONE_HOT = np.eye(3, dtype=np.float32)[LABELS]


@given(fraction)
def test_global_smoothing_is_torchs_label_smoothing(a):
    """Cross-entropy on our targets equals torch's own label smoothing."""
    targets = torch.from_numpy(smooth_labels(LABELS, a, n_classes=3))
    ours = torch.nn.functional.cross_entropy(torch.from_numpy(LOGITS), targets.double())
    theirs = torch.nn.functional.cross_entropy(
        torch.from_numpy(LOGITS), torch.from_numpy(LABELS), label_smoothing=a
    )
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)


@given(fraction, fraction)
def test_rows_are_distributions(a, b):
    targets = knn_smooth_labels(LOGITS, LABELS, k=5, a=a, b=b)
    assert targets.dtype == np.float32
    assert (targets >= 0).all()
    np.testing.assert_allclose(targets.sum(axis=1), 1, atol=1e-6)


def test_the_corners_of_k_nn_smoothing():
    eta = knn_labels(LOGITS, LABELS, 5)
    assert (knn_smooth_labels(LOGITS, LABELS, k=5, a=0, b=0.3) == ONE_HOT).all()
    assert (knn_smooth_labels(LOGITS, LABELS, k=5, a=1, b=0) == eta).all()
    globally = smooth_labels(LABELS, 0.7, n_classes=3)
    assert (knn_smooth_labels(LOGITS, LABELS, k=5, a=0.7, b=1) == globally).all()
    assert (smooth_labels(LABELS, 0, n_classes=3) == ONE_HOT).all()


def test_k_nn_smoothing_by_hand():
    # Three points on a line; k = 2 of the middle one takes in all three, by a tie.
    targets = knn_smooth_labels([0.0, 1.0, 2.0], [0, 1, 1], k=2, a=0.5, b=0.4)
    y = np.array([[1, 0], [0, 1], [0, 1]])
    eta = np.array([[1 / 2, 1 / 2], [1 / 3, 2 / 3], [0, 1]])
    np.testing.assert_allclose(targets, 0.5 * y + 0.5 * (0.4 / 2 + 0.6 * eta), rtol=1e-6)


def test_permuting_the_rows_permutes_the_targets(rng):
    order = rng.permutation(60)
    targets = knn_smooth_labels(LOGITS, LABELS, k=7, a=0.9, b=0.1)
    assert (
        knn_smooth_labels(LOGITS[order], LABELS[order], k=7, a=0.9, b=0.1) == targets[order]
    ).all()


def test_tensors_give_what_arrays_give():
    arrays = knn_smooth_labels(LOGITS, LABELS, k=5, a=0.9, b=0.5)
    tensors = knn_smooth_labels(torch.tensor(LOGITS), torch.tensor(LABELS), k=5, a=0.9, b=0.5)
    assert (arrays == tensors).all()


def test_inputs_are_left_as_they_were():
    eta = knn_labels(LOGITS, LABELS, 5)
    before = eta.copy()
    blend_knn_labels(eta, LABELS, a=0.9, b=0.5)
    assert (eta == before).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smooth_labels(LABELS, 1.1, n_classes=3), "a must be from 0 to 1, not 1.1"),
        (lambda: smooth_labels(LABELS, float("nan"), n_classes=3), "a must be from 0 to 1"),
        (lambda: smooth_labels(LABELS, 0.1, n_classes=2), "must be in 0 … 1"),
        (lambda: knn_smooth_labels(LOGITS, LABELS, k=5, a=0.1, b=-1), "b must be from 0 to 1"),
        (lambda: knn_smooth_labels(LOGITS, LABELS[:9], k=5, a=0.1, b=1), "9 labels for 60 rows"),
        (lambda: knn_smooth_labels(LOGITS[:, :2], LABELS, k=5, a=0.1, b=1), "must be in 0 … 1"),
        (lambda: blend_knn_labels(LABELS, LABELS, a=0.1, b=1), r"k-NN labels must be \(n, L\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_off_label_mass_is_what_disagrees():
    mass = off_label_mass([[1, 0], [0.5, 0.5], [0.25, 0.75], [1, 0]], [0, 0, 1, 1])
    assert mass.mean == pytest.approx((0 + 0.5 + 0.25 + 1) / 4)
    assert (mass.median, mass.max, mass.nonzero) == (0.375, 1, 0.75)
    assert mass.p90 == pytest.approx(0.5 + 0.7 * 0.5)  # between the third and the fourth of four
    assert mass.p99 == pytest.approx(0.5 + 0.97 * 0.5)
    assert not mass.memorised
    assert "memorised" not in str(mass)
    assert mass.to_dict()["nonzero"] == 0.75


def test_memorised_means_less_than_one_percent():
    label = np.zeros(100, int)
    for share, memorised in ((0.005, True), (0.02, False)):
        knn = np.tile([1 - share, share], (100, 1))
        assert off_label_mass(knn, label).memorised == memorised


def test_a_single_column_of_logits_means_two_classes():
    margin = LOGITS[:, :1]
    binary = LABELS % 2
    targets = knn_smooth_labels(margin, binary, k=5, a=1, b=0)
    assert targets.shape == (60, 2)
    assert (targets == knn_smooth_labels(margin[:, 0], binary, k=5, a=1, b=0)).all()


def test_memorised_labels_are_called_that():
    apart = off_label_mass(knn_labels(100 * np.eye(3)[LABELS] + LOGITS, LABELS, 5), LABELS)
    assert apart.mean == 0
    assert apart.memorised
    assert "can do little more here than global smoothing" in str(apart)
