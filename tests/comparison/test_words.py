"""A comparison in words: sentences, and any name shown as it is."""

from unchurn import compare
from unchurn.comparison import words


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
