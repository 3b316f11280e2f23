"""One self-contained HTML page of an experiment: what to use and why, tables, charts, examples."""

from __future__ import annotations

import base64
import io
import math
import platform
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn import __version__
from unchurn.core.arrays import Array
from unchurn.datasets.base import Dataset
from unchurn.report import formats
from unchurn.report.html import write_page
from unchurn.report.numbers import percent
from unchurn.study import charts, selection
from unchurn.study.table import Beside, chosen_table, single_models

if TYPE_CHECKING:
    from unchurn.study.result import Result, SettingResult

N_EXAMPLES = 12  # of those that flip most
N_FEATURES = 40  # of each, shown of a table


def write_report(result: Result, path: Path, *, beside: Beside | None = None) -> None:
    """Write the page; it asks nothing of the network, and everything in it is escaped."""
    table = chosen_table(result, beside)
    write_page(
        path,
        Path(__file__).with_name("bench.html"),
        _charts(result),
        name=result.experiment.data.name,
        advice=advice(result),
        methods=formats.html(table, "methods"),
        footer=formats.notes_of(table),
        examples=_examples(result),
        shown=_name(_shown(result)) if result.choose() else "",
        facts=_facts(result),
        notes=[*result.experiment.data.notes, *result.notes],
    )


def advice(result: Result) -> str:
    """What to use and why, in one sentence: the paper's rule over the methods' chosen settings."""
    chosen = result.choose()
    single = list(single_models(chosen).values())
    if not single:
        return "Every method failed: see the reasons in the table."
    parts = [r.summary[result.chosen_on] for r in single]
    best = single[selection.choose([p.accuracy.mean for p in parts], [p.churn.mean for p in parts])]
    summary = best.summary["test"]
    text = (
        f"{_name(best)}: {percent(summary.accuracy.mean)} accurate, and "
        f"{percent(summary.churn.mean)} of its predictions change from one retraining to the next"
    )
    control = chosen.get("control")
    if control is None or control is best:
        return f"Use {text}."
    plain = control.summary["test"]
    text += f" (plain training: {percent(plain.accuracy.mean)} and {percent(plain.churn.mean)})"
    if summary.accuracy.mean <= plain.accuracy.mean and summary.churn.mean >= plain.churn.mean:
        return f"Plain training will do: on the test part nothing is gained by {text}."
    chance = _chance(result, best)
    if result.chosen_on == "test":  # the best of several methods, at that
        chance += "; chosen on the test data itself, it may look better here than it is"
    return f"Use {text}{chance}."


def _chance(result: Result, best: SettingResult) -> str:
    """Whether the difference in churn from control is beyond chance, as far as that is known."""
    if (difference := result.against_control(best)) is None:
        return ""
    _, churn = difference
    if math.isnan(churn.low):
        return "; two runs cannot tell whether the difference in churn is chance"
    if churn.low <= 0 <= churn.high:
        return "; the difference in churn is not beyond chance"
    return f"; churn {'falls' if churn.high < 0 else 'rises'} beyond chance"


def _name(result: SettingResult) -> str:
    return f"{result.setting.name} {result.setting.text}".strip()


def _charts(result: Result) -> list[dict[str, Any]]:
    """Titles and specifications."""
    shown: dict[str, Any] = {}
    if charts.frontier_data(result):
        chart = charts.frontier(result).properties(width="container")
        shown["Accuracy against correct churn"] = chart
    shown |= {f"Along {name}": chart for name, chart in charts.curves(result).items()}
    return [{"title": title, "spec": chart.to_dict()} for title, chart in shown.items()]


def _shown(result: Result) -> SettingResult:
    """The setting whose flips are shown: control if it is there."""
    chosen = result.choose()
    return chosen.get("control") or next(iter(chosen.values()))


def _examples(result: Result) -> list[dict[str, Any]]:
    """The test examples whose predictions differ in the most pairs of runs."""
    if not result.choose():
        return []
    runs, data = _shown(result).predictions["test"], result.experiment.data
    differ = sum((runs[i] != runs[j]).astype(int) for i, j in combinations(range(len(runs)), 2))
    order = np.argsort(-np.asarray(differ), kind="stable")[:N_EXAMPLES]
    return [
        {
            "number": int(i),
            "label": data.classes[data.y_test[i]],
            "predicted": [
                f"{data.classes[c]}\N{NO-BREAK SPACE}×{n}"
                for c, n in Counter(runs[:, i].tolist()).most_common()
            ],
            "image": _thumbnail(data.x_test[i]),
            "features": _features(data, int(i)),
        }
        for i in order
        if np.asarray(differ)[i] > 0
    ]


def _features(data: Dataset, number: int) -> list[tuple[str, str]]:
    """Names and values of a test example as its owner knows it; a table without names by number."""
    if data.test_rows is not None:
        values: dict[str, Any] = data.test_rows.row(number, named=True)
    else:
        values = {str(i): v for i, v in enumerate(data.x_test[number].ravel()[:N_FEATURES])}
    shown = list(values.items())[:N_FEATURES]
    return [(name, f"{v:.4g}" if isinstance(v, float) else str(v)) for name, v in shown]


def _thumbnail(x: Array) -> str:
    """An image as a data address; empty for a row of a table."""
    from PIL import Image

    if x.ndim < 2:
        return ""
    if x.ndim == 3 and x.shape[2] != 3:
        x = x[..., 0]
    pixels = (255 * x.clip(0, 1)).astype(np.uint8)
    image = Image.fromarray(pixels).resize((64, 64), Image.Resampling.NEAREST)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _facts(result: Result) -> dict[str, str]:
    """Settings of the experiment and where the page was made."""
    experiment = result.experiment
    parts, training = experiment.parts, experiment.training
    held_out = f"{len(parts.y['validation']):,} to choose on, " if experiment.validation else ""
    facts = {
        "data": f"{experiment.data.name}: {len(parts.x_train):,} to train on, {held_out}"
        f"{len(experiment.data.y_test):,} to test on, {parts.n_classes} classes",
        "fingerprint of the data": experiment.data.fingerprint,
    }
    if experiment.learner is None:
        facts["network"] = experiment.model if isinstance(experiment.model, str) else "own"
        facts["training"] = (
            f"{training.length} of batches of {training.batch_size}, Adam, "
            f"learning rate {training.learning_rate:g}"
        )
    return facts | {
        "runs of each setting": str(experiment.runs),
        "seed": str(experiment.seed),
        "runs made by": "; ".join(result.made_by),
        "page made by": f"unchurn {__version__} on Python {platform.python_version()}",
    }
