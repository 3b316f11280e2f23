"""Simulate how often every interval covers what it estimates, and write docs/statistics.md.

Usage: python benchmarks/coverage/simulate.py [--quick] [--out docs/statistics.md]
The whole takes about ten minutes of one core. Seeds are fixed: the page is the same each time.
"""

from __future__ import annotations

import argparse
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import of_gate
import over_examples
import over_retrainings
from frequencies import Table

COMMAND = "python benchmarks/coverage/simulate.py"
PAGE = Path(__file__).with_name("page.md")
DRAWS: dict[str, tuple[Callable[[np.random.Generator, int], Any], int, int]] = {
    # what to simulate, draws of it in full and in a quick run
    "rates": (over_examples.rates, 20_000, 2000),
    "conditional": (over_examples.conditional, 10_000, 1000),
    "differences": (over_examples.differences, 4000, 300),
    "clusters": (over_examples.clusters, 2000, 30),
    "sliced": (over_examples.sliced, 2000, 30),
    "floors": (over_retrainings.floors, 2000, 12),
    "clustered floors": (over_retrainings.clustered_floors, 1000, 12),
    "settings": (over_retrainings.settings, 1500, 12),
    "gate": (of_gate.gate, 3000, 20),
    "losses": (of_gate.losses, 4000, 200),
    "excesses": (of_gate.excesses, 4000, 400),
}


def simulate(name: str, draws: int) -> dict[str, Table]:
    """The tables of one simulation; each has a seed of its own."""
    found = DRAWS[name][0](np.random.default_rng(zlib.crc32(name.encode())), draws)
    return found if isinstance(found, dict) else {name: found}


def facts() -> dict[str, str]:
    """What the page says of the models."""
    return {
        "command": COMMAND,
        "middle": f"{over_retrainings.Recipe.middle:g}",
        "slices": str(of_gate.SLICES),
    }


def main() -> None:
    """Simulate all, and put the tables into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws: to try it")
    parser.add_argument("--out", type=Path, default=Path("docs/statistics.md"))
    options = parser.parse_args()
    page = PAGE.read_text("utf-8")
    for name, fact in facts().items():
        page = page.replace(f"{{{name}}}", fact)
    for name, (_, many, few) in DRAWS.items():
        start = time.perf_counter()
        for title, table in simulate(name, few if options.quick else many).items():
            page = page.replace(f"{{{title}}}", table.markdown().strip())
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    options.out.write_text(page, "utf-8")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
