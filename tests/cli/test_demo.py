"""`unchurn demo`, small: the story in the terminal, its page in a real browser, what is kept."""

import contextlib
import io
import re
import shlex
import shutil
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from typer.main import get_command

from unchurn import Result, churn, cli, compare
from unchurn.cli.demo import demo
from unchurn.methods.registry import DEFAULT
from unchurn.paper.demo.page import next_commands, steps_of, write_story
from unchurn.paper.demo.succession import POLICY

EVIL = "<script>alert(1)</script>"
SMALL = {"runs": 3, "epochs": 1, "workers": 1}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A small demo: its folder, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.delenv("UNCHURN_DATA", raising=False)
        patch.setenv("COLUMNS", "200")
        demo(out=folder, **SMALL)
    return folder, printed.getvalue()


@pytest.fixture
def open_page(visit):
    """Open a story's page once all its charts are drawn."""

    def open_(path, **options):
        page, asked, said = visit(path, **options)
        page.wait_for_function("document.querySelectorAll('.chart svg.marks').length === 4")
        return page, asked, said

    return open_


def words(text):
    """A text as one line, however it is broken."""
    return " ".join(text.split())


def test_it_tells_four_steps_and_where_to_look(told):
    folder, out = told
    assert re.findall(r"^(\d)  \w", out, re.MULTILINE) == ["1", "2", "3", "4"]
    assert out.splitlines()[-1].endswith(f" s: open {folder}/index.html")
    assert "Made with 3 runs of 1 epoch each, where the demo has 5 runs of 20 epochs" in out
    program = get_command(cli.app)
    for command in next_commands(folder):
        assert command in out
        name, *arguments = shlex.split(command)[1:]
        program.commands[name].make_context(name, arguments)  # raises if it takes them not


def test_its_numbers_are_of_runs_that_anybody_can_compare(told):
    """Counted again from the files of predictions that it leaves."""
    folder, out = told
    files = [folder / f"retrain/predictions/control-{run}.parquet" for run in range(3)]
    runs = [pl.read_parquet(file)["prediction"].to_numpy() for file in files]
    pairs = [churn(runs[i], runs[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert f"{np.mean(pairs):.1%}  of the answers change" in out
    differ = (runs[0] != runs[1]) | (runs[0] != runs[2])
    assert f" {differ.sum():,} pages are phishing or legitimate depending on" in words(out)
    assert "96.69 / 1.04" in out  # k-NN smoothing, as published


def test_the_gate_judges_every_successor(told):
    folder, out = told
    result = Result.load(folder / "upgrade")
    classes = np.array(result.subject.data.classes)
    for name, row in zip(("plain retraining", "unchurn.upgrade"), result.settings, strict=True):
        runs = row.runs["test"]
        verdicts = [
            compare(classes[before], classes[after], labels=classes[runs.labels]).gate(POLICY)
            for before, after in zip(runs.base, runs.predictions, strict=True)
        ]
        promoted = sum(verdict.decision == "promote" for verdict in verdicts)
        assert f"{promoted} of 3  successors by {name} are promoted" in out
        assert f"   {name}: {verdicts[0].decision.upper()}" in out
        assert f" bad_flips {verdicts[0].checks[0].reason}" in words(out)


def test_what_chance_may_explain_is_not_claimed(told):
    """So few steps leave none of the methods that only average better beyond chance."""
    folder, out = told
    result = Result.load(folder / "retrain")
    found = {name: result.differences(name, "control")["churn"] for name in ("safe_ema", DEFAULT)}
    assert all(one.low < 0 < one.high for one in found.values())
    claimed = re.search(r"training's beyond chance: (.*?)\.", words(out))[1]
    assert "averaged weights" not in claimed
    assert "unchurn's default" not in claimed
    assert "chance may explain it" in out


def test_the_page_is_drawn_silent_and_offline(open_page, told):
    folder, out = told
    page, asked, said = open_page(folder / "index.html")
    assert asked == [f"file://{folder}/index.html"]
    assert said == []
    for chart in page.locator(".chart .marks").all():
        assert chart.bounding_box()["width"] > 300
    for number in page.locator(".number").all_inner_texts():
        assert number in out
    assert page.locator(".verdict").count() == 2
    assert "CC BY 4.0" in page.locator(".facts").inner_text()
    page.get_by_text("pages that flip most").click()
    assert page.locator(".example").count() == 6
    assert page.locator(".example").first.locator(".said li").count() == 3


def test_it_fits_a_phone_and_the_dark(open_page, told):
    page, _, said = open_page(
        told[0] / "index.html", viewport={"width": 390, "height": 844}, color_scheme="dark"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    grounds = page.eval_on_selector_all(
        "body, .chart svg.marks", "all => all.map((one) => getComputedStyle(one).backgroundColor)"
    )
    assert set(grounds) == {"rgb(20, 24, 29)"}
    assert said == []


def test_no_word_of_a_chart_is_cut_on_a_small_phone(open_page, told):
    page, *_ = open_page(told[0] / "index.html", viewport={"width": 360, "height": 800})
    cut = page.eval_on_selector_all(
        ".chart svg.marks text",
        """all => all.filter((word) => {
            const [own, chart] = [word, word.closest("svg.marks")].map(
                (one) => one.getBoundingClientRect()
            );
            return own.width && (own.right > chart.right || own.bottom > chart.bottom);
        }).map((word) => word.textContent)""",
    )
    assert cut == []


def test_text_of_the_data_is_shown_as_text(open_page, told, tmp_path):
    results = []
    for study in ("retrain", "upgrade"):
        result = Result.load(told[0] / study)
        data = replace(result.subject.data, classes=(EVIL, "b"), notes=(EVIL,))
        examples = tuple(replace(one, features=((EVIL, EVIL),)) for one in result.examples)
        subject = replace(result.subject, data=data)
        results.append(replace(result, subject=subject, examples=examples))
    steps = [
        step
        for study, result in zip(("retrain", "upgrade"), results, strict=True)
        for step in steps_of(study, result)
    ]
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    folder.mkdir()
    write_story(folder / "index.html", steps, results, 1.0)
    shutil.copy(folder / "index.html", tmp_path / "page.html")
    page, _, said = open_page(tmp_path / "page.html")
    assert said == []
    assert page.locator("script").count() == 2  # ours
    assert page.locator("img").count() == 0
    page.get_by_text("pages that flip most").click()
    assert EVIL in page.locator(".examples").inner_text()
    assert "<img src=x" in page.locator(".next").inner_text()


def test_it_goes_on_where_it_stopped_to_the_same_numbers(told, run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    shutil.copytree(told[0], tmp_path / "d")
    kept = sorted((tmp_path / "d/retrain/runs").iterdir())
    times = {path: path.stat().st_mtime_ns for path in kept}
    shutil.rmtree(kept[0])
    code, out, err = run("demo", "--out", "d", "--runs", "3", "--epochs", "1", "--workers", "1")
    assert (code, err) == (0, "")
    again = {path: path.stat().st_mtime_ns for path in (tmp_path / "d/retrain/runs").iterdir()}
    assert set(again) == set(times)
    assert {path for path in times if again[path] != times[path]} == {kept[0]}
    assert "… 21 trainings on 1 cores, 20 of them kept from before" in out
    both = [told[1].replace(str(told[0]), "d"), out]
    first, again = ([line for line in one.splitlines()[:-1] if line[:1] != "…"] for one in both)
    assert again == first  # but for the last line, which has the seconds
    page = (tmp_path / "d/index.html").read_text()
    assert "besides 29 trainings that were kept from before" in page
    code, out, _ = run("demo", "--out", "d", "--runs", "2", "--epochs", "1", "--workers", "1")
    assert code == 0  # of two retrainings there is no interval
    assert "training's beyond chance: none." in words(out)


def test_what_is_not_installed_is_one_line(run, monkeypatch):
    monkeypatch.setattr("unchurn.core.extras.find_spec", lambda name: None)
    code, out, err = run("demo")
    assert (code, out) == (2, "")
    assert err == (
        "unchurn: the demo needs torch, safetensors, numba, altair, vl_convert, jinja2: "
        "pip install 'unchurn[train,charts]'\n"
    )
