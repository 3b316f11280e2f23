"""The record of all that was tried: by what the cases were, their seed and how far it went.

It is committed, so that the next run goes on where the last one stopped. What a case is changes
with targets, ways to spoil and the libraries that write files: then the same numbers are new cases.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

OUTCOMES = ("answered", "refused", "find")
Entry = dict[str, Any]  # cases, seed, done: its cases 0 up to this one; seconds, counts by target


def load(path: Path) -> list[Entry]:
    """All entries, the first first."""
    entries: list[Entry] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return entries


def entry_of(path: Path, cases: str, seed: int) -> Entry:
    """How far these cases of this seed were tried, and what came of it."""
    same = [e for e in load(path) if (e["cases"], e["seed"]) == (cases, seed)]
    return same[0] if same else {"cases": cases, "seed": seed, "done": 0, "seconds": 0.0,
                                 "counts": {}}  # fmt: skip


def add(entry: Entry, target: str, ended: str, seconds: float) -> None:
    """Count one more case."""
    entry["counts"].setdefault(target, dict.fromkeys(OUTCOMES, 0))[ended] += 1
    entry["done"] += 1
    entry["seconds"] = round(entry["seconds"] + seconds, 3)


def keep(path: Path, entry: Entry) -> None:
    """Write an entry in its place, or as the last; all others stay."""
    entries = load(path)
    places = [(e["cases"], e["seed"]) for e in entries]
    entry = {**entry, "counts": dict(sorted(entry["counts"].items()))}
    if (entry["cases"], entry["seed"]) in places:
        entries[places.index((entry["cases"], entry["seed"]))] = entry
    else:
        entries.append(entry)
    lines = [_line(one) for one in entries]
    unfinished = path.with_name(f"{path.name}.tmp")
    unfinished.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    unfinished.replace(path)


def _line(entry: Entry) -> str:
    """An entry with a line for each target, so that changes are seen."""
    counts = [f"   {json.dumps(t)}: {json.dumps(c)}" for t, c in entry["counts"].items()]
    about = json.dumps({key: value for key, value in entry.items() if key != "counts"})
    return f' {about[:-1]}, "counts": {{\n' + ",\n".join(counts) + "\n }}"


def table(entries: list[Entry]) -> str:
    """What came of it, as Markdown."""
    totals: dict[str, Counter[str]] = {}
    for entry in entries:
        for target, counts in entry["counts"].items():
            totals.setdefault(target, Counter()).update(counts)
    everything: Counter[str] = sum(totals.values(), Counter())
    hours = sum(entry["seconds"] for entry in entries) / 3600
    once = sum(entry.get("died_once", 0) for entry in entries)
    not_again = f" {once} ended or stalled once and not again." if once else ""
    lines = [
        f"`python benchmarks/fuzz.py`, as [its record](../benchmarks/fuzz_record.json) has it: "
        f"**{everything.total():,} cases tried, {everything['find']:,} that crashed, hung or were "
        f"not one line**, in {hours:.1f} hours of one core.{not_again}",
        "",
        "| what reads | cases | answered | refused in one line | finds |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for target, counts in sorted(totals.items()):
        cells = " | ".join(f"{counts[outcome]:,}" for outcome in OUTCOMES)
        lines.append(f"| {target} | {counts.total():,} | {cells} |")
    return "\n".join(lines)
