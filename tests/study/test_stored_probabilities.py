"""Files of predictions have what the runs said, as probabilities, for `blend` and whoever else."""

import numpy as np
import polars as pl
import pytest

import toys
from unchurn import bench, blend, load_table
from unchurn.core.errors import InputError
from unchurn.methods import LabelSmoothing
from unchurn.study.api import make_experiment
from unchurn.study.design.schedule import make_schedule
from unchurn.study.results.stored_probabilities import StoredProbabilities
from unchurn.study.scenarios import Upgrade
from unchurn.study.trainings.store import Store

SHORT = {"runs": 2, "epochs": 2, "batch_size": 16, "workers": 1}
CLASSES = ["a", "b", "c"]


def dated():
    table = toys.frame(240).drop("row")
    return table.with_columns(day=np.arange(table.height) // 60)


def said_in(path):
    return pl.read_parquet(path).select(pl.col("^probability_.*$"))


@pytest.mark.parametrize(
    ("scenario", "methods"),
    [
        ("retrain", "control, ensemble(m=2)"),
        ("upgrade", "control, stay(ratio=1)+safe_ema"),
        ("replay(time='day', every=1)", "control, warm_start+anchor(a=0.5)"),
        # Of more than five settings the winner is trained again: what it said then is written.
        ("retrain", ["control", *(LabelSmoothing(a / 10) for a in range(6))]),
    ],
)
def test_the_most_probable_class_is_what_is_predicted(tmp_path, scenario, methods):
    bench(dated(), methods, target="y", scenario=scenario, out=tmp_path, **SHORT)
    files = sorted((tmp_path / "predictions").glob("*.parquet"))
    assert len(files) >= 4
    for file in files:
        said, predicted = said_in(file), pl.read_parquet(file)["prediction"].to_list()
        assert said.columns == [f"probability_{name}" for name in CLASSES]
        assert np.allclose(said.to_numpy().sum(axis=1), 1, atol=1e-5)
        assert [CLASSES[c] for c in said.to_numpy().argmax(axis=1)] == predicted


def test_an_ensemble_says_the_mean_of_its_members(tmp_path):
    bench(dated(), "ensemble(m=2)", target="y", out=tmp_path, **SHORT)
    runs = [np.load(path) for path in tmp_path.glob("runs/*/test.npy")]
    said = said_in(tmp_path / "predictions/ensemble-0.parquet").to_numpy()
    means = [(one.astype(float) + two) / 2 for one in runs for two in runs if one is not two]
    assert any(np.array_equal(said, mean) for mean in means)


def test_of_a_given_base_it_is_what_was_given(tmp_path, rng):
    """And two such files are all that `blend` needs."""
    table = toys.frame(240).rename({"row": "id"})
    given = pl.DataFrame({"id": table["id"]}).with_columns(
        pl.DataFrame(rng.dirichlet(np.ones(3), 240), schema=[f"proba_{name}" for name in CLASSES])
    )
    before = Upgrade(base=given, id="id")
    bench(table, "control", target="y", scenario=before, out=tmp_path, **SHORT)
    old, new = (tmp_path / f"predictions/{name}-1.parquet" for name in ("base-model", "control"))
    theirs = pl.read_parquet(old).join(given, on="id", maintain_order="left")
    for name in CLASSES:
        assert theirs[f"probability_{name}"].to_numpy() == pytest.approx(
            theirs[f"proba_{name}"].to_numpy(), abs=1e-6
        )
    served = blend(old, new, max_churn=0.1)
    assert 0 < served.estimates["churn"].value <= 0.1


@pytest.mark.parametrize("is_there", [True, False])
def test_a_run_that_was_spoiled_meanwhile(tmp_path, is_there):
    """Between its training and the writing: no traceback, and what to do."""
    experiment = make_experiment(load_table(dated(), "y"), "control", runs=2)
    row = toys.carry_out(experiment, tmp_path).settings[0]
    for path in tmp_path.glob("runs/*/test.npy"):
        path.write_bytes(b"spoiled")
    said = StoredProbabilities(
        Store(tmp_path if is_there else tmp_path / "gone"), [make_schedule(experiment)]
    )
    with pytest.raises(InputError, match="run the same bench again"):
        said.by_run(row, 0)
