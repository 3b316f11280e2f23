"""Make the miniature sweep and what must come of it: python tests/study/golden/make.py

Run it only when a change is meant to change results; the test reads the sweep's runs, trains
nothing, and must arrive at the same table and chart data on any machine.
"""

import json
import shutil
from pathlib import Path

import numpy as np

from unchurn import Dataset
from unchurn.core.executors.local import Local
from unchurn.study.design.experiment import Experiment
from unchurn.study.design.parts import make_parts
from unchurn.study.design.schedule import make_schedule
from unchurn.study.design.settings import make_setting
from unchurn.study.report import charts
from unchurn.study.results.collect import collect
from unchurn.study.results.result import Result
from unchurn.study.trainings.run import carry_out
from unchurn.study.trainings.store import Store
from unchurn.training.learners.torch import TorchLearner
from unchurn.training.loop.config import Training

HERE = Path(__file__).parent
SETTINGS = (
    make_setting("control"),
    *(make_setting("label_smoothing", a=a) for a in (0.1, 0.5, 0.9)),
    *(make_setting("knn_ls", k=k, a=0.9, b=b) for k in (3, 9) for b in (0.1, 0.9)),
    make_setting("anchor", a=0.9),
    make_setting("ensemble", m=3),
)


def miniature() -> Experiment:
    """Three overlapping classes in the plane, from plain arithmetic: the same on every machine."""
    number = np.arange(120)
    y = number % 3
    x = np.stack([(7 * number % 31) / 31 + y, (11 * number % 37) / 37 + y % 2], axis=1)
    y = np.where(number % 11 == 0, (y + 1) % 3, y)  # some labels are wrong
    x = x.astype(np.float32)
    data = Dataset("miniature", x[:80], y[:80], x[80:], y[80:], ("a", "b", "c"))
    learner = TorchLearner("mlp", Training(epochs=6, batch_size=16))
    return Experiment(data=data, parts=make_parts(data), settings=SETTINGS, learner=learner, runs=3)


def outcomes(result: Result) -> dict[str, str]:
    """File names and contents that a result must give."""
    chart = result.frontier_rows + charts.curve_data(result, "label_smoothing", "a")
    return {
        "table.csv": result.table("csv"),
        "table.md": result.table("markdown"),
        "chart.json": json.dumps(chart, indent=1) + "\n",
    }


if __name__ == "__main__":
    shutil.rmtree(HERE / "runs", ignore_errors=True)
    runs = carry_out(make_schedule(miniature()), Store(HERE), Local(1))
    for name, content in outcomes(collect(runs)).items():
        (HERE / name).write_text(content)
