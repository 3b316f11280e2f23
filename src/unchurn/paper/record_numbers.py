"""The numbers of a published result: one CSV row per setting, with the paper's numbers beside."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from unchurn.metrics.churn import MeanSd
from unchurn.paper.published import PAPER_METRICS, Published, find_published
from unchurn.report import formats
from unchurn.report.numbers import file_percent
from unchurn.report.table import Cell, Column, Table
from unchurn.study.results.result import Result, SettingResult
from unchurn.study.results.subject import Subject
from unchurn.study.scenarios.retrain import Retrain


def paper_row(study: str, result: Result, row: SettingResult) -> Published | None:
    """What the paper published for a setting of a result, if anything."""
    return find_published(study, result.subject.data.name, row.setting)


def measured(row: SettingResult, metric: str) -> MeanSd:
    """One of PAPER_METRICS over a setting's runs, on the test part."""
    value: MeanSd = getattr(row.summary["test"], metric)
    return value


def numbers(study: str, result: Result, command: str) -> str:
    """One CSV row per setting: ours and the paper's in percent, and a hash of the predictions.

    Running a row's command on the same versions gives the same row, to the last byte.
    """
    is_retraining = result.subject.scenario == Retrain()
    metrics = PAPER_METRICS if is_retraining else tuple(result.subject.scenario.metrics)
    both = [f"{metric}{kind}" for metric in metrics for kind in ("", "_sd")]
    papers = [f"paper_{name}" for name in both] if is_retraining else []
    headings = [
        "dataset", "method", "settings", "model", "epochs", "runs", "train", "test",
        *both, *papers, "predictions_sha256", "failure", "command",
    ]  # fmt: skip
    rows = []
    for row in result.settings:
        texts = [
            *_about(result.subject, row),
            *_ours(result, row, metrics),
            *(_theirs(paper_row(study, result, row)) if is_retraining else ()),
            _hash(row),
            "; ".join(row.failures),
            # a row names its own method
            f"{command.partition(' --methods ')[0]} --methods {row.setting.name}",
        ]
        rows.append(tuple(Cell(text=text) for text in texts))
    return formats.csv_(Table(columns=tuple(Column(heading=h) for h in headings), rows=tuple(rows)))


def _about(subject: Subject, row: SettingResult) -> list[str]:
    """What was trained, how long, how often and on how much."""
    model, epochs = subject.learner["model"], subject.learner["training"]["epochs"]
    counts = (epochs, subject.runs, subject.data.n_train, len(subject.labels["test"]))
    setting = row.setting
    return [subject.data.name, setting.name, setting.text, model, *map(str, counts)]


def _ours(result: Result, row: SettingResult, metrics: Sequence[str]) -> list[str]:
    """Mean and deviation of each metric; empty if a run failed."""
    if not row.runs:
        return [""] * (2 * len(metrics))
    of = result.subject.scenario.metrics
    values = [of[metric].of(row.runs["test"]) for metric in metrics]
    return [file_percent(part) for value in values for part in (value.mean, value.sd)]


def _theirs(row: Published | None) -> list[str]:
    """The published mean and deviation of each metric; empty where the paper has none."""
    parts = (row.mean, row.sd) if row else ({}, {})
    return [
        f"{part[metric]:g}" if metric in part else "" for metric in PAPER_METRICS for part in parts
    ]


def _hash(row: SettingResult) -> str:
    """The hash of a setting's predictions; empty if a run failed."""
    if not row.runs:
        return ""
    plain = np.ascontiguousarray(row.predictions["test"], np.int64)
    return hashlib.sha256(plain.astype("<i8").tobytes()).hexdigest()
