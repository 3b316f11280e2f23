"""A comparison's page in a real browser: drawn, silent, offline, filtered, sorted, never run."""

import numpy as np
import polars as pl
import pytest

from unchurn import compare
from unchurn.comparison.report import tables, words
from unchurn.comparison.result import flipped
from unchurn.gate.verdict import Check, Verdict

EVIL = "<script>alert(1)</script>"
CLASSES = np.array([EVIL, "dog", "eel"])
N = 600
TRUTH = np.random.default_rng(0).integers(0, 3, N)
COUNTRY = np.random.default_rng(1).choice([EVIL, "de", "fr"], N)
IDS = [EVIL, *(f"u{i}" for i in range(1, N))]
PHONE = {"viewport": {"width": 390, "height": 844}}


def model(seed, shaken=0.5, classes=CLASSES, truth=TRUTH):
    """A model's table: probabilities around the truth, more or less shaken."""
    rng = np.random.default_rng(seed)
    logits = 2 * np.eye(len(classes))[truth] + np.random.default_rng(9).normal(
        size=(len(truth), len(classes))
    )
    logits += rng.normal(0, shaken, logits.shape)
    if seed == 1:  # the candidate; the first example flips for sure, and is a bad flip
        logits[0] = 9 * np.eye(len(classes))[(truth[0] + 1) % len(classes)]
    elif seed == 0:
        logits[0] = 9 * np.eye(len(classes))[truth[0]]
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    columns = {f"prob_{name}": p[:, i] for i, name in enumerate(classes)}
    return pl.DataFrame({"id": IDS, "label": classes[truth], "country": COUNTRY, **columns})


RESULT = compare(
    model(0), model(1), slices=["country"], retrains=[model(2), model(3), model(4)],
    names=(EVIL, "candidate"),
)  # fmt: skip
VERDICT = Verdict(
    (
        Check("churn", "promote", "inside"),
        Check(f"slice_churn of {EVIL}", "reject", "outside"),
        Check("bad_flips", "hold", "open"),
    )
)


@pytest.fixture
def open_page(visit, tmp_path):
    """Open a comparison's page once its charts are drawn."""

    def open_(result, verdict=None, **options):
        result.html(tmp_path / "page.html", verdict)
        page, asked, said = visit(tmp_path / "page.html", **options)
        page.wait_for_function(
            "document.querySelectorAll('.chart svg.marks').length"
            " === document.querySelectorAll('.chart').length"
        )
        return page, asked, said

    return open_


def column(page, table, number):
    """The visible cells of one column."""
    cells = page.locator(f"#{table} tbody tr:visible td:nth-child({number})")
    return cells.all_inner_texts()


def test_it_is_drawn_silent_and_offline(open_page, tmp_path):
    page, asked, said = open_page(RESULT)
    assert asked == [f"file://{tmp_path}/page.html"]
    assert said == []
    assert page.locator(".chart").count() == 4
    for chart in page.locator(".chart svg.marks").all():
        assert chart.bounding_box()["width"] > 300
        assert chart.locator("path, text").count() > 5
    shown = page.locator(".advice").all_inner_texts()
    assert shown == words.sentences(RESULT)
    assert len(shown) == 3
    rows = page.locator("#measures tr").all()
    cells = [row.locator("th, td").all_text_contents() for row in rows]
    table = tables.measures(RESULT)
    texts = [list(table.headings), *([cell.text for cell in row] for row in table.rows)]
    noted = [[*row[:2], "".join(row[2:])] for row in texts]
    assert cells == noted  # an interval and its note share a cell
    assert page.locator(".remarks li").all_inner_texts()[:-1] == words.remarks(RESULT)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]  # nothing half-written


def test_the_verdict_comes_first_and_what_stands_in_the_way_first_in_it(open_page):
    page, *_ = open_page(RESULT, VERDICT)
    assert page.locator("h1 + *").get_attribute("class") == "verdict reject"
    assert page.locator(".decision").text_content() == "reject"
    assert page.locator(".verdict li").all_inner_texts() == [
        f"reject slice_churn of {EVIL}: outside",
        "hold bad_flips: open",
        "promote churn: inside",
    ]
    top = page.locator(".decision").bounding_box()["y"]
    assert top < page.locator(".advice").first.bounding_box()["y"]
    sizes = [
        page.locator(name).evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
        for name in (".decision", "h1")
    ]
    assert sizes[0] > sizes[1]


def test_a_verdict_on_numbers_has_its_chart_first(open_page):
    verdict = RESULT.gate({"max_churn": 0.9, "max_slice_churn": 0.01})
    page, _, said = open_page(RESULT, verdict)
    assert page.locator("section h2").first.inner_text() == "Against the limits"
    assert f"country={EVIL}: churn"[:12] in page.locator("#chart0").inner_text()
    assert said == []


def test_a_band_that_says_nothing_does_not_press_the_points_together(open_page):
    page, *_ = open_page(compare(model(0), model(1), retrains=[model(2), model(3)]))
    chart = page.locator("section", has_text="Against retraining alone")
    assert "so few retrainings tell little" in chart.inner_text()
    ends = [float(one) for one in chart.locator(".role-axis-label text").all_text_contents()
            if one.replace(".", "").isdigit()]  # fmt: skip
    assert max(ends) < 60


def test_on_paper_it_is_light_whole_and_short(open_page):
    page, *_ = open_page(RESULT, VERDICT, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 680, "height": 900})  # A4 without its margins
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    assert not page.locator(".filters").is_visible()
    assert len(column(page, "flips", 1)) == 40
    assert page.get_by_text("On paper are the first 40.").is_visible()


def test_names_are_shown_as_text_and_never_run(open_page):
    page, asked, said = open_page(RESULT, VERDICT)
    assert page.title() == f"unchurn: {EVIL} → candidate"
    assert EVIL in page.locator("h1").inner_text()
    assert f"country={EVIL}" in column(page, "slices", 1)
    assert EVIL in column(page, "classes", 1)
    assert EVIL in column(page, "flips", 1)  # an id
    assert EVIL in column(page, "flips", 7)  # a slice's value
    drawn = page.locator(".chart svg.marks").evaluate_all(
        "all => all.map(e => e.textContent).join()"
    )
    assert "<script>" in drawn
    tips = []
    for mark in page.locator(".chart .mark-rect path, .chart .mark-symbol path").all():
        mark.hover(force=True)  # what is shown beside the mouse is HTML of Vega's own making
        tips += page.locator("#vg-tooltip-element").all_inner_texts()
    assert any(EVIL in tip for tip in tips)
    assert page.locator("script").count() == 2  # ours
    assert (len(asked), said) == (1, [])


def test_the_table_of_flips_is_filtered(open_page):
    page, *_ = open_page(RESULT)
    table = flipped(RESULT)
    assert column(page, "flips", 1) == table["id"].to_list()
    assert page.locator("#count").inner_text() == f"{table.height} of {table.height} shown"

    page.locator("#kind").select_option("good")
    good = table.filter(pl.col("kind") == "good")
    assert 0 < good.height < table.height
    assert column(page, "flips", 1) == good["id"].to_list()
    assert page.locator("#count").inner_text() == f"{good.height} of {table.height} shown"

    page.locator("#filter").fill(" DE ")  # whatever the case
    both = good.filter(pl.col("country") == "de")
    assert 0 < both.height < good.height
    assert column(page, "flips", 1) == both["id"].to_list()

    page.locator("#filter").fill("no such thing")
    assert page.locator("#count").inner_text() == f"0 of {table.height} shown"
    page.locator("#filter").fill("")
    page.locator("#kind").select_option("all kinds")
    assert len(column(page, "flips", 1)) == table.height


def test_tables_are_sorted(open_page):
    page, *_ = open_page(RESULT)
    table = flipped(RESULT)
    heading = page.locator("#flips").get_by_role("button", name="candidate's confidence")
    heading.click()
    assert column(page, "flips", 6) == [f"{c:.4f}" for c in sorted(table["confidence"])]
    heading.click()
    assert column(page, "flips", 6) == [f"{c:.4f}" for c in sorted(table["confidence"])[::-1]]
    page.locator("#flips").get_by_role("button", name="id", exact=True).click()
    numbers = [int(one[1:]) for one in column(page, "flips", 1) if one != EVIL]
    assert numbers == sorted(numbers)  # u9 before u10
    page.locator("#slices").get_by_role("button", name="examples").click()
    assert column(page, "slices", 2) == [str(n) for n in sorted(one.n for one in RESULT.slices)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(open_page, scheme):
    wide = model(1).with_columns(id=pl.Series(["x" * 300, *IDS[1:]]))
    result = compare(model(0).with_columns(id=wide["id"]), wide, slices=["country"])
    page, _, said = open_page(result, VERDICT, color_scheme=scheme, **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for chart in page.locator(".chart").all():
        assert chart.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert said == []


def test_charts_follow_the_page_into_the_dark_and_back(open_page):
    page, *_ = open_page(RESULT, color_scheme="dark")

    def brightness(selector, part):
        code = f"e => getComputedStyle(e).{part}.match(/[0-9.]+/g).slice(0, 3).map(Number)"
        return sum(page.locator(selector).first.evaluate(code)) / 3

    text = "#chart0 .role-axis-label text"
    assert brightness("body", "backgroundColor") < 60
    assert brightness(text, "fill") > 180
    assert brightness("#measures td", "color") > 180
    page.emulate_media(color_scheme="light")
    page.wait_for_function(
        "getComputedStyle(document.querySelector('#chart0 .role-axis-label text')).fill"
        " === getComputedStyle(document.body).color"
    )
    assert brightness("body", "backgroundColor") > 200
    assert brightness(text, "fill") < 80
    assert brightness("#chart0 svg.marks", "backgroundColor") > 200


def test_two_classes_have_bars_and_thresholds(open_page):
    classes = np.array(["no", "yes"])
    truth = TRUTH % 2
    sides = [model(seed, classes=classes, truth=truth) for seed in (0, 1)]
    page, _, said = open_page(compare(*sides))
    titles = page.locator("section h2").all_inner_texts()
    assert titles == [
        "What flipped",
        "From which class to which",
        "Churn along the threshold",
        "Accuracy along the threshold",
        "Measures",
    ]
    assert "no → yes" in page.locator("#chart1").inner_text()
    assert said == []


def test_arrays_without_labels_have_a_page(open_page):
    page, _, said = open_page(compare(["a", "b", "c", "a"], ["a", "c", "b", "b"]))
    titles = page.locator("section h2").all_inner_texts()
    assert titles == ["From which class to which", "Measures"]
    assert page.locator("#kind").count() == 0
    assert page.locator("#count").inner_text() == "3 of 3 shown"
    page.locator("#filter").fill("c")
    assert column(page, "flips", 1) == ["1", "2"]
    assert said == []


def test_two_equal_models_have_a_page(open_page):
    page, _, said = open_page(compare([0, 1, 1], [0, 1, 1]))
    assert page.locator(".chart").count() == 0
    assert "No prediction changed" in page.locator("body").inner_text()
    assert said == []


def test_however_many_examples_the_page_stays_small(open_page, tmp_path):
    n = 100_000
    base = np.arange(n) % 500
    result = compare(
        base, (base + 1) % 500, labels=base, slices={"part": np.arange(n) % 300}, min_slice=1
    )
    page, _, said = open_page(result)
    assert (tmp_path / "page.html").stat().st_size < 2_000_000  # Vega alone is 900,000
    assert page.locator("#flips tbody tr").count() == 1000
    assert "The first 1,000 of 100,000, bad ones first" in page.locator("body").inner_text()
    assert "among 20 of 500 classes" in page.locator("body").inner_text()
    for table in ("slices", "classes"):
        assert page.locator(f"#{table} tbody tr").count() == 200
    assert said == []
