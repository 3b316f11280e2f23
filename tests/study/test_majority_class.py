"""Where nearly all rows are of one class, accuracy says little: that is said."""

import numpy as np

import toys
from unchurn.study.design.settings import make_setting

SAID = "Note: always answering &#39;no&#39; has 90.0% of the test rows right: hold accuracy against"


def page(labels, path):
    result = toys.result([(make_setting("control"), np.tile(labels, (3, 1)))], labels)
    result.report(path)
    return path.read_text()


def test_a_page_says_what_the_commonest_class_alone_has_right(tmp_path):
    rare = np.arange(100) >= 90
    assert SAID in page(rare.astype(int), tmp_path / "page.html")
    assert "always answering" not in page(np.arange(100) % 2, tmp_path / "other.html")


def advised(labels, n_wrong):
    """The advice of three runs that are wrong on the first rows."""
    wrong = np.where(np.arange(len(labels)) < n_wrong, 1 - labels, labels)
    result = toys.result([(make_setting("control"), np.tile(wrong, (3, 1)))], labels)
    return result.advice


def test_advice_says_that_one_answer_for_all_has_more_right():
    """As where the rule has turned since what was trained on: 30 % right of two classes."""
    labels = (np.arange(500) % 5 > 2).astype(int)
    said = " But always answering 'no' has 60.00% of the test rows right, more than any of these."
    assert advised(labels, n_wrong=350).endswith(said)
    assert "always answering" not in advised(labels, n_wrong=205)  # 59 %: that may be chance
    assert "always answering" not in advised(labels, n_wrong=100)
