"""Simulate how often every interval covers what it estimates, and write docs/statistics.md.

Usage: python benchmarks/interval_coverage/simulate.py [--quick] [--only NAME …] [--out PAGE]
The whole takes about 25 minutes of one core. Seeds are fixed, one for each simulation:
the page is the same each time. Tables are kept in tables.json beside this file; --only makes some
anew and takes the others from there.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import of_advice
import of_choices
import of_decisions
import of_gate
import over_bases
import over_examples
import over_retrainings
from frequencies import Table

COMMAND = "python benchmarks/interval_coverage/simulate.py"
PAGE = Path(__file__).with_name("page.md")
KEPT = Path(__file__).with_name("tables.json")
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
    "bases": (over_bases.bases, 1500, 12),
    "choices": (of_choices.choices, 1500, 6),
    "recommendations": (of_advice.recommendations, 1500, 6),
    "gate": (of_gate.gate, 3000, 20),
    "slice decisions": (of_decisions.slices, 2000, 20),
    "loss decisions": (of_decisions.losses, 2000, 20),
    "losses": (of_gate.losses, 4000, 200),
    "excesses": (of_gate.excesses, 4000, 400),
    "pilots": (of_gate.pilots, 500, 10),
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
        "runs": str(of_choices.RUNS),
        "test": f"{of_choices.TEST:,}",
        "validation": f"{of_choices.VALIDATION:,}",
        "slices": str(of_gate.SLICES),
        "rows": f"{of_decisions.ROWS:,}",
        "churn": f"{of_decisions.CHURN:.0%}",
        "limit": f"{of_decisions.LIMIT:.1%}",
    }


def page(tables: dict[str, str]) -> str:
    """The page with its tables."""
    text = PAGE.read_text("utf-8")
    for name, found in (facts() | tables).items():
        text = text.replace(f"{{{name}}}", found)
    return text


def main() -> None:
    """Simulate all, and put the tables into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few draws: to try it")
    parser.add_argument("--only", nargs="+", choices=DRAWS, default=list(DRAWS), metavar="NAME")
    parser.add_argument("--out", type=Path, default=Path("docs/statistics.md"))
    options = parser.parse_args()
    tables = json.loads(KEPT.read_text("utf-8")) if len(options.only) < len(DRAWS) else {}
    for name in options.only:
        start = time.perf_counter()
        _, many, few = DRAWS[name]
        made = simulate(name, few if options.quick else many)
        tables |= {title: table.markdown().strip() for title, table in made.items()}
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    if not options.quick:
        kept = json.dumps(dict(sorted(tables.items())), indent=1, ensure_ascii=False)
        KEPT.write_text(f"{kept}\n", "utf-8")
    options.out.write_text(page(tables), "utf-8")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
