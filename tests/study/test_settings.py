import pytest

from unchurn import METHODS
from unchurn.core.errors import InputError
from unchurn.methods import KnnLS
from unchurn.paper.published import published
from unchurn.study.settings import PAPERS_STEPS, Setting, make_setting, preset_settings


def test_quick_is_one_setting_a_method():
    settings = preset_settings("quick", "digits", PAPERS_STEPS)
    assert [s.name for s in settings] == list(METHODS)
    assert all(s.method == METHODS[s.name]() for s in settings)


def test_grid_is_all_that_the_paper_tried():
    settings = preset_settings("grid", "digits", PAPERS_STEPS)
    assert len(settings) == 257
    assert len({(s.name, s.text) for s in settings}) == 257
    assert [s.text for s in preset_settings("grid", "digits", 1, ["ensemble"])] == ["m=3", "m=5"]


def test_paper_is_what_its_tables_report():
    settings = {s.name: s for s in preset_settings("paper", "phishing", 1)}
    assert list(settings) == list(METHODS)
    assert settings["knn_ls"].method == KnnLS(k=500, a=0.8, b=0.9)
    assert settings["codistill_ce"].text == "a=0.2 n_warm=2"
    for dataset in {dataset for dataset, _ in published()}:
        preset_settings("paper", dataset, 1)
    with pytest.raises(InputError, match="the paper has no setting for digits; it has for celeba"):
        preset_settings("paper", "digits", 1)


def test_published_numbers_are_those_of_the_paper():
    assert len(published()) == 6 * 11
    row = published()["svhn", "knn_ls"]
    assert (row.mean["accuracy"], row.sd["churn"]) == (88.98, 0.28)
    assert published()["mnist", "ensemble"].mean["churn"] == 0.94


def test_a_warm_up_keeps_its_share_of_a_short_training():
    short = preset_settings("grid", "digits", PAPERS_STEPS // 10, ["codistill_kl"])
    assert {s.method.n_warm for s in short} == {100, 200}
    long = preset_settings("grid", "digits", 10 * PAPERS_STEPS, ["codistill_kl"])
    assert {s.method.n_warm for s in long} == {1000, 2000}


def test_text_names_the_papers_parameters_and_unusual_others():
    assert make_setting("knn_ls", k=5).text == "k=5 a=0.9 b=0.9"
    assert make_setting("anchor", fixed_reference=False).text == "a=0.9 fixed_reference=0"
    assert Setting("control", METHODS["control"]()).text == ""


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_setting("knn"), "no method 'knn': there are control"),
        (lambda: make_setting("mixup", k=3), "mixup has no parameter 'k': it has a"),
        (lambda: preset_settings("fast", "digits", 1), "no preset 'fast'"),
        (lambda: preset_settings("quick", "digits", 1, ["knn"]), "no method 'knn'"),
        (lambda: preset_settings("grid", "digits", 1, ["knn"]), "no method 'knn'"),
        (lambda: preset_settings("paper", "mnist", 1, ["knn"]), "no method 'knn'"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
