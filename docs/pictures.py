"""Draw the README's pictures anew: `make picture` (needs Chromium for the page's)."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
METHODS = "control,label_smoothing,knn_ls,l2_reg,mixup,ensemble"
BENCH = ("--preset", "grid", "--methods", METHODS, "--runs", "3", "--epochs", "5")


def main() -> None:
    """The doubtful digits, and the top of a report on digits."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, ROOT / "examples/doubtful_digits.py"], cwd=folder, check=True
        )
        shutil.copy(Path(folder) / "demo/doubtful_digits.svg", IMAGES)
        unchurn = Path(sys.executable).with_name("unchurn")
        subprocess.run([unchurn, "bench", *BENCH, "--out", "digits"], cwd=folder, check=True)
        subprocess.run([unchurn, "report", "digits"], cwd=folder, check=True)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(
                viewport={"width": 1000, "height": 1060}, device_scale_factor=1.5
            )
            page.goto(f"file://{folder}/digits/report.html")
            page.wait_for_selector(".chart .marks")
            page.screenshot(path=IMAGES / "report.png")
            browser.close()


if __name__ == "__main__":
    main()
