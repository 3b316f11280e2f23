"""How methods are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unchurn.core.errors import InputError
from unchurn.methods import METHODS, Ema, KnnLS, Mixup, make_method
from unchurn.methods.registry import name_of, parse_method, split_methods, written


def test_methods_are_written_with_parameters_and_combined():
    assert make_method("mixup(a=0.3)+ema") == Mixup(a=0.3) + Ema()
    assert make_method(" knn_ls ( k=5, fixed_reference=True ) ") == KnnLS(k=5, fixed_reference=True)
    assert make_method("control+ema") == Ema()


@given(st.lists(st.sampled_from(sorted(METHODS)), min_size=1, max_size=4))
def test_what_is_split_is_what_was_joined(names):
    texts = [f"{name}(a=1, b=2.5)" if i % 2 else name for i, name in enumerate(names)]
    assert split_methods(", ".join(texts)) == texts
    assert [part for part, _ in parse_method("+".join(texts))] == names


@pytest.mark.parametrize(
    "text",
    [
        "longer(times=2)+anchor(a=0.8)+safe_ema", "focal(tau=5)", "control", "knn_ls(k=1000000)",
        "anchor(a=0.1234567)",
    ],
)  # fmt: skip
def test_methods_are_written_as_they_are_read(text):
    assert written(make_method(text)) == text


def test_names_come_back():
    assert name_of(make_method("knn_ls+ema")) == "knn_ls+ema"

    class Own(Ema):
        pass

    assert name_of(Own() + Mixup()) == "Own+mixup"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("knn", "no method 'knn' .did you mean 'knn_ls'.*: there are control, "),
        ("ema+knn", "no method 'knn'"),
        ("mixup(k=3)", "mixup: no parameter 'k': there are a"),
        ("mixup(0.3)", r"parameters are written as in mixup\(a=0.2\)$"),
        ("nothing(0.3)", "no method 'nothing'"),
        ("ensemble(m=0)", "^ensemble: m must be a whole number of at least 1, not 0"),
        ("ema+ema", "^ema is there twice: name it once"),
        ("ema+swa", "^ema and swa cannot be combined"),
        ("mixup(a=open)", "parameters are written as in"),
        ("mixup(a=1", "is no method: write name"),
        ("mixup(**{'a': 1})", "parameters are written as in"),
        ("", "'' is no method"),
        ("ema++mixup", "'' is no method"),
    ],
)
def test_bad_input_is_named(text, message):
    with pytest.raises(InputError, match=message):
        make_method(text)
