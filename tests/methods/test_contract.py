"""What every method promises, whatever it does."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.base import clone

import toys
from unchurn import METHODS
from unchurn.core.errors import InputError
from unchurn.methods import Reference, make_method
from unchurn.methods.base import overrides
from unchurn.paper.published import PAPER_METHODS
from unchurn.training.loop.config import Training
from unchurn.training.networks.factories import mlp

X, Y = toys.blobs(150, distance=2)
ONE_HOT = np.eye(3, dtype=np.float32)[Y]
LOGITS = np.random.default_rng(1).normal(size=(150, 3)).astype(np.float32)
TRAINING = Training(epochs=4, batch_size=32)  # 20 steps


@pytest.fixture(params=METHODS)
def name(request):
    return request.param


def small(name):
    return make_method(toys.SMALL.get(name, name))


def nothing(name):
    """The setting that does nothing."""
    if name in ("bagging", "twin"):
        pytest.skip("has none: a bootstrap is never all of the data")
    return make_method(toys.NOTHING[name])


def probabilities(method, **options):
    options = {"training": TRAINING, "seed": 0} | options
    return toys.fit_run(method, mlp, X, Y, 3, **options).probabilities(X)


def test_trains_and_gives_probabilities(name):
    p = probabilities(small(name))
    assert p.shape == (150, 3)
    assert p.dtype == np.float32
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    assert (p.argmax(axis=1) == Y).mean() > 0.7  # chance is a third


def test_same_seed_same_bytes_whatever_the_threads(name):
    before = torch.get_num_threads()
    one = probabilities(small(name))
    torch.set_num_threads(3)
    try:
        two = probabilities(small(name))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert one.tobytes() == two.tobytes()


def test_another_seed_or_run_is_another_model(name):
    one = probabilities(small(name))
    assert (one != probabilities(small(name), seed=1)).any()
    assert (one != probabilities(small(name), run=1)).any()


def test_zero_strength_is_control_bit_for_bit(name):
    idle = probabilities(nothing(name))
    assert idle.tobytes() == probabilities(METHODS["control"]()).tobytes()


def test_what_has_no_effect_is_simplest_as_control(name):
    assert small(name).simplest() == small(name)
    assert nothing(name).simplest() == METHODS["control"]()


def test_strength_makes_a_difference(name):
    plain = probabilities(METHODS["control"]())
    if overrides(small(name), "serve"):  # in what is served beside a base
        base = np.roll(plain, 1, axis=0)
        assert (small(name).serve(plain, base) != plain).any()
        np.testing.assert_array_equal(nothing(name).serve(plain, base), plain)
    elif name not in ("control", "auto_ema"):  # which in so short a training averages nothing
        assert (probabilities(small(name)) != plain).any()


def test_permuted_rows_give_permuted_targets(name, rng):
    method, order = small(name), rng.permutation(150)
    targets = method.targets(ONE_HOT, Reference(lambda: LOGITS, Y))
    assert targets.shape == ONE_HOT.shape
    assert targets.dtype == np.float32
    np.testing.assert_allclose(targets.sum(axis=1), 1, atol=1e-6)
    permuted = method.targets(ONE_HOT[order], Reference(lambda: LOGITS[order], Y[order]))
    np.testing.assert_array_equal(permuted, targets[order])


def test_the_reference_is_asked_for_only_if_used(name):
    asked = []

    def logits():
        asked.append(True)
        return LOGITS

    for method in (small(name), nothing(name)):
        asked.clear()
        reference = Reference(logits, Y)
        method.targets(ONE_HOT, reference)
        method.extras(150, reference, np.random.default_rng(0))
        method.weights(np.ones(150, np.float32), reference)
        need = method.reference()
        looks = need is not None and not (need.weights or need.serves)  # at logits
        assert bool(asked) == looks
    assert method.reference() is None


def test_what_only_changes_targets_overrides_no_hook_of_training(name):
    """Learners of other frameworks would ignore it."""
    if METHODS[name].changes == "targets":
        hooks = ("adapt", "begin", "learning_rate", "weight_decay", "extras", "batch", "loss",
                 "penalty", "probabilities", "start", "settle")  # fmt: skip
        assert not any(overrides(small(name), hook) for hook in hooks)
        assert METHODS[name].n_nets == 1


def test_clone_repr_and_parameters(name):
    method = small(name)
    twin = clone(method)
    assert twin == method
    assert twin is not method
    assert eval(repr(method), {kind.__name__: kind for kind in METHODS.values()}) == method
    assert METHODS[name]().set_params(**method.get_params()) == method


def test_the_grid_holds_valid_settings_of_known_parameters(name):
    kind = METHODS[name]
    assert set(kind.grid) <= set(kind().get_params())
    for parameter, values in kind.grid.items():
        for value in values:
            kind(**{parameter: value})


def test_the_grids_have_the_papers_size():
    sizes = {
        name: int(np.prod([len(v) for v in kind.grid.values()])) for name, kind in METHODS.items()
    }
    assert sizes == {
        "control": 1,
        "label_smoothing": 9,
        "knn_ls": 180,
        "anchor": 9,
        "l1_reg": 6,
        "l2_reg": 6,
        "bi_tempered": 16,
        "codistill_ce": 12,
        "codistill_kl": 12,
        "mixup": 4,
        "ensemble": 2,
        **{name: sizes[name] for name in METHODS if name not in PAPER_METHODS},
    }


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("label_smoothing", {"a": 1.2}, "a must be from 0 to 1, not 1.2"),
        ("label_smoothing", {"a": "x"}, "a must be from 0 to 1, not 'x'"),
        ("l1_reg", {"a": None}, "a must be a number of at least 0, not None"),
        ("bi_tempered", {"t2": "x"}, "t2 must be above 0"),
        ("knn_ls", {"k": 0}, "k must be a whole number of at least 1, not 0"),
        ("knn_ls", {"k": 2.0}, "k must be a whole number of at least 1, not 2.0"),
        ("knn_ls", {"b": -0.1}, "b must be from 0 to 1"),
        ("anchor", {"a": float("nan")}, "a must be from 0 to 1"),
        ("l1_reg", {"a": -1}, "a must be a number of at least 0, not -1"),
        ("l2_reg", {"a": float("inf")}, "a must be a number of at least 0, not inf"),
        ("bi_tempered", {"t1": 2}, "t1 must be from 0 to 1"),
        ("bi_tempered", {"t2": 0}, "t2 must be above 0"),
        ("bi_tempered", {"n_iters": 0}, "n_iters must be a whole number of at least 1"),
        ("codistill_ce", {"n_warm": -1}, "n_warm must be a whole number of at least 0"),
        ("codistill_kl", {"a": -1}, "a must be a number"),
        ("mixup", {"a": -0.1}, "a must be a number of at least 0"),
        ("ensemble", {"m": True}, "m must be a whole number of at least 1"),
        ("bagging", {"m": 1}, "m must be a whole number of at least 2"),
        ("distill", {"a": 1.5}, "a must be from 0 to 1"),
        ("elodi", {"margin": -1}, "margin must be a number of at least 0"),
        ("medoid", {"part": 0}, "part must be above 0 and below 1, not 0"),
        ("early", {"part": 1}, "part must be below 1"),
        ("swa", {"part": 2}, "part must be from 0 to 1"),
        ("smelu", {"beta": -1}, "beta must be a number of at least 0"),
        ("weight_decay", {"strength": -1}, "strength must be a number of at least 0"),
        ("twin", {"a": -1}, "a must be a number of at least 0"),
    ],
)
def test_parameters_out_of_range_are_named(name, parameters, message):
    with pytest.raises(InputError, match=message):
        METHODS[name](**parameters)
    method = METHODS[name]().set_params(**parameters)  # scikit-learn's way around __init__
    with pytest.raises(InputError, match=message):
        make_method(method)


def test_methods_by_name():
    assert make_method("knn_ls") == METHODS["knn_ls"]()
    with pytest.raises(
        InputError, match=r"no method 'knn' \(did you mean 'knn_ls'\?\): there are control, "
    ):
        make_method("knn")
    with pytest.raises(InputError, match="must be a name or a Method, not 3"):
        make_method(3)  # type: ignore[arg-type]


def test_a_warm_up_that_training_never_reaches_warns():
    with pytest.warns(UserWarning, match="n_warm=20 is never reached: training takes 20 steps"):
        probabilities(METHODS["codistill_ce"](n_warm=20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        probabilities(METHODS["codistill_ce"](n_warm=19))


@pytest.mark.parametrize("given", ["test", [1], 1, None])
def test_a_switch_is_true_or_false(given):
    with pytest.raises(InputError, match="fixed_reference must be true or false"):
        METHODS["knn_ls"](fixed_reference=given)
