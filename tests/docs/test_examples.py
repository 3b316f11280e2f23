"""Every example runs from start to end, warnings being errors, and shows what it claims.

docs/gallery.md shows each with an output that claims the same.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
GALLERY = (Path(__file__).parents[2] / "docs/gallery.md").read_text("utf-8")


def numbers(text: str, pattern: str) -> list[float]:
    """The numbers that a pattern's groups find, which must be there."""
    found = re.search(pattern, text)
    assert found is not None, text
    return [float(number) for number in found.groups()]


def an_upgrade_breaks_less(said):
    """Less churn, fewer bad flips than training anew, at about its accuracy; and it is let in."""
    line = r": accuracy \S+ → (\S+)%, churn (\S+)%, bad flips (\S+)%: {}"
    anew, upgraded = (
        numbers(said, name + line.format(decision))
        for name, decision in (("trained anew", "hold"), ("upgraded", "promote"))
    )
    assert upgraded[0] > anew[0] - 1
    assert upgraded[1] < anew[1]
    assert upgraded[2] < anew[2]


def a_network_breaks_less_of_what_trees_had_right(said):
    line = r": accuracy (\S+)%, bad flips (\S+)%"
    anew, upgraded = (numbers(said, name + line) for name in ("trained anew", "upgraded"))
    assert upgraded[0] > anew[0] - 0.5
    assert upgraded[1] < anew[1]


def a_recipe_breaks_less_from_release_to_release(said):
    row = r"(?m)^\| {} \|[^|]*\|[^|]*\| \D*(\d+\.\d+)"
    (control,), (steadier,) = (
        numbers(said, row.format(name)) for name in ("control", r"warm_start\+anchor\+safe_ema")
    )
    assert steadier < control
    for day in ("2024-04-30", "2024-06-29", "2024-08-28", "2024-10-27", "2024-12-26"):
        assert said.count(f"  {day}  ") == 2  # releases of each


def three_boosters_churn_less_than_one(said):
    cell = r"(?m)^{} .*?\d+\.\d+ \(\d\.\d+\) +\*?(\d\.\d+) \("
    (control,), (smoothed,), (ensemble,) = (
        numbers(said, cell.format(name)) for name in ("control", "label_smoothing", "ensemble")
    )
    assert ensemble < control < smoothed


def the_picture_is_drawn(said):
    assert "The same as a picture: demo/doubtful_digits.png" in said


def retrainings_of_ones_own_table_are_counted(said):
    assert "Dataset wine: 133 train + 45 test" in said
    assert "ChurnSummary of 3 runs on 45 examples" in said
    assert numbers(said, r"accuracy +(\S+) %")[0] > 90
    first, right, n = re.search(r"saved model.* (\w+) first; (\d+) of (\d+) right", said).groups()
    assert first.startswith("class_")
    assert int(right) > 0.9 * int(n)


def ones_own_network_learns(said):
    n, right, wrong, bad, good, other = numbers(said, r"Flips\(" + ", ".join([r"\w+=(\d+)"] * 6))
    assert right > 0.9 * n
    assert right + wrong + bad + good + other == n == 594


def a_search_finds_a_setting(said):
    assert "'model__method__a': " in said
    assert numbers(said, r"accuracy: (\S+)")[0] > 0.9


def the_gate_tells_candidates_apart(said):
    assert "retrained: promote" in said
    assert re.search(r"broken.*: reject", said)


def the_default_churns_less_than_plain_training(said):
    line = r"{} +{} +(\S+)% accurate, (\S+)% churn"
    for data in ("phishing", "digits"):
        plain, default = (
            numbers(said, line.format(data, name)) for name in ("plain training", "the default")
        )
        assert default[0] > plain[0] - 0.1
        assert default[1] < plain[1]


CLAIMS = {
    "boosted_trees.py": three_boosters_churn_less_than_one,
    "doubtful_digits.py": the_picture_is_drawn,
    "own_csv.py": retrainings_of_ones_own_table_are_counted,
    "own_network.py": ones_own_network_learns,
    "pipeline.py": a_search_finds_a_setting,
    "release_gate.py": the_gate_tells_candidates_apart,
    "replay.py": a_recipe_breaks_less_from_release_to_release,
    "steady_by_default.py": the_default_churns_less_than_plain_training,
    "upgrade.py": an_upgrade_breaks_less,
    "upgrade_from_trees.py": a_network_breaks_less_of_what_trees_had_right,
}


def run(folder: Path, name: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_examples_are_tried():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(CLAIMS)


@pytest.mark.parametrize("name", CLAIMS)
def test_example(tmp_path, name):
    said = run(tmp_path, name)
    CLAIMS[name](said)
    shown = re.findall(rf"^\$ python examples/{name}\n(.*?)^```", GALLERY, re.DOTALL | re.MULTILINE)
    assert len(shown) == 1
    CLAIMS[name](shown[0])
    assert lines_begin(shown[0]) == lines_begin(said), "python docs/walkthrough.py docs/gallery.md"
    assert f"```{{literalinclude}} ../examples/{name}\n" in GALLERY


def lines_begin(text: str) -> list[str]:
    """The first word of every line: numbers may differ from machine to machine."""
    return [re.sub(r"\d+", "#", line.split()[0]) for line in text.splitlines() if line.strip()]
