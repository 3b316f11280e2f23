"""Files of predictions: what a bench wrote goes with the next, what is anybody's own stays."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import toys
from unchurn import bench, make_setting
from unchurn.core.errors import InputError
from unchurn.study.results.predictions import write_predictions
from unchurn.study.results.result import Result


def study(rng, runs):
    predictions = rng.integers(0, 2, (runs, 20))
    return toys.result([(make_setting("control"), predictions)], rng.integers(0, 2, 20))


def names(folder):
    return sorted(path.name for path in folder.glob("*.parquet"))


def test_only_what_a_bench_wrote_itself_goes(tmp_path, rng):
    own = tmp_path / "control-7.parquet"  # named as a bench would, but nobody's record names it
    own.write_bytes(b"mine")
    write_predictions(study(rng, 4), tmp_path)
    (tmp_path / "control-3.parquet").write_bytes(b"mine by now")
    write_predictions(study(rng, 2), tmp_path)
    assert names(tmp_path) == [f"control-{run}.parquet" for run in (0, 1, 3, 7)]
    assert own.read_bytes() == b"mine"
    assert (tmp_path / "control-3.parquet").read_bytes() == b"mine by now"


def test_a_file_of_ones_own_in_the_way_is_refused_and_nothing_is_written(tmp_path, rng):
    own = tmp_path / "control-1.parquet"
    own.write_bytes(b"mine")
    with pytest.raises(InputError, match=r"control-1\.parquet is not this bench's own: move it"):
        write_predictions(study(rng, 2), tmp_path)
    assert own.read_bytes() == b"mine"
    assert list(tmp_path.iterdir()) == [own]


def test_a_link_in_the_way_is_not_written_through(tmp_path, rng):
    mine = tmp_path / "mine.parquet"
    mine.write_bytes(b"mine")
    folder = tmp_path / "predictions"
    folder.mkdir()
    (folder / "control-0.parquet").symlink_to(mine)
    with pytest.raises(InputError, match="is not this bench's own"):
        write_predictions(study(rng, 2), folder)
    assert mine.read_bytes() == b"mine"


def test_nothing_is_removed_through_a_linked_folder(tmp_path, rng):
    real = tmp_path / "real"
    real.mkdir()
    (real / "control-9.parquet").write_bytes(b"mine")
    link = tmp_path / "predictions"
    link.symlink_to(real)
    write_predictions(study(rng, 3), link)
    with pytest.raises(InputError, match=r"is a link: remove control-2\.parquet there yourself"):
        write_predictions(study(rng, 2), link)
    assert names(real) == [f"control-{run}.parquet" for run in (0, 1, 2, 9)]


def test_a_kill_in_between_leaves_nothing_that_stays_for_ever(tmp_path, rng, monkeypatch):
    """Killed at the fourth file, the third is known as a bench's to the next."""
    write_predictions(study(rng, 2), tmp_path)
    written = []

    def killed(path, content):
        written.append(path)
        if len(written) == 4:
            raise KeyboardInterrupt
        with path.open("wb") as file:
            file.write(content)

    monkeypatch.setattr("pathlib.Path.write_bytes", killed)
    with pytest.raises(KeyboardInterrupt):
        write_predictions(study(rng, 5), tmp_path)
    monkeypatch.undo()
    assert "control-2.parquet" in names(tmp_path)
    write_predictions(study(rng, 2), tmp_path)
    assert names(tmp_path) == ["control-0.parquet", "control-1.parquet"]


@pytest.mark.parametrize(
    "record", ["no JSON", "[1]", '{"../mine.parquet": null, "notes.txt": null}', "[" * 100_000]
)
def test_a_record_that_cannot_be_a_benchs_removes_nothing(tmp_path, rng, record):
    (tmp_path / "mine.parquet").write_bytes(b"mine")
    folder = tmp_path / "predictions"
    folder.mkdir()
    (folder / "notes.txt").write_bytes(b"mine")
    (folder / "written.json").write_text(record)
    write_predictions(study(rng, 2), folder)
    assert (tmp_path / "mine.parquet").exists()
    assert (folder / "notes.txt").exists()


def test_what_is_written_is_what_was_predicted(tmp_path, rng):
    result = study(rng, 2)
    write_predictions(result, tmp_path)
    table = pl.read_parquet(tmp_path / "control-1.parquet")
    said = np.array(result.subject.data.classes)[result.settings[0].predictions["test"][1]]
    assert table["prediction"].to_list() == said.tolist()
    assert table["id"].to_list() == list(range(20))


@pytest.mark.parametrize("values", [[1, 2, 10], [1.0, 2.0, 10.0], ["a", "b", "c"]])
def test_what_is_written_is_of_the_type_of_the_target(tmp_path, values):
    table = toys.frame(120).drop("row")
    table = table.with_columns(y=table["y"].replace_strict(["a", "b", "c"], values))
    bench(table, "control", target="y", runs=2, epochs=1, workers=1, out=tmp_path)
    Result.load(tmp_path).save(tmp_path / "again")
    for folder in (tmp_path, tmp_path / "again"):
        said = pl.read_parquet(folder / "predictions/control-0.parquet")
        assert said["prediction"].dtype == said["label"].dtype == table["y"].dtype
        assert set(said["label"]) == set(values)


def test_the_models_that_runs_are_held_against_are_there(tmp_path, rng):
    """Once, where all methods have the same; else by method."""
    settings = [make_setting("control"), make_setting("mixup")]
    found = toys.result(
        [(s, rng.integers(0, 2, (2, 20))) for s in settings], rng.integers(0, 2, 20)
    )

    def held_against(*bases):
        rows = [
            replace(one, runs={part: replace(r, base=base) for part, r in one.runs.items()})
            for one, base in zip(found.settings, bases, strict=True)
        ]
        return replace(found, settings=rows)

    base, other = rng.integers(0, 2, (2, 2, 20))
    runs = [f"{method}-{run}.parquet" for method in ("control", "mixup") for run in (0, 1)]
    write_predictions(held_against(base, base), tmp_path)
    assert names(tmp_path) == ["base-model-0.parquet", "base-model-1.parquet", *runs]
    classes = np.array(found.subject.data.classes)
    said = pl.read_parquet(tmp_path / "base-model-1.parquet")["prediction"].to_list()
    assert said == classes[base[1]].tolist()
    write_predictions(held_against(base, other), tmp_path)
    assert names(tmp_path) == sorted([*(f"base-model-of-{name}" for name in runs), *runs])
    said = pl.read_parquet(tmp_path / "base-model-of-mixup-0.parquet")["prediction"].to_list()
    assert said == classes[other[0]].tolist()
