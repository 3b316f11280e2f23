"""The promise that a method is one file: one made here goes everywhere a method can go."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import toys
from unchurn import METHODS, StableClassifier, bench
from unchurn.methods import Ema, Method
from unchurn.study.design.presets import preset_names, preset_settings
from unchurn.study.results.result import Result


@dataclass
class Doubt(Method):
    """Every target gives a share to the class after it."""

    a: float = 0.2

    changes = "targets"
    grid: ClassVar = {"a": (0.1, 0.2)}

    def targets(self, t, reference):
        return np.asarray((1 - self.a) * t + self.a * np.roll(t, 1, axis=1), np.float32)


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(METHODS, "doubt", Doubt)


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_has_it(preset):
    settings = preset_settings(preset, "phishing", ["doubt", "doubt+ema(decay=0.9)"])
    assert {s.name for s in settings} == {"doubt", "doubt+ema"}
    assert len(settings) == (4 if preset == "grid" else 2)
    everything = {s.name for s in preset_settings(preset, "phishing")}
    assert ("doubt" in everything) == (preset == "grid")


def test_bench_table_page_and_folder_have_it(tmp_path):
    methods = ["control", "doubt", "doubt(a=0.1)+ema", "ensemble(m=2)+doubt"]
    result = bench(toys.dataset(200), methods, runs=3, epochs=2, workers=1, out=tmp_path)
    assert list(result.choose()) == ["control", "doubt", "doubt+ema", "ensemble+doubt"]
    assert "doubt+ema" in result.table()
    Result.load(tmp_path).report(tmp_path / "page.html")
    assert "doubt+ema" in (tmp_path / "page.html").read_text()
    predictions = [r.predictions["test"] for r in result.settings]
    assert all((predictions[0] != other).any() for other in predictions[1:])


def test_any_learner_trains_it():
    result = bench(
        toys.dataset(200), ["control", "doubt"], model=toys.extra_trees, runs=2, workers=1
    )
    assert not any(one.failures for one in result.settings)


def test_stable_classifier_fits_searches_saves_and_loads_it(tmp_path):
    x, y = toys.blobs(120)
    for method in ("doubt", "doubt(a=0.3)+ema", Doubt(a=0.3) + Ema(decay=0.9)):
        model = StableClassifier(method=method, epochs=2, random_state=0).fit(x, y)
        model.save(tmp_path / "model")
        loaded = StableClassifier.load(tmp_path / "model")
        assert loaded.predict_proba(x).tobytes() == model.predict_proba(x).tobytes()
    searched = StableClassifier(method="doubt+ema").set_params(method__doubt__a=0.4)
    assert searched.method.methods[0] == Doubt(a=0.4)
