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
