"""Labels on the flips alone, or on examples drawn by lot: told apart, and what either tells."""

import numpy as np
import polars as pl
import pytest

from unchurn import Columns, compare
from unchurn.comparison.report import words
from unchurn.comparison.result import flipped, write_flipped
from unchurn.core.errors import InputError
from unchurn.metrics.intervals import paired_difference, proportion

N = 100
BASE = np.zeros(N, int)
CANDIDATE = (np.arange(N) < 4).astype(int)  # the first four flip


def frame(predictions, **columns):
    return pl.DataFrame({"id": range(len(predictions)), "prediction": predictions, **columns})


def labelled(*labels):
    """Base with true labels on the first rows."""
    return frame(BASE, label=pl.Series([*labels, *[None] * (N - len(labels))], dtype=pl.Int64))


THREE_BAD_ONE_GOOD = labelled(0, 0, 0, 1)


def test_labels_on_flips_alone_give_rates_of_all_examples():
    """3 of 100 bad and 2 points lost, not 75 % and 50 points of four labels."""
    found = compare(THREE_BAD_ONE_GOOD, frame(CANDIDATE))
    assert found.labels_cover == found.to_dict()["labels_cover"] == "flips"
    assert found.estimates["bad_flips"] == proportion(3, N)
    assert found.estimates["good_flips"] == proportion(1, N)
    assert found.estimates["wrong_to_wrong"] == proportion(0, N)
    assert found.estimates["accuracy_difference"] == paired_difference(1, 3, N)
    assert found.mcnemar == compare(BASE, CANDIDATE, [0, 0, 0, 1, *BASE[4:]]).mcnemar
    unknown = ("accuracy_base", "accuracy_candidate", "churn_correct", "churn_incorrect")
    assert all(found.to_dict()[name] is None for name in unknown)
    assert "Unknown, as only the flips are labelled: accuracy of base, accuracy" in found.markdown()
    assert any("true labels cover the flips (4)" in note for note in found.notes)
    assert "accuracy -2.00 points" in words.headline(found)


def test_the_gate_decides_on_what_is_identified():
    policy = {"max_bad_flips": 0.1, "max_slice_bad_flips": 0.2, "max_slice_accuracy_loss": 0.2}
    slices = {"half": np.arange(N) // 50}  # the second half has neither flip nor label
    found = compare(THREE_BAD_ONE_GOOD, frame(CANDIDATE), slices=slices)
    assert found.gate(policy).decision == "promote"
    assert {one.value: one.bad_flips for one in found.slices} == {
        "0": proportion(3, 50), "1": proportion(0, 50),
    }  # fmt: skip


def test_thresholds_tell_no_accuracy_from_flips_alone(rng):
    p = rng.random(N)
    one, two = (np.column_stack([1 - q, q]) for q in (p, np.clip(p + 0.05, 0, 1)))
    truth = rng.integers(0, 2, N)
    moved = one.argmax(axis=1) != two.argmax(axis=1)
    labels = pl.DataFrame({"id": range(N), "label": truth}).filter(moved)
    tables = [frame([0] * N).drop("prediction").with_columns(p_0=q[:, 0], p_1=q[:, 1])
              for q in (one, two)]  # fmt: skip
    found = compare(*tables, labels)
    assert (found.labels_cover, found.n_labelled) == ("flips", moved.sum())
    assert set(found.thresholds[0]) == {"threshold", "churn"}


def test_all_labels_or_a_sample_by_lot_is_read_as_before(rng):
    truth = rng.integers(0, 2, 2000)
    base, candidate = (np.where(rng.random(2000) < 0.1, 1 - truth, truth) for _ in range(2))
    whole = compare(base, candidate, truth)
    assert whole.labels_cover == "all"
    assert whole.estimates["bad_flips"].value == ((base == truth) & (candidate != truth)).mean()
    some = rng.random(2000) < 0.5
    labels = pl.DataFrame({"id": range(2000), "label": truth}).filter(some)
    sample = compare(frame(base), frame(candidate), labels)
    assert sample.labels_cover == "all"
    assert sample.estimates["accuracy_base"].value == (base == truth)[some].mean()
    assert compare(base, candidate).labels_cover is None


def test_flips_and_a_few_others_labelled_are_no_sample():
    """All of four flips and ten of 96 others: by lot, once in thousands of times."""
    found = compare(labelled(0, 0, 0, 1, *[0] * 10), frame(CANDIDATE))
    assert found.labels_cover == "flips"
    assert found.estimates["bad_flips"].value == 0.03


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (labelled(0, 0, 0), "3 of 4 flips and 0 of 96 others: rates among the labelled"),
        (labelled(0, 0, 0, None, 0, 0), "3 of 4 flips and 2 of 96 others: rates among"),
        (labelled(0, 0, 0, 1, *[0] * 80), "4 of 4 flips and 80 of 96 others: were the flips"),
    ],
)
def test_what_is_ambiguous_and_would_change_the_answer_is_refused(base, message):
    with pytest.raises(InputError, match=message):
        compare(base, frame(CANDIDATE))
    assert compare(base, frame(CANDIDATE), labels_cover="all").labels_cover == "all"


def test_what_is_said_must_be_so():
    with pytest.raises(InputError, match="1 of 4 flips have no true label, and where"):
        compare(labelled(0, 0, 0), frame(CANDIDATE), labels_cover="flips")
    with pytest.raises(InputError, match="say labels_cover= all or flips, not 'some'"):
        compare(THREE_BAD_ONE_GOOD, frame(CANDIDATE), labels_cover="some")
    with pytest.raises(InputError, match="4 of 4 flips have no true label"):
        compare(BASE, CANDIDATE, labels_cover="flips")


def test_nothing_that_flips_needs_no_label():
    same = compare(BASE, BASE, labels_cover="flips")
    assert same.estimates["bad_flips"] == proportion(0, N)
    assert same.gate({"max_bad_flips": 0.1}).decision == "promote"


@pytest.mark.parametrize("names", ["id", "row no"])
def test_the_list_for_the_labeller_goes_straight_back_in(tmp_path, names):
    """Ids and classes that a spreadsheet would calculate, and columns of other names."""
    ids = [f"{'=+@-x'[i % 5]}{i}" for i in range(N)]
    base, candidate = (pl.DataFrame({names: ids, "said": np.array(["=a", "b"])[said]})
                       for said in (BASE, CANDIDATE))  # fmt: skip
    columns = Columns(id=names, prediction="said")
    path = tmp_path / "flips.csv"
    assert write_flipped(compare(base, candidate, columns=columns), path) == 4
    listed = pl.read_csv(path)
    assert listed["label"].null_count() == 4
    with pytest.raises(InputError, match="labels has the label of no example"):
        compare(base, candidate, path, columns=columns)
    truth = {ids[i]: "=a" for i in range(3)} | {ids[3]: "b"}
    filled = [truth[one.removeprefix("'")] for one in listed["id"]]
    listed.with_columns(label=pl.Series([f"'{t}" if t[0] == "=" else t for t in filled])).write_csv(
        path
    )
    found = compare(base, candidate, path, columns=columns)
    assert (found.labels_cover, found.n_labelled) == ("flips", 4)
    assert found.estimates["accuracy_difference"] == paired_difference(1, 3, N)
    assert flipped(found)["kind"].to_list() == ["bad"] * 3 + ["good"]


def test_a_list_of_rows_without_ids_goes_back_by_place(tmp_path):
    path = tmp_path / "flips.csv"
    write_flipped(compare(BASE, CANDIDATE), path)
    pl.read_csv(path).with_columns(label=pl.Series([0, 0, 1, 0])).write_csv(path)
    assert compare(BASE, CANDIDATE, path).estimates["bad_flips"] == proportion(3, N)
    pl.read_csv(path)[:3].write_csv(path)
    with pytest.raises(InputError, match="1 of 4 flips have no true label"):
        compare(BASE, CANDIDATE, path)
    write_flipped(compare(BASE, BASE), path)
    assert compare(BASE, BASE, path).estimates["bad_flips"] == proportion(0, N)
