"""A committed miniature sweep gives a committed table and chart data, on any machine."""

import runpy
import shutil
from pathlib import Path

import pytest

from unchurn.core.executors.local import Local
from unchurn.study.design.schedule import make_schedule
from unchurn.study.results.collect import collect
from unchurn.study.trainings.run import carry_out
from unchurn.study.trainings.store import Store

HERE = Path(__file__).parent
GOLDEN = runpy.run_path(str(HERE / "make.py"))
miniature, outcomes = GOLDEN["miniature"], GOLDEN["outcomes"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    shutil.copytree(HERE / "runs", folder / "runs")
    return outcomes(collect(carry_out(make_schedule(miniature()), Store(folder), Local(1))))


@pytest.mark.parametrize("name", ["table.csv", "table.md", "chart.json"])
def test_the_sweep_gives_the_table_and_the_chart(found, name):
    assert found[name] == (HERE / name).read_text()


def test_nothing_of_the_sweep_is_trained_again(tmp_path):
    """Were an identity to change without SEMANTICS, old runs would be lost to everyone."""
    shutil.copytree(HERE / "runs", tmp_path / "runs")
    reports: list[tuple[int, int]] = []
    schedule = make_schedule(miniature())
    note = lambda done, total, _: reports.append((done, total))  # noqa: E731
    carry_out(schedule, Store(tmp_path), Local(1), note)
    assert len(reports) == 1
    assert reports[0][0] == reports[0][1] == len(list((HERE / "runs").iterdir()))
