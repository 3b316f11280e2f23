"""Build the wheel and the sdist, install them in empty environments, try every verb in each.

    python benchmarks/package/environments.py          (make package: minutes, some gigabytes)
    python benchmarks/package/environments.py --only wheel oldest
    python benchmarks/package/environments.py --python python3.12 --only wheel knn charts

`wheel` and `sdist` are without extras, `oldest` has all extras and the lowest version of every
dependency that pyproject.toml allows; each other one is the wheel with that extra. torch is the
one of constraints.txt, in `oldest` too unless --oldest-torch is given: what the index has of an
older one may bring gigabytes of CUDA.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from declared import ROOT, extras, oldest

DIST = ROOT / "dist"
NAMES = ("wheel", "sdist", *extras(), "oldest")


def main() -> int:
    """Build, then try the environments one after another; give how many failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--python", default=sys.executable, help="whose environments they are")
    parser.add_argument("--oldest-torch", action="store_true", help="the oldest torch, too")
    given = parser.parse_args()
    os.environ.pop("PYTHONPATH", None)  # what is tried is what is installed
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder) / "build")
        failed = [
            name
            for name in given.only
            if not tried(name, Path(folder) / name, given.python, oldest_torch=given.oldest_torch)
        ]
    print("all as promised" if not failed else f"failed: {', '.join(failed)}")
    return len(failed)


def build(folder: Path) -> None:
    """Build both into dist/, the wheel from the sdist, with what pyproject.toml asks for alone."""
    shutil.rmtree(DIST, ignore_errors=True)
    python = make_environment(folder, sys.executable)
    call(python, "-m", "pip", "install", "--quiet", "build")
    call(python, "-m", "build", "--outdir", DIST, ROOT)
    shutil.rmtree(folder)
    (wheel,) = DIST.glob("*.whl")
    source = ROOT / "src"
    there = {path.relative_to(source).as_posix() for path in source.glob("unchurn/**/*")
             if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip
    if lost := sorted(there - set(zipfile.ZipFile(wheel).namelist())):
        raise SystemExit(f"not in {wheel.name}: {', '.join(lost)}")


def tried(name: str, folder: Path, python: str, *, oldest_torch: bool) -> bool:
    """Install in an empty environment, run smoke.py there; whether all was as promised."""
    began = time.perf_counter()
    asked = {name} & set(extras()) if name != "oldest" else set(extras())
    there = make_environment(folder, python)
    (file,) = DIST.glob("*.tar.gz" if name == "sdist" else "*.whl")
    pins = folder / "pins.txt"
    pins.write_text("".join(f"{line}\n" for line in constraints(name, oldest_torch=oldest_torch)))
    what = f"unchurn[{','.join(sorted(asked))}] @ {file.as_uri()}" if asked else str(file)
    print(f"== {name}: {file.name}, extras {', '.join(sorted(asked)) or 'none'}", flush=True)
    call(there, "-m", "pip", "install", "--quiet", "--no-compile", "--constraint", pins, what)
    installed = time.perf_counter() - began
    brought = {other for extra in asked for other in extras()[extra]}
    smoke = Path(__file__).with_name("smoke.py")
    done = subprocess.run([there, smoke, *sorted(brought)], cwd=folder, check=False)
    spent = time.perf_counter() - began - installed
    print(f"   installed in {installed:.0f} s, tried in {spent:.0f} s", flush=True)
    shutil.rmtree(folder)
    return done.returncode == 0


def constraints(name: str, *, oldest_torch: bool) -> list[str]:
    """What pip may choose: torch as it is pinned; for `oldest`, all lower bounds."""
    pinned = re.findall(r"^torch==\S+$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    if name != "oldest":
        return pinned
    bounds = [f"{package}=={lowest}" for package, lowest in oldest().items() if package != "torch"]
    return [*bounds, f"torch=={oldest()['torch']}"] if oldest_torch else [*bounds, *pinned]


def make_environment(folder: Path, python: str) -> Path:
    """An empty virtual environment; give its Python."""
    call(python, "-m", "venv", folder)
    return folder / "bin/python"


def call(*words: object) -> None:
    """Run a command, which must not fail."""
    subprocess.run([str(word) for word in words], check=True)


if __name__ == "__main__":
    sys.exit(main())
