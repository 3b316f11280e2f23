"""What a bench leaves in a folder, and that it is read again without data or network."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import toys
from unchurn import bench
from unchurn.core.errors import InputError
from unchurn.study.results.result import Result
from unchurn.study.scenarios import Resample, Upgrade

METHODS = ["control", "label_smoothing(a=0.3)+ema(decay=0.9)", "ensemble(m=2)"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    bench(toys.dataset(200), METHODS, runs=3, epochs=2, workers=1, out=folder)
    return folder


@pytest.fixture(scope="module")
def result():
    return bench(toys.dataset(200), METHODS, runs=3, epochs=2, workers=1)


def test_a_result_comes_back_whole(folder, result, tmp_path):
    loaded = Result.load(folder)
    assert loaded.to_dict() == {**result.to_dict(), "seconds": loaded.seconds}
    for form in ("text", "markdown", "latex", "csv", "json", "html"):
        assert loaded.table(form) == result.table(form)
    assert loaded.examples == result.examples
    assert [one.setting for one in loaded.settings] == [one.setting for one in result.settings]
    for one, other in zip(loaded.settings, result.settings, strict=True):
        for part in ("test", "validation"):
            np.testing.assert_array_equal(one.predictions[part], other.predictions[part])
    loaded.report(tmp_path / "page.html")
    assert "Use " in (tmp_path / "page.html").read_text()


def test_what_is_saved_again_is_the_same(folder, tmp_path):
    Result.load(folder).save(tmp_path)
    names = {path.name for path in folder.iterdir()}
    assert names == {"runs", "predictions", "result.json", "result.npz", "table.csv", "table.md",
                     "table.tex"}  # fmt: skip
    for name in names - {"runs", "predictions"}:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_the_record_is_plain_and_says_what_was_studied(folder):
    record = json.loads((folder / "result.json").read_text())
    assert record["schema"] == "unchurn.bench/1"
    assert record["subject"]["learner_label"] == "mlp"
    assert [s["method"] for s in record["settings"]] == [
        "control",
        "label_smoothing+ema",
        "ensemble",
    ]
    assert record["settings"][1]["setting"] == "a=0.3 + decay=0.9"
    assert set(record["settings"][1]["less_control"]) == {"accuracy", "churn"}
    assert record["settings"][0]["metrics"]["test"]["churn"]["mean"] > 0


def test_what_is_not_there_or_damaged_is_one_line(folder, tmp_path):
    with pytest.raises(InputError, match="no finished bench is there"):
        Result.load(tmp_path)
    with pytest.raises(InputError, match="nope: there is no such folder"):
        Result.load(tmp_path / "nope")
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy/result.npz").write_bytes(b"no")
    with pytest.raises(InputError, match=r"result\.npz: damaged, or not a bench's predictions"):
        Result.load(tmp_path / "copy")
    (tmp_path / "copy/result.json").write_text("{}")
    shutil.copy(folder / "result.npz", tmp_path / "copy")
    with pytest.raises(InputError, match=r"result\.json: damaged"):
        Result.load(tmp_path / "copy")


def test_names_in_a_record_stay_inside_the_folder(folder, tmp_path):
    inner = tmp_path / "outer/inner"
    shutil.copytree(folder, inner)
    record = json.loads((folder / "result.json").read_text())
    for setting in record["settings"]:
        setting["facts"]["name"] = "x/../../../evil"
    (inner / "result.json").write_text(json.dumps(record))
    Result.load(inner).save(inner)
    assert {path.name for path in tmp_path.iterdir()} == {"outer"}
    assert {path.name for path in (tmp_path / "outer").iterdir()} == {"inner"}


def test_a_folder_with_a_method_of_ones_own_is_read_without_it(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from dataclasses import dataclass\n"
        "import toys\n"
        "from unchurn import bench\n"
        "from unchurn.methods import Ema, Method\n"
        "@dataclass\n"
        "class Mine(Method):\n"
        "    how: str = 'so'\n"
        "    def learning_rate(self, progress): return 0.5\n"
        "bench(toys.dataset(60), ['control', Mine(), Mine('other') + Ema()], runs=2, epochs=1,\n"
        "      workers=1, out='b')\n"
    )
    where = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    made = []
    for _ in range(2):
        subprocess.run([sys.executable, script], cwd=tmp_path, env=where, check=True)
        made.append({path.name for path in (tmp_path / "b/runs").iterdir()})
    assert made[0] == made[1]  # the second time nothing is trained
    assert len(made[0]) == 6
    loaded = Result.load(tmp_path / "b")
    assert [one.setting.name for one in loaded.settings] == ["control", "Mine", "Mine+ema"]
    assert loaded.settings[2].setting.text == "how=other + decay=0.999"
    loaded.report(tmp_path / "page.html")


def test_a_failed_setting_comes_back_with_its_reason(tmp_path):
    result = bench(
        toys.dataset(60), ["control", "knn_ls(k=500)"], runs=2, epochs=1, workers=1, out=tmp_path
    )
    loaded = Result.load(tmp_path)
    assert loaded.settings[1].failures == result.settings[1].failures
    assert "k=500 is more than" in loaded.table()


def changed(change):
    """A record with one value changed."""

    def apply(record):
        change(record)
        return json.dumps(record)

    return apply


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["subject"].update(runs="3"), "subject.runs: input should be a valid integer"),
        (lambda r: r["subject"]["data"].update(classes=["a"]), "does not fit"),
        (lambda r: r["subject"].update(runs=4), "does not fit"),
        (lambda r: r["subject"].update(scenario="os:system"), "no scenario 'os:system'"),
        (lambda r: r.update(schema="unchurn.bench/9"), "of another version"),
        (lambda r: r["settings"][0].update(failures=None), "settings.0.failures"),
        (lambda r: r["settings"][0].pop("facts"), "settings.0.facts is missing"),
        (lambda r: r.update(seconds="long"), "seconds: input should be a valid number"),
        (lambda r: r.update(notes=[[]]), "notes.0: input should be a valid string"),
        (lambda r: r["examples"].append({"number": 9999, "image": "", "features": []}),
         "no test example 9999"),
        (lambda r: r["examples"].append({"number": 0, "image": "https://x", "features": []}),
         "image: string should match pattern"),
    ],
)  # fmt: skip
def test_an_edited_record_is_one_line(folder, tmp_path, change, message):
    shutil.copytree(folder, tmp_path / "copy")
    path = tmp_path / "copy/result.json"
    path.write_text(changed(change)(json.loads(path.read_text())))
    with pytest.raises(InputError, match=message) as caught:
        Result.load(tmp_path / "copy")
    assert str(tmp_path / "copy/result") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["labels/test", "0/test"])
def test_a_class_below_the_first_is_one_line(folder, tmp_path, name):
    """As an index, -1 would be the last class."""
    shutil.copytree(folder, tmp_path / "copy")
    with np.load(folder / "result.npz") as stored:
        arrays = {key: stored[key].astype(np.int64) for key in stored.files}
    arrays[name].flat[0] = -1
    np.savez(tmp_path / "copy/result.npz", **arrays)
    with pytest.raises(InputError, match=r"test does not fit .* predictions of 3 classes"):
        Result.load(tmp_path / "copy")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "9" * 5000, "[]", ""])
def test_a_record_of_anything_is_one_line(folder, tmp_path, text):
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy/result.json").write_text(text)
    with pytest.raises(InputError, match=r"result\.json: damaged"):
        Result.load(tmp_path / "copy")


def test_a_report_loads_no_code_that_a_result_names(folder, tmp_path):
    """Whoever sends a folder must not have their code run by who looks at it."""
    shutil.copytree(folder, tmp_path / "copy")
    path = tmp_path / "copy/result.json"
    record = json.loads(path.read_text())
    record["subject"]["learner"]["model"] = "trap:net"
    record["subject"]["learner_facts"]["model"] = "trap:net"
    path.write_text(json.dumps(record))
    (tmp_path / "copy/bench.json").write_text('{"model": "trap:net", "data": "trap:data"}')
    for place in (tmp_path, tmp_path / "copy"):
        (place / "trap.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')")
    command = [sys.executable, "-m", "unchurn", "report", "copy"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "trap:net" in (tmp_path / "copy/report.html").read_text()
    assert not (tmp_path / "sprung").exists()
    # The trap does work: a bench that is asked for such a model loads it.
    command = [sys.executable, "-m", "unchurn", "bench", "--model", "trap:net", "--dry-run"]
    subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert (tmp_path / "sprung").exists()


def test_what_is_left_in_part_is_made_again(folder, tmp_path):
    """All trainings are there, but not the arrays."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "result.npz").unlink()
    bench(toys.dataset(200), METHODS, runs=3, epochs=2, workers=1, out=tmp_path)
    assert Result.load(tmp_path).table() == Result.load(folder).table()


def test_numpys_numbers_are_written_and_read(tmp_path):
    numbers = {"runs": np.int64(2), "seed": np.int64(1), "epochs": np.int64(1)}
    scenario = Resample(share=np.float64(0.9))
    bench(toys.dataset(60), "control", workers=1, out=tmp_path, scenario=scenario, **numbers)
    assert Result.load(tmp_path).subject.scenario == Resample(share=0.9)
    given = {"per_base": np.int64(2), "time": "day", "split": np.float64(0.5)}
    assert Upgrade(**given).text == "upgrade(per_base=2, time='day', split=0.5)"
    day = Upgrade(time="day", split=np.datetime64("2024-05-01"))
    assert day == Upgrade(time="day", split="2024-05-01")
    assert Upgrade(base_share=np.float64(0.25)).text == "upgrade(base_share=0.25)"
