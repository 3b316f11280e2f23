"""What a bench gets of the paper: its choice of settings, and its numbers beside ours."""

import numpy as np
import pytest

from unchurn import Dataset, InputError
from unchurn.metrics.churn import churn_summary
from unchurn.paper.presets import PAPERS_COLUMN, papers_choice
from unchurn.paper.published import PAPER_METHODS, SINGLE_MODELS, beside, published
from unchurn.paper.studies import RECIPES
from unchurn.study.experiment import Experiment
from unchurn.study.page import write_report
from unchurn.study.result import Result, SettingResult
from unchurn.study.settings import make_setting
from unchurn.study.table import render

NUMBERS = "96.30 / 2.25 / 1.21 / 29.05"  # control on Phishing: accuracy, churn, correct, incorrect


def result(dataset):
    """Two runs of control on so-called data."""
    labels = np.arange(100) % 2
    runs = np.stack([labels, np.where(np.arange(100) < 5, 1 - labels, labels)])
    blank = np.zeros((100, 1), np.float32)
    data = Dataset(dataset, blank, labels, blank, labels, ("no", "yes"))
    setting = make_setting("control")
    row = SettingResult(setting, {"test": runs}, {"test": churn_summary(runs, labels)})
    return Result(Experiment(data, (setting,), runs=2), [row])


def test_the_paper_has_a_number_and_a_choice_for_each_of_its_methods():
    assert len(SINGLE_MODELS) == 10
    assert set(published()) == {(d, m) for d in RECIPES for m in PAPER_METHODS}
    assert papers_choice("knn_ls", "phishing").text == "k=500 a=0.8 b=0.9"
    assert papers_choice("ensemble", "mnist").method.n_members > 1


@pytest.mark.parametrize(
    ("method", "dataset", "message"),
    [
        ("control", "digits", "the paper has no setting for digits; it has for celeba_high"),
        ("knn", "mnist", "no method 'knn'"),
    ],
)
def test_what_the_paper_did_not_choose_is_said(method, dataset, message):
    with pytest.raises(InputError, match=message):
        papers_choice(method, dataset)


def test_the_published_numbers_stand_beside_ours_where_they_are_asked_for(tmp_path):
    assert beside("phishing", "control") == NUMBERS
    assert beside("digits", "control") == ""
    assert NUMBERS in render(result("phishing"), "markdown", beside=PAPERS_COLUMN)
    assert "paper" not in render(result("phishing"), "markdown")
    assert "paper" not in render(result("digits"), "markdown", beside=PAPERS_COLUMN)
    write_report(result("phishing"), tmp_path / "page.html", beside=PAPERS_COLUMN)
    assert NUMBERS in (tmp_path / "page.html").read_text("utf-8")
