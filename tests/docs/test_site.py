"""The site builds strictly; its links lead somewhere; in a browser it searches and asks nothing."""

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import typer

import unchurn
from unchurn import cli
from unchurn.methods import METHODS

DOCS = Path(__file__).parents[2] / "docs"
STRICTLY = ("-W", "--keep-going", "-q")  # as `make docs` does

pytestmark = pytest.mark.xdist_group("site")  # it is built once


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    doctrees = out.with_name(f"{out.name}-doctrees")
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *STRICTLY, "-d", doctrees, source, out],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("docs") / "site"
    built = build(DOCS, out)
    assert built.returncode == 0, built.stderr
    return out


class Page(HTMLParser):
    """What a page refers to, and what can be referred to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.refers: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        self.refers += [given[key] for key in ("href", "src") if given.get(key)]


def broken(folder: Path) -> list[str]:
    """References within a folder of pages that lead nowhere, and scripts or styles from outside."""
    inside = (path for path in folder.rglob("*.html") if path.parent.name != "_static")
    pages = {path: Page(path) for path in inside}
    found = []
    for path, page in pages.items():
        for refers in page.refers:
            parts = urlsplit(refers)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not there.is_file():
                found.append(f"{path.relative_to(folder)}: {refers}: no such file")
            elif anchor and there in pages and anchor not in pages[there].anchors:
                found.append(f"{path.relative_to(folder)}: {refers}: no such place in it")
    return found


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here">b</a> <a id="x" href="#x">x</a>')
    (tmp_path / "b.html").write_text('<p id="here"><img src="none.svg"><a href="a.html#y">a</a>')
    assert broken(tmp_path) == [
        "b.html: none.svg: no such file",
        "b.html: a.html#y: no such place in it",
    ]


def test_a_broken_link_breaks_the_build(tmp_path):
    source = tmp_path / "docs"
    source.mkdir()
    for name in ("conf.py", "from_code.py", "static"):
        (source / name).symlink_to(DOCS / name)
    (source / "index.md").write_text("# One\n\n[here](#one), [there](none.md), [nowhere](#two)\n")
    built = build(source, tmp_path / "site")
    assert built.returncode == 1
    assert built.stderr.count("WARNING") == 2
    assert "none.md" in built.stderr
    assert "'two'" in built.stderr


def test_links_lead_somewhere(site):
    assert broken(site) == []


def test_every_page_is_there(site):
    pages = {path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*.md")}
    assert len(pages) > 25
    for page in pages:
        assert (site / page).with_suffix(".html").is_file()


def anchors(site: Path, pattern: str) -> set[str]:
    return set().union(*(Page(path).anchors for path in site.glob(pattern)))


def test_every_public_name_and_method_is_in_the_reference(site):
    found = anchors(site, "reference/*.html")
    assert {f"unchurn.{name}" for name in unchurn.__all__ if name != "__version__"} <= found
    assert {f"unchurn.methods.{kind.__name__}" for kind in METHODS.values()} <= found


def test_every_command_and_option_is_in_the_reference(site):
    found = anchors(site, "reference/cli.html")

    def expected(command, path):
        for parameter in command.params:
            if parameter.param_type_name == "option":
                yield f"cmdoption-{path}-{parameter.opts[0].lstrip('-')}"
        for name, below in getattr(command, "commands", {}).items():
            yield f"{path}-{name}"
            yield from expected(below, f"{path}-{name}")

    wanted = set(expected(typer.main.get_command(cli.app), "unchurn"))
    assert len(wanted) > 100
    assert wanted <= found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_navigation_is_followed(site, visit, scheme):
    page, asked, said = visit(site / "index.html", color_scheme=scheme)
    for name in ("Tutorial", "How-to", "Concepts", "Gallery", "Reference", "Results"):
        page.locator(".bd-header .navbar-nav").get_by_role("link", name=name, exact=True).click()
        assert page.locator("h1").inner_text().startswith(name)
    page.locator(".bd-sidebar-primary").get_by_role("link", name="The statistics").click()
    assert page.locator("h1").inner_text().startswith("The statistics")
    assert all(url.startswith("file://") for url in asked)
    assert [line for line in said if not line.startswith("[PST]: ")] == []
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    is_dark = sum(int(part) for part in background.strip("rgb()").split(",")) < 150
    assert is_dark == (scheme == "dark")


def test_search_finds_a_page_an_option_and_a_name(site, visit):
    for words, expected in {
        "noise floor": "Noise floors and intervals",
        "max-excess-churn": "Command line",
        "StableClassifier": "Reduce",
    }.items():
        page, asked, _ = visit(site / "index.html")
        page.keyboard.press("Control+k")
        page.get_by_role("searchbox").first.fill(words)
        page.keyboard.press("Enter")
        page.wait_for_selector("#search-results ul.search li")
        results = page.locator("#search-results ul.search li")
        results.filter(has_text=expected).get_by_role("link").first.click()
        page.wait_for_selector("h1")
        assert page.locator("h1").inner_text().startswith(expected)
        assert all(url.startswith("file://") for url in asked)


@pytest.mark.parametrize("name", ["index", "tutorial", "how-to/ci", "reference/cli", "beyond"])
def test_it_fits_a_phone(site, visit, name):
    page, *_ = visit(site / f"{name}.html", viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
