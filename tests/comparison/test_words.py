"""A comparison in words: sentences, and any name shown as it is."""

import numpy as np
import polars as pl

from unchurn import compare
from unchurn.comparison.report import words


def test_markdown_shows_any_name_as_text():
    evil = "<img src=x onerror=alert(1)>|*b*"
    result = compare([evil, "a"], ["a", "a"], [evil, "a"])
    text = words.markdown(result)
    assert "<img" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;\\|\\*b\\*" in text
    assert words.headline(result).startswith("50.00% of 2 predictions change")


def test_it_prints_as_a_sentence_and_in_a_notebook_as_tables():
    found = compare(["cat", "dog"], ["cat", "eel"])
    assert repr(found).startswith("50.00% of 2 predictions change")
    assert "| churn | 50.00% |" in found._repr_markdown_()


def test_the_headline_says_how_many_have_a_label():
    base, candidate = np.zeros(200, int), np.zeros(200, int)
    candidate[:20] = 1  # of which 4 are labelled, and 36 of the others
    truth = np.where(np.arange(200) % 5 == 0, 0.0, np.nan)
    said = words.headline(compare(base, candidate, truth))
    assert said.startswith("10.00% of 200 predictions change (")
    assert "; on the 40 with a true label, accuracy -10.00 points (" in said
    assert said.endswith("): 0 good flips, 4 bad.")
    assert "with a true label" not in words.headline(compare(base, candidate, base))


def test_a_file_against_itself_is_warned_of(tmp_path):
    wide = pl.DataFrame({"id": [1, 2], "v1": ["a", "b"], "v2": ["a", "a"]})
    wide.write_csv(tmp_path / "w.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "w.csv")
    (tmp_path / "copy.csv").write_bytes((tmp_path / "w.csv").read_bytes())
    warning = "base and candidate are one file, and one column of it (v1): nothing can flip"

    def warnings(other, asked):
        return compare(tmp_path / "w.csv", str(tmp_path / other), columns=asked).warnings

    assert warnings("w.csv", {"prediction": "v1"}) == (warning,)
    assert warnings("link.csv", {"prediction": "v1"}) == (warning,)
    assert warnings("w.csv", {"prediction": "v1,v2"}) == ()
    assert warnings("copy.csv", {"prediction": "v1"}) == ()


def test_one_flip_is_no_flips():
    said = words.headline(compare(["a", "b"], ["b", "b"], ["b", "b"]))
    assert said.endswith("): 1 good flip, 0 bad.")
