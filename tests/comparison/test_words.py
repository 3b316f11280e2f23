"""A comparison in words: sentences, and any name shown as it is."""

import re

import numpy as np
import polars as pl

from unchurn import compare
from unchurn.comparison.report import words
from unchurn.gate.verdict import Check, Verdict, held_against
from unchurn.metrics.intervals import Interval


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


def test_a_flip_in_thousands_is_not_shown_as_none():
    base, candidate = np.zeros(200_000, int), np.zeros(200_000, int)
    base[1:3] = candidate[1:3] = 1
    candidate[10:17] = 1  # Wilson's interval and Tango's, by hand
    found = compare(base, candidate, base, slices={"all": ["yes"] * 200_000})
    said = words.headline(found)
    assert said.startswith("0.0035% of 200,000 predictions change (0.0017% to 0.007%)")
    assert said.endswith("accuracy -0.0035 points (-0.007 to -0.0016): 0 good flips, 7 bad.")
    text = found.markdown()
    assert "| good flips (wrong → right) | 0.00% | 0.00% to 0.0018% |" in text
    assert re.search(r"\| all=yes \| 200,000 \| 0\.0035% .* \| -0\.0035 \|", text)
    reason = found.gate(max_churn=0.0001).checks[0].reason
    assert reason == "0.0035% [0.0017%, 0.007%], limit 0.01%: the interval lies inside"


def test_a_file_against_itself_is_doubted(tmp_path):
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
    asked = {"columns": {"prediction": "v1"}}
    verdict = compare(tmp_path / "w.csv", tmp_path / "link.csv", **asked).gate({"max_churn": 1.0})
    assert [(c.name, c.decision) for c in verdict.checks] == [
        ("churn", "promote"),
        ("itself", "hold"),
    ]
    copy = compare(tmp_path / "w.csv", tmp_path / "copy.csv", **asked)
    assert copy.gate({"max_churn": 1.0}).decision == "promote"


def test_one_flip_is_no_flips():
    said = words.headline(compare(["a", "b"], ["b", "b"], ["b", "b"]))
    assert said.endswith("): 1 good flip, 0 bad.")


def sliced_verdict(decisions):
    """A check for each slice, by how far it is beyond its limit; and one on all examples."""
    checks = [Check("bad_flips", "hold", "open", Interval(0.01, 0.01, 0.02), 0.01)]
    for number, decision in enumerate(decisions):
        found = Interval(0.1 + number / 10_000, 0.0, 0.3)
        name = f"slice_churn of shop=<{number}>"
        checks.append(held_against(name, decision, "the data leave it open " * 9, found, 0.1))
    return Verdict(tuple(checks))


def test_markdown_of_any_number_of_slices_fits_a_comment():
    """GitHub refuses a comment of more than 65,536 characters."""
    result = compare(np.zeros(4, int), [0, 0, 0, 1])
    verdict = sliced_verdict(["promote"] * 800 + ["hold"] * 800 + ["reject"] * 50)
    text = result.markdown(verdict)
    assert len(text) < 40_000
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| slice")]
    assert rows[0] == r"slice\_churn of shop=&lt;1649&gt;"
    listed = [line for line in text.split("<details>")[0].splitlines() if "⏸️ hold" in line]
    assert rows.index(r"slice\_churn of shop=&lt;1600&gt;") == 49  # rejected, behind it held
    assert "bad" in listed[0]  # on all examples, before those of slices
    assert listed[1].startswith(r"| slice\_churn of shop=&lt;1599&gt;")
    told = [
        int(n.replace(",", "")) for n in re.findall(r"^and ([\d,]+) more: see --json$", text, re.M)
    ]
    assert len(rows) + sum(told) == 1650
    few = result.markdown(sliced_verdict(["promote"] * 5 + ["hold"] * 30))
    assert "more: see --json" not in few
    assert few.count("| slice") == 35


def test_markdown_of_names_of_any_length_fits_a_comment():
    names = np.array([f"{number} {'x' * 9000}" for number in range(12)])
    text = compare(names, np.roll(names, 1)).markdown()
    assert len(text) < 65_536
    assert text.endswith("The rest has no room: see --json.\n")
    assert "100.00% of 12 predictions change" in text
