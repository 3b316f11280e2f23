"""A noise floor says which noise it is of, where a bench's folder tells."""

import json

import pytest

import toys
from unchurn import compare
from unchurn.comparison.noise.kind_of_noise import MIXED, SEED_ONLY
from unchurn.core.errors import InputError

LABELS = ["cat", "dog", "dog"]


@pytest.fixture
def bench_folder(tmp_path):
    """A function that makes the folder of a bench with two runs of plain training."""

    def make(name, result):
        folder = tmp_path / name / "predictions"
        folder.mkdir(parents=True)
        for run, last in enumerate(("dog", "cat")):
            columns = {"id": [0, 1, 2], "prediction": ["cat", "cat", last]}
            toys.write_table(folder / f"control-{run}.parquet", columns)
        if result is not None:
            (tmp_path / name / "result.json").write_text(result)
        return tmp_path / name

    return make


def note(tmp_path, *retrains):
    base = toys.write_table(tmp_path / "base.parquet", {"id": [0, 1, 2], "prediction": LABELS})
    return compare(base, base, retrains=list(retrains)).floor.notes[0]


def scenario(text):
    return json.dumps({"subject": {"scenario": text}})


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (scenario("retrain"), SEED_ONLY),
        (scenario("resample"), "noise of the data and the seed"),
        (scenario("resample(share=0.9, same_seed=True)"), "noise of the data alone"),
        (scenario("upgrade(base_share=0.3)"), "newer data of a study of upgrades"),
        (None, SEED_ONLY),
        ("no JSON", SEED_ONLY),
        ("[1]", SEED_ONLY),
        ('{"subject": 1}', SEED_ONLY),
    ],
)
def test_the_bench_says_what_varied(tmp_path, bench_folder, result, said):
    folder = bench_folder("bench", result)
    assert said in note(tmp_path, folder)
    assert said in note(tmp_path, *sorted(folder.glob("predictions/*.parquet")))


def test_retrainings_of_two_kinds_are_said_to_be(tmp_path, bench_folder):
    folders = [bench_folder(text, scenario(text)) for text in ("retrain", "resample")]
    assert note(tmp_path, *folders) == MIXED


def test_an_upgrade_is_no_retraining_of_the_model_before(bench_folder):
    folder = bench_folder("bench", scenario("upgrade"))
    columns = {"id": [0, 1, 2], "prediction": LABELS}
    old = [toys.write_table(folder / f"predictions/base-model-{i}.parquet", columns) for i in "01"]
    new = sorted(folder.glob("predictions/control-*"))
    for retrains in ([folder], [new[1]]):
        with pytest.raises(
            InputError, match=r"newer data than base-model-0\.parquet, so it is no re"
        ):
            compare(old[0], new[0], retrains=retrains)
    assert compare(old[0], new[0], retrains=[old[1]]).floor.each == (0.0,)
    assert compare(*new, retrains=[bench_folder("other", scenario("upgrade"))]).floor is not None
