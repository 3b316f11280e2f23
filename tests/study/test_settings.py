import math
from dataclasses import dataclass

import numpy as np
import pytest

from unchurn import METHODS
from unchurn.core.errors import InputError
from unchurn.methods import Ema, KnnLS, Method, Stay
from unchurn.study.design.settings import Setting, make_setting, plain_parameters


def test_text_names_what_is_tried_and_unusual_others():
    assert make_setting("knn_ls", k=5).text == "k=5 a=0.1 b=0.1"
    assert make_setting("anchor", fixed_reference=False).text == "a=0.5 fixed_reference=0"
    assert Setting("control", METHODS["control"]()).text == ""


def test_a_combination_is_one_setting():
    setting = make_setting("knn_ls(k=5)+ema")
    assert setting == Setting("knn_ls+ema", KnnLS(k=5) + Ema())
    assert setting.text == "k=5 a=0.1 b=0.1 + decay=0.999"
    assert setting.parameters["knn_ls__k"] == 5
    assert setting.parameters["ema__decay"] == 0.999


def test_values_that_look_alike_are_told_apart():
    assert make_setting("mixup", a=0.1234567).text == "a=0.1234567"
    assert make_setting("mixup", a=0.30000000000000004).text == "a=0.30000000000000004"


def test_parameters_of_numpys_are_plain_and_others_are_refused():
    assert Setting("knn_ls", KnnLS(k=np.int64(5))).facts().methods[0]["k"] == 5

    @dataclass
    class Own(Method):
        values: object = None

    with pytest.raises(InputError, match="values of Own must be a number, a text or a boolean"):
        Setting("own", Own(np.zeros(3))).facts()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: make_setting("knn"),
            "no method 'knn' .did you mean 'knn_ls'.*: there are control",
        ),
        (lambda: make_setting("mixup", k=3), "mixup: no parameter 'k': there are a"),
        (lambda: make_setting("mixup+ema", a=3), "write a combination's parameters in it"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("name", METHODS)
def test_what_is_written_is_read_as_the_same(name):
    kind = METHODS[name]
    for parameter, values in kind.grid.items():
        for value in values:
            setting = make_setting(name, **{parameter: value})
            assert make_setting(setting.facts("upgrade").written).method == setting.method


@pytest.mark.parametrize("text", ["focal(tau=5)+ema", "anchor(fixed_reference=False)"])
def test_also_what_is_not_searched_is_written(text):
    assert make_setting(text).facts().written == text


def test_a_study_keeps_only_finite_parameters():
    with pytest.raises(InputError, match="ratio of Stay must be finite, not inf"):
        plain_parameters(Stay(ratio=math.inf))
