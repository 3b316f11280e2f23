"""Methods add up: hooks in turn, needs united, and what cannot be had together says why."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import toys
from unchurn.core.errors import InputError
from unchurn.methods import (
    METHODS,
    Anchor,
    BiTempered,
    CodistillKL,
    Combination,
    Control,
    Decay,
    Ema,
    Ensemble,
    KnnLS,
    L2Reg,
    LabelSmoothing,
    Method,
    Mixup,
    Need,
    Reference,
    combine,
    make_method,
)
from unchurn.methods.cost import n_fits
from unchurn.training.loop.config import Training
from unchurn.training.networks.factories import mlp

X, Y = toys.blobs(90, distance=2)
TRAINING = Training(epochs=2, batch_size=32)


def probabilities(method, **options):
    return toys.fit_run(
        method, mlp, X, Y, 3, **{"training": TRAINING, "seed": 0, **options}
    ).probabilities(X)


def small(name):
    return make_method(toys.SMALL.get(name, name))


def some_methods(n):
    return st.lists(st.sampled_from(sorted(METHODS)), min_size=2, max_size=n, unique=True)


@given(some_methods(3))
@settings(max_examples=40)
def test_any_methods_combine_or_refuse_with_a_reason(names):
    parts, reason = list(map(small, names)), None
    try:
        combine(*parts)
    except InputError as error:
        reason = str(error)
    if reason is not None:
        assert " cannot be combined: " in reason
        return
    p = probabilities(combine(*parts))
    assert p.shape == (90, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)


@given(some_methods(2))
@settings(max_examples=40)
def test_strength_zero_is_the_other_method_bit_for_bit(names):
    one, idle = small(names[0]), toys.NOTHING.get(names[1])
    if idle is None or _refused(one, make_method(idle)):
        return
    for method in (make_method(idle) + one, one + make_method(idle)):
        assert method.simplest() == one
        if idle.startswith("codistill") and n_fits(one) > 1:
            continue  # an idle network in tandem takes a stream: further fits have others
        assert probabilities(method).tobytes() == probabilities(one).tobytes()


def _refused(*methods):
    try:
        combine(*methods)
    except InputError:
        return True
    return False


def test_what_simplifies_to_the_same_twice_stays_as_it_is():
    both = KnnLS(a=0.5, b=1) + LabelSmoothing(a=0.1)
    assert both.simplest() == both


def test_each_part_makes_a_difference():
    both = probabilities(LabelSmoothing(a=0.5) + Ema(decay=0.9))
    for one in (LabelSmoothing(a=0.5), Ema(decay=0.9), Control()):
        assert (both != probabilities(one)).any()


def test_control_adds_nothing_and_one_alone_is_itself():
    assert combine(Control(), Ema()) == Ema()
    assert combine() == Control()
    assert combine(Ema(), combine(Decay(), Mixup())).methods == (Ema(), Decay(), Mixup())


def test_targets_go_from_part_to_part():
    t = np.eye(2, dtype=np.float32)
    reference = Reference(lambda: np.log([[0.6, 0.4], [0.2, 0.8]]).astype(np.float32), [0, 1])
    softened = (LabelSmoothing(a=0.5) + Anchor(a=0.5)).targets(t, reference)
    np.testing.assert_allclose(softened, [[0.675, 0.325], [0.225, 0.775]], rtol=1e-5)


def test_penalties_add_and_rates_multiply(rng):
    import torch

    z, t = torch.tensor(rng.normal(size=(2, 5, 3))), torch.full((5, 3), 1 / 3)
    both = L2Reg(a=0.3) + CodistillKL(a=0.5, n_warm=0)
    batch = toys.batch_of(t)
    apart = [part.penalty(list(z), batch, 0) for part in both.methods]
    torch.testing.assert_close(both.penalty(list(z), batch, 0), apart[0] + apart[1])
    assert both.n_nets == 2

    class Half(Method):
        def learning_rate(self, progress):
            return 0.5

    assert (Half() + Decay()).learning_rate(0.5) == pytest.approx(0.25)


def test_needs_are_united():
    class Other(KnnLS):
        pass

    assert (KnnLS(k=5) + Other(k=9) + Ema()).reference() == Need(ks=(5, 9))
    assert (Anchor() + Ema()).reference() == Need(is_fixed=True)
    assert (Mixup() + Ema()).reference() is None


def test_an_ensemble_of_any_method():
    method = Ensemble(m=3) + LabelSmoothing(a=0.5) + Ema(decay=0.9)
    assert list(method.members()) == [LabelSmoothing(a=0.5) + Ema(decay=0.9)] * 3
    fitted = toys.fit_run(method, mlp, X, Y, 3, training=TRAINING, seed=0)
    alone = [
        toys.fit_run(method.members()[0], mlp, X, Y, 3, training=TRAINING, seed=0, fit=fit)
        for fit in range(3)
    ]
    expected = np.mean([one.probabilities(X) for one in alone], axis=0)
    np.testing.assert_allclose(fitted.probabilities(X), expected, atol=1e-6)


def test_members_with_a_reference_leave_its_stream_alone():
    from unchurn.training.loop.streams import member_fits

    assert member_fits(Ensemble(m=3)) == [[0], [1], [2]]
    assert member_fits(Ensemble(m=3) + KnnLS()) == [[0], [2], [3]]
    assert member_fits(CodistillKL() + KnnLS()) == [[0, 2]]
    assert member_fits(Ensemble(m=2) + CodistillKL()) == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ((KnnLS(), Anchor()), "knn_ls and anchor cannot be combined: one looks at a reference of"),
        ((Ema(), Ema(decay=0.9)), "ema is there twice"),
    ],
)
def test_what_cannot_be_combined_says_why(parts, reason):
    with pytest.raises(InputError, match=reason):
        combine(*parts)


def test_state_of_ones_own_and_averaged_weights_are_not_mixed_up():
    """Who overrides `begin` may serve other networks: then no other method may."""

    class Own(Method):
        def begin(self, nets, n_steps):
            return super().begin(nets, n_steps)

    with pytest.raises(InputError, match="Own and ema cannot be combined: each decides which"):
        combine(Own(), Ema())


def test_extras_are_mixed_like_inputs(rng):
    import torch

    batch = toys.batch_of(torch.eye(4), torch.tensor(rng.normal(size=(4, 2))))
    batch.extras["teacher"] = batch.x.clone()
    mixed = Mixup(a=0.5).batch(batch, rng)
    assert not torch.equal(mixed.x, batch.x)
    torch.testing.assert_close(mixed.extras["teacher"], mixed.x)


def test_two_losses_cannot_be_had_at_once():
    class Other(BiTempered):
        pass

    with pytest.raises(InputError, match="bi_tempered and Other cannot be combined: each decides"):
        combine(BiTempered(), Other())


def test_parameters_are_scikit_learns():
    method = make_method("knn_ls(k=5)+ema")
    assert method.get_params()["knn_ls__k"] == 5
    method.set_params(knn_ls__a=0.3, ema__decay=0.5)
    assert method.methods == (KnnLS(k=5, a=0.3), Ema(decay=0.5))
    twin = clone(method)
    assert twin == method
    assert twin.methods[0] is not method.methods[0]
    assert isinstance(twin, Combination)
    with pytest.raises(ValueError, match="no parameter 'mixup__a'"):
        method.set_params(mixup__a=1)
