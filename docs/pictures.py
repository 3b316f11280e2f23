"""Draw the README's pictures anew: `make picture` (needs Chromium; some minutes)."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
PREDICTIONS = "demo/upgrade/predictions"
BASE = f"{PREDICTIONS}/base-model-0.parquet"
CANDIDATE = f"{PREDICTIONS}/control-0.parquet"
GATE = ("--max-bad-flips", "0.01", "--max-accuracy-loss", "0", "--html", "gate.html")
RETRAINED = "demo/retrain/predictions"
COMPARE = (
    f"{RETRAINED}/control-0.parquet", f"{RETRAINED}/weight_decay+safe_ema-1.parquet",
    "--retrains", "demo/retrain", "--html", "compare.html",
)  # fmt: skip
# Each picture: the page, and how much of its top is shown.
PAGES = {
    "compare.png": ("compare.html", 800),
    "gate.png": ("gate.html", 900),
    "report.png": ("demo/retrain/report.html", 830),
}


def main() -> None:
    """The doubtful digits; the tops of a comparison's, a gate's and a study's page, from a demo."""
    unchurn = Path(sys.executable).with_name("unchurn")
    with tempfile.TemporaryDirectory() as folder:

        def run(*words: object, codes: tuple[int, ...] = (0,)) -> None:
            if subprocess.run(words, cwd=folder, check=False).returncode not in codes:
                raise RuntimeError(f"{words} failed")

        run(sys.executable, ROOT / "examples/doubtful_digits.py")
        shutil.copy(Path(folder) / "demo/doubtful_digits.svg", IMAGES)
        run(unchurn, "demo")
        run(unchurn, "report", "demo/retrain")
        run(unchurn, "compare", *COMPARE)
        run(unchurn, "gate", BASE, CANDIDATE, *GATE, codes=(0, 1, 3))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            for name, (page, height) in PAGES.items():
                shown = browser.new_page(
                    viewport={"width": 1000, "height": height}, device_scale_factor=1.5
                )
                shown.goto(f"file://{folder}/{page}")
                shown.wait_for_selector(".chart .marks")
                shown.screenshot(path=IMAGES / name)
            browser.close()


if __name__ == "__main__":
    main()
