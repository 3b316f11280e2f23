"""What a column holds, whatever its type: ids, labels, slices; taken, or refused by name."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unchurn import compare
from unchurn.comparison.inputs.columns import Columns
from unchurn.comparison.inputs.predictions import read_labels, read_predictions
from unchurn.core.errors import InputError


def ids_of(values):
    table = pl.DataFrame({"id": values, "prediction": [0] * len(values)})
    return read_predictions(table, "m", Columns()).ids.to_list()


def labels_of(values):
    return read_labels(values, "m", Columns()).labels.to_list()


@pytest.mark.parametrize(
    ("kind", "first_lost"), [(pl.Float64, 2**53), (pl.Float32, 2**24), (pl.Float16, 2**11)]
)
def test_floats_are_ids_as_far_as_they_are_exact(kind, first_lost):
    assert ids_of(pl.Series([1.0, first_lost - 1], dtype=kind)) == [1, first_lost - 1]
    for number in (first_lost, -first_lost, first_lost * 8):
        with pytest.raises(InputError, match=f"ids in column 'id' are {kind}, which is exact only"):
            ids_of(pl.Series([1.0, number], dtype=kind))


@pytest.mark.parametrize("write", [lambda x: f"{x}.0", lambda x: f"{float(x):.17e}"])
def test_floats_in_a_text_are_ids_as_far_as_they_are_exact(tmp_path, write):
    path = tmp_path / "p.csv"
    path.write_text(f"id,prediction\n{write(2**53 - 1)},0\n{write(1)},0\n")
    assert read_predictions(path, "m", Columns()).ids.to_list() == [2**53 - 1, 1]
    path.write_text(f"id,prediction\n{write(2**60)},0\n{write(1)},0\n")
    with pytest.raises(InputError, match="which is exact only up to 9,007,199,254,740,992"):
        read_predictions(path, "m", Columns())


def test_files_without_a_common_id_do_not_pair_by_rounding():
    """What 10,000 ids beyond 2⁵³ did: as floats, those of one file are those of the other."""
    ids = 2**60 + 4096 * np.arange(10_000)
    base, other = (
        pl.DataFrame({"id": pl.Series(own).cast(pl.Float64), "prediction": 0})
        for own in (ids, ids + 1)
    )
    with pytest.raises(InputError, match="base: ids in column 'id' are Float64"):
        compare(base, other)


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_nan_is_no_id(frame, tmp_path):
    table = {"id": [1.0, float("nan")], "prediction": [0, 1]}
    with pytest.raises(InputError, match="m: 1 rows have no id, first row 1"):
        read_predictions(frame(table), "m", Columns())
    np.savez(tmp_path / "p.npz", **{name: np.array(column) for name, column in table.items()})
    with pytest.raises(InputError, match="1 rows have no id"):
        read_predictions(tmp_path / "p.npz", "m", Columns())


def test_pandas_whole_numbers_beside_gaps_keep_their_digits():
    table = pd.DataFrame({"id": pd.array([2**60 + 1, 2**60 + 2, None], dtype="Int64"),
                          "prediction": ["a", "b", None]})  # fmt: skip
    assert read_predictions(table, "m", Columns()).ids.to_list() == [2**60 + 1, 2**60 + 2]


WHEN = [dt.datetime(2024, 3, 1, 12), dt.datetime(2024, 3, 1, 12, 0, 0, 250_000)]
BERLIN = pl.Series(WHEN).dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin")
# Values of many types, and what they are read as.
TYPES = {
    "decimal": (pl.Series([Decimal("1.00"), Decimal("20.00")]), [1, 20]),
    "decimal with fractions": (pl.Series([Decimal("1.50"), Decimal("2.25")]), ["1.50", "2.25"]),
    "128 bits": (pl.Series([2**100, 1], dtype=pl.Int128), [str(2**100), "1"]),
    "128 bits that 64 hold": (pl.Series([2, 1], dtype=pl.Int128), [2, 1]),
    "categorical": (pl.Series(["b", "a"], dtype=pl.Categorical), ["b", "a"]),
    "categorical numbers": (pl.Series(["2", "1"], dtype=pl.Categorical), [2, 1]),
    "enum": (pl.Series(["b", "a"], dtype=pl.Enum(["a", "b"])), ["b", "a"]),
    "instants": (pl.Series(WHEN, dtype=pl.Datetime("ns")),
                 ["2024-03-01 12:00:00", "2024-03-01 12:00:00.250"]),
    "instants of a zone": (BERLIN,
                           ["2024-03-01 12:00:00+00:00", "2024-03-01 12:00:00.250+00:00"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
def test_newer_types_are_taken(kind):
    values, expected = TYPES[kind]
    assert ids_of(values) == expected
    assert labels_of(pl.DataFrame({"label": values})) == expected
    table = pl.DataFrame({"prediction": ["x", "y"], "slice": values})
    found = compare(table, table, slices="slice", min_slice=1)
    as_slices = ["1.00", "20.00"] if kind == "decimal" else [str(one) for one in expected]
    assert sorted(one.value for one in found.slices) == sorted(as_slices)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_an_instant_is_one_id_whatever_its_unit_and_zone(unit):
    base = pl.DataFrame({"id": BERLIN, "prediction": [0, 1]})
    kind = pl.Datetime(unit, "UTC")
    other = pl.DataFrame({"id": BERLIN.cast(kind).reverse(), "prediction": [1, 0]})
    assert compare(base, other).estimates["churn"].value == 0


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pl.Series([dt.timedelta(1), dt.timedelta(2)]), "Duration"),
        (pl.Series([[1], [2]]), "List"),
        (pl.Series([{"a": 1}, {"a": 2}]), "Struct"),
        (pl.Series([object(), object()], dtype=pl.Object), "Object"),
    ],
)
def test_other_types_are_refused_by_name(values, kind):
    with pytest.raises(InputError, match=rf"m: column 'id' is {kind}.*, no ids"):
        ids_of(values)
    with pytest.raises(InputError, match=rf"m: column 'label' is {kind}.*, no labels"):
        labels_of(pl.DataFrame({"label": values}))
    table = pl.DataFrame({"prediction": ["x", "y"], "s": values})
    with pytest.raises(InputError, match=rf"column 's' is {kind}.*, no slices"):
        compare(table, table, slices="s")


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["b", "a"], dtype="category"),
        pd.Series(["b", "a"], dtype="string"),
        pd.Series(["b", "a"], dtype="string[pyarrow]"),
        pd.Series(["b", "a"], dtype=object),
    ],
)
def test_pandas_types_are_taken(values):
    frame = pd.DataFrame({"id": values, "label": values, "s": values})
    assert read_labels(frame, "m", Columns()).ids.to_list() == ["b", "a"]
    assert labels_of(values) == ["b", "a"]
    assert compare(frame, frame, columns=Columns(prediction="label"), slices="s").n == 2


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.Series([Decimal("1"), Decimal("2")]), [1, 2]),
        (pd.Series([1, 2], dtype="int64[pyarrow]"), [1, 2]),
        (pd.Series([1.0, 2.0], dtype="double[pyarrow]"), [1, 2]),
        (pd.Series([2**70, 1], dtype=object), [str(2**70), "1"]),
        (pd.Series([2**200, 1], dtype=object), [str(2**200), "1"]),
    ],
)  # fmt: skip
def test_pandas_numbers_are_taken(values, expected):
    assert labels_of(values) == expected


@pytest.mark.parametrize("kind", ["period", "interval", "complex"])
def test_pandas_other_types_are_refused(kind):
    values = {
        "period": pd.Series(pd.period_range("2024", periods=2)),
        "interval": pd.Series(pd.interval_range(0, 2)),
        "complex": pd.Series([1 + 2j, 3j]),
    }[kind]
    with pytest.raises(InputError, match=r"no labels|cannot be read"):
        labels_of(values)


def test_integers_beyond_every_type_are_text(tmp_path):
    numbers = [2**64 + 1, 2**200, 7]
    path = tmp_path / "p.csv"
    path.write_text("id,prediction\n" + "".join(f"{one},0\n" for one in numbers))
    found = read_predictions(path, "m", Columns())
    assert found.ids.to_list() == [str(one) for one in numbers]
    assert labels_of(numbers) == [str(one) for one in numbers]


@pytest.mark.parametrize("code", [0x110000, 0x7FFFFFFF, 0xD800])
def test_text_beyond_unicode_is_refused(tmp_path, code):
    odd = np.array(["ab", "cd"])
    odd.view(np.uint32)[1] = code
    np.savez(tmp_path / "p.npz", prediction=odd)
    with pytest.raises(InputError, match=r"p\.npz: its text holds what is no letter of Unicode"):
        read_predictions(tmp_path / "p.npz", "m", Columns())


@pytest.mark.parametrize("name", ["①", "²", "1" * 5000, "٣"])
def test_classes_of_odd_digits_are_names(name):
    table = pl.DataFrame({f"p_{name}": [0.5, 0.1], "p_0": [0.5, 0.9]})
    assert read_predictions(table, "m", Columns()).predicted.cast(pl.String).to_list() == ["0", "0"]
