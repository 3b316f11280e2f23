"""What a bench gets of the paper: its choice of settings, and its numbers beside ours."""

import numpy as np
import pytest

import toys
from unchurn import InputError
from unchurn.paper.published import PAPER_METHODS, SINGLE_MODELS, beside, published
from unchurn.paper.studies import RECIPES
from unchurn.study.design.presets import preset_settings
from unchurn.study.design.settings import make_setting

NUMBERS = "96.30 / 2.25 / 1.21 / 29.05"  # control on Phishing: accuracy, churn, correct, incorrect


def result(dataset):
    """Two runs of control on so-called data."""
    labels = np.arange(100) % 2
    runs = np.stack([labels, np.where(np.arange(100) < 5, 1 - labels, labels)])
    return toys.result([(make_setting("control"), runs)], labels, name=dataset)


def test_the_paper_has_a_number_and_a_choice_for_each_of_its_methods():
    assert len(SINGLE_MODELS) == 10
    assert set(published()) == {(d, m) for d in RECIPES for m in PAPER_METHODS}
    settings = {s.name: s for s in preset_settings("paper", "phishing", n_steps=1)}
    assert list(settings) == list(PAPER_METHODS)
    assert settings["knn_ls"].text == "k=500 a=0.8 b=0.9"
    assert settings["codistill_ce"].text == "a=0.2 n_warm=2"
    assert [s.text for s in preset_settings("paper", "mnist", ["ensemble"])] == ["m=5"]
    assert len(published()) == 6 * 11
    row = published()["svhn", "knn_ls"]
    assert (row.mean["accuracy"], row.sd["churn"]) == (88.98, 0.28)
    assert published()["mnist", "ensemble"].mean["churn"] == 0.94


def test_what_the_paper_has_not_is_as_it_is_written():
    (setting,) = preset_settings("paper", "phishing", ["knn_ls(k=5)+ema(decay=0.9)"])
    assert setting.name == "knn_ls+ema"
    assert setting.text == "k=5 a=0.8 b=0.9 + decay=0.9"


@pytest.mark.parametrize(
    ("method", "dataset", "message"),
    [
        ("control", "digits", "the paper has no setting for digits; it has for celeba_high"),
        ("knn", "mnist", "no method 'knn'"),
    ],
)
def test_what_the_paper_did_not_choose_is_said(method, dataset, message):
    with pytest.raises(InputError, match=message):
        preset_settings("paper", dataset, [method])


def test_the_published_numbers_stand_beside_ours_where_there_are_any(tmp_path):
    assert beside("phishing", "control") == NUMBERS
    assert beside("digits", "control") == ""
    assert NUMBERS in result("phishing").table("markdown")
    assert "paper" not in result("digits").table("markdown")
    result("phishing").report(tmp_path / "page.html")
    assert NUMBERS in (tmp_path / "page.html").read_text("utf-8")
