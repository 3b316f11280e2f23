"""What a study says of its trainings: a bar that fits, and one count before and after a stop."""

import io
import re

import pytest
from rich.console import Console

from unchurn.cli.progress import _progress
from unchurn.study.trainings.store import Store

SHORT = ("--runs", "2", "--epochs", "1", "--workers", "1")
# Trainings that serve several settings (ema), a reference that fresh runs look at, too (knn_ls).
GRID = ("bench", "digits", "--preset", "grid", "--methods",
        "control,ema,knn_ls(k=5, fixed_reference=True)", *SHORT, "--out", "b")  # fmt: skip


def interrupt_after(monkeypatch, n):
    """Press Ctrl-C while training n + 1 is being kept."""
    puts, put = [], Store.put

    def interrupted(*arguments, **options):
        if len(puts) == n:
            raise KeyboardInterrupt
        puts.append(1)
        put(*arguments, **options)

    monkeypatch.setattr(Store, "put", interrupted)


def planned(text):
    """How many trainings a plan names, in all, and how many are there."""
    first = re.search(r"^(\d+) trainings", text, re.M)[1]
    more = re.search(r"^then about (\d+) more", text, re.M)
    there = re.search(r"^(\d+) of them are in b", text, re.M)
    return int(first) + int(more[1] if more else 0), int(there[1] if there else 0)


@pytest.mark.parametrize("n", [7, 100])  # in the first runs, and in the fresh ones
def test_what_is_planned_kept_and_left_adds_up(run, tmp_path, monkeypatch, n):
    with monkeypatch.context() as patched:
        interrupt_after(patched, n)
        code, out, err = run(*GRID)
    assert (code, err) == (130, "unchurn: interrupted\n")
    kept, total = map(int, re.search(r"(\d+) of about (\d+) trainings are kept", out).groups())
    assert planned(out) == (total, 0)
    assert 0 < kept <= n
    code, out, _ = run(*GRID, "--dry-run")
    assert planned(out) == (total, kept)


def test_of_several_studies_it_is_said_which(run, tmp_path, monkeypatch):
    interrupt_after(monkeypatch, 1)
    code, out, _ = run("reproduce", "table1", "--dataset", "phishing", "--subset", "50",
                       "--methods", "control", *SHORT, "--out", "b")  # fmt: skip
    name = re.search(r"^(\S+): Dataset", out, re.M)[1]
    assert code == 130
    assert f"{name}: 1 of 2 trainings are kept" in out


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("name", ["ema", "knn_ls+safe_ema k=500 a=0.8 b=0.9 decay=0.9999 " * 3])
def test_the_bar_the_count_and_the_time_fit_any_terminal(width, name):
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    progress = _progress(console)
    progress.add_task("", total=1573, completed=1100, best=f"best 97.12%: {name}")
    console.print(progress.get_renderable())
    (line,) = console.file.getvalue().splitlines()
    assert len(line) <= width
    _, bar, count, left, *best = line.split()
    assert len(bar) >= 7  # so much of ten is done; without colours the rest is blank
    assert (count, left) == ("1100/1573", "-:--:--")
    if width >= 60:
        assert best[0] == "best"
    if width >= 80:
        assert best[1] == "97.12%:"
        assert best[2].startswith(name[:3])
