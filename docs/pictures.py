"""Draw the README's pictures anew: `make picture` (needs Chromium; some minutes).

The pages in them are made by the README's own commands, as they stand there.
"""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
FILES = "demo/release_gate"  # where an example writes what models predict
CANDIDATE = "retrained"
# Each picture: its page, and the heading above which it ends.
PAGES = {
    "compare.png": ("compare.html", "From which class to which"),
    "gate.png": ("gate.html", "What flipped"),
    "report.png": ("bench-phishing/report.html", "Methods"),
}


def commands() -> dict[str, list[str]]:
    """The README's first command of each verb: its words behind `unchurn`."""
    text = (ROOT / "README.md").read_text("utf-8").replace("\\\n", "")
    blocks = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    found: dict[str, list[str]] = {}
    for line in re.findall(r"^unchurn (.*)$", blocks, re.MULTILINE):
        words = shlex.split(line, comments=True)
        found.setdefault(words[0], words)
    return found


def main() -> None:
    """The doubtful digits; the tops of a comparison's, a gate's and a study's page."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)

        def run(*words: object) -> None:
            subprocess.run([str(word) for word in words], cwd=folder, check=True)

        run(sys.executable, ROOT / "examples/doubtful_digits.py")
        shutil.copy(folder / "demo/doubtful_digits.svg", IMAGES)
        run(sys.executable, ROOT / "examples/release_gate.py")
        for path in (folder / FILES).iterdir():
            shutil.copy(path, folder / path.name.replace(CANDIDATE, "candidate"))
        own = commands()
        unchurn = Path(sys.executable).with_name("unchurn")
        for verb in ("compare", "gate"):
            run(unchurn, *own[verb], "--html", f"{verb}.html")
        for verb in ("bench", "report"):
            run(unchurn, *own[verb])
        _photograph(folder)


def _photograph(folder: Path) -> None:
    """Every page's top, down to the heading that is named."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, (page, heading) in PAGES.items():
            shown = browser.new_page(
                viewport={"width": 1000, "height": 1600}, device_scale_factor=1.5
            )
            shown.goto(f"file://{folder}/{page}")
            shown.wait_for_selector(".chart .marks")
            shown.add_style_tag(content=".chart summary { display: none; }")
            box = shown.get_by_role("heading", name=heading, exact=True).bounding_box()
            assert box is not None  # noqa: S101
            clip = {"x": 0, "y": 0, "width": 1000, "height": box["y"] - 8}
            shown.screenshot(path=IMAGES / name, clip=clip)
        browser.close()


if __name__ == "__main__":
    main()
