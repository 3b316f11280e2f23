import pytest

from unchurn import METHODS
from unchurn.core.errors import InputError
from unchurn.methods import Ema, KnnLS
from unchurn.study.settings import Setting, make_setting


def test_text_names_what_is_tried_and_unusual_others():
    assert make_setting("knn_ls", k=5).text == "k=5 a=0.9 b=0.9"
    assert make_setting("anchor", fixed_reference=False).text == "a=0.9 fixed_reference=0"
    assert Setting("control", METHODS["control"]()).text == ""


def test_a_combination_is_one_setting():
    setting = make_setting("knn_ls(k=5)+ema")
    assert setting == Setting("knn_ls+ema", KnnLS(k=5) + Ema())
    assert setting.text == "k=5 a=0.9 b=0.9 + decay=0.999"
    assert setting.parameters["knn_ls__k"] == 5
    assert setting.parameters["ema__decay"] == 0.999


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_setting("knn"), "no method 'knn': there are control"),
        (lambda: make_setting("mixup", k=3), "mixup has no parameter 'k': it has a"),
        (lambda: make_setting("mixup+ema", a=3), "write a combination's parameters in it"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
