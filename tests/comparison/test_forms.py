"""One table in any type and format means the same: its ids, its classes, its numbers."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unchurn import compare
from unchurn.core.errors import InputError


def test_leading_zeros_are_part_of_an_id_and_of_a_class(tmp_path):
    """As numbers, 001 to 150 would be joined with text from 100 on: 51 rows."""
    ids = [f"{i:03}" for i in range(1, 151)]
    pl.DataFrame({"id": ids, "prediction": ["01", "1"] * 75}).write_csv(tmp_path / "b.csv")
    text = pl.DataFrame({"id": ids[::-1], "prediction": ["1", "01"] * 75})
    text.write_parquet(tmp_path / "c.parquet")
    found = compare(tmp_path / "b.csv", tmp_path / "c.parquet")
    assert (found.n, found.estimates["churn"].value) == (150, 0)
    assert found.paired.classes == ("01", "1")
    plain = pl.DataFrame({"id": range(1, 151), "prediction": ["01", "1"] * 75})
    with pytest.raises(InputError, match="only 51 of the 150 rows of base"):
        compare(tmp_path / "b.csv", plain)


def test_spaces_around_classes_are_one_warning_and_no_flips(tmp_path):
    pl.DataFrame({"id": [1, 2], "prediction": ["cat ", " dog"]}).write_csv(tmp_path / "b.csv")
    other = pl.DataFrame({"id": [1, 2], "prediction": ["cat", "dog"]})
    found = compare(tmp_path / "b.csv", other)
    assert found.estimates["churn"].value == 0
    assert found.warnings == (
        "classes have spaces around their names, such as ' dog', which do not count: base",
    )
    assert found.markdown().splitlines()[2].startswith("⚠️ classes have spaces")
    assert compare(other, other).warnings == ()


def test_one_answer_in_every_form(tmp_path, rng):
    """One table in many types and formats: the same numbers from every pair of files."""
    n = 120
    ids, said = rng.permutation(n) + 1, rng.integers(0, 3, n)
    table = {"id": ids, "prediction": said, "label": ids % 3, "group": ids % 2}
    moved = np.where(rng.random(n) < 0.2, (said + 1) % 3, said)
    order = rng.permutation(n)
    second = {"id": ids[order], "prediction": moved[order]}
    expected = _numbers(compare(pl.DataFrame(table), pl.DataFrame(second), slices="group"))
    for kind, write in FORMS.items():
        base, other = (
            write(tmp_path / f"{kind}-{i}", one) for i, one in enumerate((table, second))
        )
        for pair in ((base, other), (base, pl.DataFrame(second)), (pl.DataFrame(table), other)):
            assert _numbers(compare(*pair, slices="group")) == expected, kind


HARD = {
    "beyond floats": [2**53 + i for i in range(40)],
    "beyond narrow floats": [2**24 + i for i in range(40)],
    "leading zeros": [f"{i:03}" for i in range(1, 41)],
    "beyond 64 bits": [str(2**64 + i) for i in range(40)],
    "hexadecimal": [f"{i:x}e{i % 7}" for i in range(40)],
    "versions": [f"{i}.{j}0" for i in range(8) for j in range(5)],
}


@pytest.mark.parametrize("kind", HARD)
def test_ids_that_some_types_cannot_hold_give_the_one_answer_or_none(tmp_path, rng, kind):
    table = {"id": HARD[kind], "prediction": rng.integers(0, 3, 40), "group": [0, 1] * 20}
    order = rng.permutation(40)
    second = {"id": [HARD[kind][i] for i in order], "prediction": rng.integers(0, 3, 40)}
    said = dict(zip(second["id"], second["prediction"], strict=True))
    flips = sum(said[one] != two for one, two in zip(*list(table.values())[:2], strict=True))
    answered = 0
    for name, write in FORMS.items():
        for pair in ("both", "one"):
            try:
                base = write(tmp_path / f"{name}-b", table)
                other = write(tmp_path / f"{name}-c", second) if pair == "both" else second
                found = compare(base, pl.DataFrame(other) if pair == "one" else other)
            except (InputError, OverflowError, ValueError, pl.exceptions.PolarsError):
                continue  # refused, or a form that cannot hold them at all
            assert (found.n, found.estimates["churn"].value) == (40, flips / 40), name
            answered += 1
    assert answered >= len(FORMS) // 2


def _numbers(found):
    values = found.to_dict()
    return {k: values[k] for k in ("n", "churn", "bad_flips", "classes", "slices", "excluded")}


def _csv(change=lambda text: text):
    def write(path, table):
        path = path.with_suffix(".csv")
        path.write_text(change(pl.DataFrame(table).write_csv()))
        return path

    return write


def _cast(kind, suffix=".parquet"):
    def write(path, table):
        frame = pl.DataFrame(table).with_columns(pl.all().cast(kind))
        path = path.with_suffix(suffix)
        {".parquet": frame.write_parquet, ".jsonl": frame.write_ndjson,
         ".feather": frame.write_ipc}[suffix](path)  # fmt: skip
        return path

    return write


def _npz(kind):
    def write(path, table):
        path = path.with_suffix(".npz")
        np.savez(path, **{name: np.asarray(column).astype(kind) for name, column in table.items()})
        return path

    return write


def _zipped(path, table):
    path = path.with_name(f"{path.name}.csv.gz")
    path.write_bytes(gzip.compress(pl.DataFrame(table).write_csv().encode()))
    return path


FORMS = {
    "csv": _csv(),
    "crlf": _csv(lambda text: text.replace("\n", "\r\n")),
    "quoted": _csv(lambda text: "\n".join(
        ",".join(f'"{cell}"' for cell in line.split(",")) for line in text.splitlines())),
    "spaced": _csv(lambda text: text.replace(",", ", ")),
    "bom": _csv(lambda text: "\ufeff" + text),
    "gzip": _zipped,
    **{f"pandas {kind}": lambda path, table, kind=kind: pd.DataFrame(table).astype(kind)
       for kind in ("int64", "Int64", "float64", "str", "object", "category", "int32[pyarrow]")},
    **{f"parquet {kind}": _cast(kind)
       for kind in (pl.Int16, pl.UInt64, pl.Int128, pl.Float32, pl.Float64, pl.String,
                    pl.Decimal(20, 0))},
    "parquet categories": _cast(pl.String),
    "feather": _cast(pl.Int64, ".feather"),
    "jsonl numbers": _cast(pl.Int64, ".jsonl"),
    "jsonl floats": _cast(pl.Float64, ".jsonl"),
    "jsonl text": _cast(pl.String, ".jsonl"),
    **{f"npz {kind}": _npz(kind) for kind in ("int8", "uint64", "float64", "float32", "str", "S")},
}  # fmt: skip
