import pytest

import toys
from unchurn.paper.experiments import experiments
from unchurn.paper.page import page
from unchurn.paper.records import keep, read_all
from unchurn.paper.tables import table, trial_table

pytestmark = pytest.mark.usefixtures("small_phishing")


@pytest.fixture
def variants(tmp_path):
    """Two of the splits that are tried; k=500 needs more rows than these and fails."""
    found = experiments("trial-split", "phishing", runs=2, epochs=1)
    for name, experiment in list(found.items())[:2]:
        keep(tmp_path / "r", name, "trial-split", toys.carry_out(experiment, tmp_path), "command")
    return read_all(tmp_path / "r")


def test_every_row_says_what_is_less_than_in_the_paper(variants):
    heading, _, control, *_ = table(variants[0]).splitlines()
    assert heading.endswith("| within 2 sd | only |")
    assert control.endswith(" of 7,406 train, 99 of 3,649 test, "
                            "1 of 20 epochs, 2 of 5 runs |")  # fmt: skip


def test_variants_stand_under_each_other_setting_by_setting(variants):
    _, _, *rows = trial_table(variants).splitlines()
    settings = [tuple(cell.strip() for cell in row.split("|")[1:3]) for row in rows if "|" in row]
    assert settings == [
        ("control", "split0"),
        ("control", "split1"),
        ("label_smoothing", "a=0.8 split0"),
        ("label_smoothing", "a=0.8 split1"),
        ("knn_ls", "k=500 a=0.8 b=0.9 split0"),
        ("knn_ls", "k=500 a=0.8 b=0.9 split1"),
    ]
    assert "failed: run 0: k=500 is more than" in rows[4]
    assert all("1 of 20 epochs" in row for row in rows[:4])


def test_part_of_a_trial_stands_beside_the_whole_of_it(variants, tmp_path):
    found = experiments("trial-split", "phishing", runs=2, epochs=1, methods=["control"])
    name, experiment = next(iter(found.items()))
    result = toys.carry_out(experiment, tmp_path)
    keep(tmp_path / "r", name, "trial-split", result, "command --methods control")
    text = page(tmp_path / "r")
    assert "\n`command`\n" in text
    assert "\n`command --methods control`\n" in text
    assert "In ten seconds" not in text  # that needs Table 1


def test_fewer_epochs_are_less_only_where_all_variants_have_fewer(tmp_path):
    found = experiments("trial-epochs", "phishing", runs=2, methods=["control"])
    for name, experiment in list(found.items())[1:3]:
        keep(tmp_path / "r", name, "trial-epochs", toys.carry_out(experiment, tmp_path), "command")
    text = trial_table(read_all(tmp_path / "r"))
    assert "phishing: mlp; 10 epochs, 20 epochs; 2 runs" in text
    assert "of 20 epochs" not in text
    assert "2 of 5 runs" in text


def test_every_variant_says_how_many_examples_it_has(tmp_path):
    for n in (50, 60):
        (experiment,) = experiments(
            "table1", "phishing", runs=2, epochs=1, subset=n, methods=["control"]
        ).values()
        result = toys.carry_out(experiment, tmp_path)
        keep(tmp_path / "r", f"trial-size-phishing-{n}", "trial-size", result, "command")
    text = trial_table(read_all(tmp_path / "r"))
    _, _, few, more, *_ = text.splitlines()
    assert "50 of 7,406 train, " in few
    assert "60 of 7,406 train, " in more
    assert "50 or 60 training and 99 test examples" in text
