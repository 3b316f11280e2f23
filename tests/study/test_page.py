"""The page in a real browser: drawn, sortable, silent, offline, and nothing in it runs as code."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import toys
from unchurn import Dataset, bench
from unchurn.study.design.settings import make_setting

EVIL = "<script>alert(1)</script>"
X, Y = toys.blobs(200, distance=1)
ROWS = pl.DataFrame(X[100:], [EVIL, "one", "two", "three"])
CLASSES = (EVIL, "dog", "eel")
TABLE = Dataset(EVIL, X[:100], Y[:100], X[100:], Y[100:], CLASSES, notes=(EVIL,), test_rows=ROWS)
SETTINGS = [
    make_setting("control"),
    *(make_setting("label_smoothing", a=a) for a in (0.1, 0.5, 0.9)),
    make_setting("ensemble", m=3),
]


@pytest.fixture(scope="module")
def result():
    return bench(TABLE, SETTINGS, runs=3, epochs=2, workers=1, validation=False)


@pytest.fixture
def open_page(visit, tmp_path):
    """Open a result's page; give it with what it asked for and said."""

    def open_(result, **options):
        result.report(tmp_path / "report.html")
        page, asked, said = visit(tmp_path / "report.html", **options)
        page.wait_for_selector(".chart .marks")
        return page, asked, said

    return open_


def test_the_page_is_drawn_silent_and_offline(open_page, result, tmp_path):
    page, asked, said = open_page(result)
    assert asked == [f"file://{tmp_path}/report.html"]
    assert said == []
    assert page.locator(".advice").inner_text() == result.advice
    drawn = page.locator(".chart .marks")  # the canvas or picture that Vega draws
    assert drawn.count() == page.locator(".chart").count() == 2
    for chart in drawn.all():
        assert chart.bounding_box()["width"] > 100


def test_the_chart_stands_above_the_table_and_has_its_numbers_on_a_phone(open_page, result):
    page, *_ = open_page(result)
    chart, table = page.locator(".chart").first.bounding_box(), page.locator("#methods")
    assert chart["y"] + chart["height"] < table.bounding_box()["y"]
    assert "ensemble" in page.locator(".chart").first.text_content()
    page, *_ = open_page(result, viewport={"width": 390, "height": 844})
    assert "3 ensemble" in page.locator(".chart").first.text_content()
    assert page.locator(".chart svg.marks").first.bounding_box()["width"] <= 360


def test_first_is_what_is_asked_first_and_all_else_can_be_opened(open_page, result):
    page, *_ = open_page(result)
    shown = page.locator("#methods th").all_inner_texts()
    assert shown == ["method", "setting", "tried", "churn", "churn − control's", "accuracy",
                     "accuracy − control's"]  # fmt: skip
    assert not page.locator("#more").is_visible()
    legend = page.get_by_text("Correct, incorrect: churn among")  # columns that are not shown
    assert not legend.is_visible()
    page.get_by_text("All that was measured").click()
    assert "incorrect" in page.locator("#more th").all_inner_texts()
    assert legend.is_visible()


def test_examples_say_how_often_they_flip_and_between_what(open_page, result):
    page, *_ = open_page(result)
    runs = result.repeated.predictions["test"]
    first = result.examples[0].number
    text = page.locator(".example").first.inner_text()
    classes, counts = np.unique(runs[:, first], return_counts=True)
    for one, count in zip(classes, counts, strict=True):
        assert f"{CLASSES[one]}\N{NO-BREAK SPACE}×{count}" in text
    differ = np.mean([runs[i][first] != runs[j][first] for i, j in ((0, 1), (0, 2), (1, 2))])
    assert f"{differ:.0%} of the pairs of runs differ" in text
    assert f"(test example {first})" in text


def test_examples_are_called_by_the_tables_own_ids(open_page, result):
    ids = np.array([f"<b>{i}</b>" for i in range(len(result.subject.labels["test"]))])
    about = replace(result.subject.data, id_column="customer_id")
    named = replace(result, subject=replace(result.subject, ids=ids, data=about))
    page, *_ = open_page(named)
    first = result.examples[0].number
    assert f"(customer_id <b>{first}</b>)" in page.locator(".example").first.inner_text()


def test_on_paper_it_is_light_and_nothing_is_cut(open_page, result):
    page, *_ = open_page(result, color_scheme="dark", viewport={"width": 1200, "height": 900})
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 680, "height": 900})  # A4 without its margins
    page.wait_for_selector(".chart .marks")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    for box in (one.bounding_box() for one in page.locator(".chart svg.marks, #methods").all()):
        assert box["x"] + box["width"] <= 680
    assert not page.locator(".chart details").first.is_visible()


def test_names_are_shown_as_text(open_page, result):
    page, _, said = open_page(result)
    assert EVIL in page.locator("h1").inner_text()
    assert EVIL in page.locator(".examples").inner_text()
    assert EVIL in page.locator("body > p.small").first.inner_text()
    assert page.locator("script").count() == 2  # ours
    assert said == []


def test_the_table_sorts(open_page, result):
    page, *_ = open_page(result)
    expected = {m: r.summary["test"].churn.mean for m, r in result.choose().items()}

    def names():
        rows = page.locator("#methods tbody tr").all_inner_texts()
        return [row.split("\t")[0] for row in rows]

    assert names() == ["control", "label_smoothing", "ensemble"]
    page.get_by_role("button", name="churn", exact=True).click()
    assert names() == sorted(expected, key=expected.__getitem__)
    page.get_by_role("button", name="churn", exact=True).click()
    assert names() == sorted(expected, key=expected.__getitem__, reverse=True)
    page.get_by_role("button", name="method").click()
    assert names() == sorted(expected)


def test_it_fits_a_phone_and_the_dark(open_page, result):
    page, *_ = open_page(result, viewport={"width": 390, "height": 844}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(int(part) for part in background.strip("rgb()").split(",")) < 150


def test_charts_have_the_colours_of_the_page_also_when_it_turns(open_page, result):
    page, _, said = open_page(result, color_scheme="dark")

    def shown():
        """The colours of the page, of the charts' ground and of control's points."""
        page.wait_for_selector(".chart .marks")
        body = page.evaluate("getComputedStyle(document.body).backgroundColor")
        charts = page.eval_on_selector_all(
            ".chart svg.marks", "all => all.map((one) => getComputedStyle(one).backgroundColor)"
        )
        control = page.eval_on_selector(
            "[aria-roledescription=point][aria-label*='name: control']",
            "one => getComputedStyle(one).fill",
        )
        return body, charts, control

    body, charts, control = shown()
    assert set(charts) == {body} == {"rgb(20, 24, 29)"}
    assert control == "rgb(230, 234, 240)"
    page.emulate_media(color_scheme="light")
    page.wait_for_function(
        'getComputedStyle(document.querySelector(".chart svg.marks")).backgroundColor'
        " === 'rgb(255, 255, 255)'"
    )
    body, charts, control = shown()
    assert set(charts) == {body} == {"rgb(255, 255, 255)"}
    assert control == "rgb(29, 35, 41)"
    assert said == []


def test_a_method_that_failed_says_why_over_the_rest_of_its_row(open_page, result):
    rows = [
        replace(row, runs={}, failures=(f"run 0: {EVIL}",))
        if row.setting.name == "ensemble"
        else row
        for row in result.settings
    ]
    page, _, said = open_page(replace(result, settings=rows))
    cells = page.locator("#methods tbody tr").last.locator("td")
    assert cells.all_inner_texts() == ["ensemble", "failed", "1", f"run 0: {EVIL}"]
    headings = page.locator("#methods th").count()
    assert int(cells.last.get_attribute("colspan")) == headings - 3
    page.get_by_role("button", name="churn", exact=True).click()  # the failed stay behind
    page.get_by_role("button", name="churn", exact=True).click()
    assert page.locator("#methods tbody tr").last.inner_text().startswith("ensemble")
    assert said == []


def test_images_have_thumbnails_and_tables_their_values(open_page, result):
    page, *_ = open_page(result)
    assert page.locator(".example img").count() == 0
    values = page.locator(".example >> nth=0 >> .values span").all_inner_texts()
    assert [one.rsplit(" ", 1)[0] for one in values] == [EVIL, "one", "two", "three"]
    images = X.reshape(200, 2, 2, 1).clip(0, 1)
    data = Dataset("images", images[:100], Y[:100], images[100:], Y[100:], ("a", "b", "c"))
    page, *_ = open_page(bench(data, SETTINGS[:2], runs=3, epochs=1, workers=1, validation=False))
    assert page.locator(".example img").count() == page.locator(".example").count() > 0
    assert page.evaluate("[...document.images].every(i => i.naturalWidth === 64)")


@pytest.mark.parametrize("n_runs", [2, 3])
def test_a_page_that_cannot_tell_yet_is_not_marked_as_an_answer(tmp_path, n_runs):
    labels = np.arange(200) % 2
    rows = [(make_setting(name), np.tile(labels, (n_runs, 1))) for name in ("control", "mixup")]
    toys.result(rows, labels).report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert ('<p class="advice open"><strong>Cannot tell yet</strong>' in page) is (n_runs == 2)
