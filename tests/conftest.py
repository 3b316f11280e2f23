"""Shared by all tests: nobody's own data or cache is touched, nothing leaves this machine."""

import os
import shutil
import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import settings

from unchurn.datasets.phishing import FEATURES, TARGET

# No test asserts a time: on a busy machine any example may take long, and the first calls compile.
settings.register_profile("unchurn", deadline=None)
settings.load_profile("unchurn")

# Where tests share the cores, OpenMP's threads would spin as they wait for each other.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

CHROMIUM = shutil.which("chromium")
REAL_DATA = os.environ.get("UNCHURN_DATA")


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test an empty cache, no data folder and no way to a proxy."""
    monkeypatch.setenv("UNCHURN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("UNCHURN_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers of this test alone, whatever ran before it: seeded by its name."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the publishers' own files, where there is one."""
    if not REAL_DATA:
        pytest.skip("UNCHURN_DATA is not set: not tried on the real data")
    return Path(REAL_DATA)


@pytest.fixture
def small_phishing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in Phishing's form, with 300 made-up rows."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], 300)
    x = rng.choice([-1, 0, 1], (300, len(FEATURES)))
    x[:, :3] = np.where(rng.random((300, 3)) < 0.7, y[:, None], x[:, :3])
    folder = tmp_path / "data/phishing"
    folder.mkdir(parents=True)
    pl.DataFrame(np.column_stack([x, y]), [*FEATURES, TARGET]).write_csv(folder / "phishing.csv")
    monkeypatch.setenv("UNCHURN_DATA", str(tmp_path / "data"))


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium, in which pages are tried."""
    from playwright.sync_api import sync_playwright

    if CHROMIUM is None:
        pytest.skip("chromium is not installed: the page was not tried in a browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Open a file in a real browser; give the page with what it asked for and said."""

    def visit_(path, **options):
        page = browser.new_context(**options).new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(f"file://{path}")
        return page, asked, said

    return visit_
