"""Write docs/benchmarks.md and its chart from docs/benchmarks.jsonl, a line per measurement.

Usage: python benchmarks/page.py (the benchmarks themselves do it after every line)
"""

from __future__ import annotations

import json
import math
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

DOCS = Path(__file__).parent.parent / "docs"
LINES, OUT, CHART = DOCS / "benchmarks.jsonl", DOCS / "benchmarks.md", "images/benchmarks.svg"
TEMPLATE = Path(__file__).with_name("page.md")
Line = dict[str, Any]


def keep(line: Line) -> None:
    """Add a line to the measurements, instead of an earlier one of the same key."""
    lines = read()
    line["load"] = os.getloadavg()[0]  # other work on the machine blurs small ratios
    lines = [*(old for old in lines if old["key"] != line["key"]), line]
    LINES.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    print(json.dumps(line), flush=True)
    write()


def peak() -> float:
    """Multiply–adds a second on large float32 matrices: what one core does, times the cores."""
    from threadpoolctl import threadpool_limits

    a, b = (np.random.default_rng(i).random((1024, 1024), np.float32) for i in range(2))
    best = 0.0
    with threadpool_limits(1):
        for _ in range(20):
            start = time.perf_counter()
            a @ b
            best = max(best, 1024**3 / (time.perf_counter() - start))
    return best * len(os.sched_getaffinity(0))


def read() -> list[Line]:
    """What was measured so far."""
    if not LINES.exists():
        return []
    return [json.loads(line) for line in LINES.read_text("utf-8").splitlines()]


def write() -> None:
    """Write the page and its chart anew."""
    from unchurn.report.charts import save

    lines, python = read(), platform.python_version()
    parts = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {python}",
        "knn": knn_table(lines),
        "growth": growth(lines),
        "training": training(lines),
        "grid": grid(lines),
        "compare": compare_table(lines),
    }
    page = TEMPLATE.read_text("utf-8")
    for name, text in parts.items():
        page = page.replace(f"{{{name}}}", text)
    OUT.write_text(page, "utf-8")
    if any("ratio" in line for line in lines):
        save(chart(lines), DOCS / CHART)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, or a sentence if there are no rows."""
    if not rows:
        return "Not measured yet."
    cells = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def _knn(lines: list[Line]) -> list[Line]:
    """The lines of `knn.py`, real data first, then by dimensions and rows."""

    def order(line: Line) -> tuple[Any, ...]:
        n, d = (int(x.replace(",", "")) for x in line["case"].split("logits, ")[-1].split(" × "))
        return "logits" not in line["case"], d, n, line["case"], line["k"]

    return sorted((line for line in lines if "differ" in line), key=order)


def knn_table(lines: list[Line]) -> str:
    """Ratios to the best peer, case by case."""
    rows = []
    for line in _knn(lines):
        star = "*" if line["best"] in line["extrapolated"] else ""
        others = ", ".join(
            f"{peer} {seconds:.3g}" + "*" * (peer in line["extrapolated"])
            for peer, seconds in sorted(line["medians"].items(), key=lambda item: item[1])
            if peer != "unchurn"
        )
        rows.append(
            [
                line["case"], str(line["k"]), f"**{line['ratio']:.1f}**{star}",
                goal(line["ratio"], line["goal"]), line["best"],
                f"{line['medians']['unchurn']:.3g}", others,
                f"{max(line['differ'].values()):.1%}",
            ]
        )  # fmt: skip
    head = ["data", "k", "ratio", "goal", "best peer", "ours, s", "peers, s", "rows that differ"]
    return table(head, rows) + _short_of_goal(lines)


def _short_of_goal(lines: list[Line]) -> str:
    """Where the time goes in cases that miss their goal."""
    missed = [line for line in _knn(lines) if line["ratio"] < line["goal"] and "parts" in line]
    rows = [
        f"- {line['case']}, k = {line['k']}: "
        + ", ".join(f"{name} {seconds:.2g} s" for name, seconds in line["parts"].items())
        + f"; {line['medians']['unchurn']:.2g} s in all."
        for line in missed
    ]
    return "\n\nWhere the time goes where a goal is missed:\n\n" + "\n".join(rows) if rows else ""


def goal(found: float, wanted: float, shown: str = "{:g}") -> str:
    """A goal, and whether it is met."""
    return shown.format(wanted) + ("" if found >= wanted else " (not met)")


def growth(lines: list[Line]) -> str:
    """Seconds and memory along the number of rows, with the slope on a log-log scale."""
    parts = []
    for d in (2, 10):
        grown = sorted((one["n"], one["seconds"], one["gib"]) for one in lines if one.get("d") == d)
        if len(grown) > 1:
            logs = np.log([[n, seconds] for n, seconds, _ in grown])
            slope = np.polyfit(logs[:, 0], logs[:, 1], 1)[0]
            rows = [[f"{n:,}", f"{seconds:.3g}", f"{gib:.2f}"] for n, seconds, gib in grown]
            parts.append(
                f"{d} dimensions: log-log slope **{slope:.2f}**\n\n"
                + table(["rows", "seconds", "peak GiB"], rows)
            )
    return "\n\n".join(parts) or "Not measured yet."


def training(lines: list[Line]) -> str:
    """Runs an hour and the share of the peak, then where a step's time goes."""
    rows, steps = [], []
    for line in (line for line in lines if line["key"].startswith("training")):
        for name, seconds in line["medians"].items():
            ours = name == "unchurn"
            rows.append(
                [
                    line["task"], name, f"{3600 * line['runs'] / seconds:.0f}",
                    f"**{line['ratio']:.1f}** × the best" if ours else "",
                    goal(line["ratio"], line["goal"]) if ours else "",
                    f"{line['share'][name]:.0%}",
                    goal(line["share"][name], line["share_goal"], "{:.0%}") if ours else "",
                    f"{line['accuracy'][name]:.2%}",
                ]
            )  # fmt: skip
        total, turns = sum(line["step"].values()), -(-line["runs"] // line["cores"])
        parts = ", ".join(f"{name} {ms:.2f}" for name, ms in line["step"].items())
        steps.append(
            f"- {line['task']}: {total:.2f} ms a step ({parts}); at the measured peak, its matrix "
            f"products alone would take {line['products_ms']:.2f} ms. {line['runs']} runs on "
            f"{line['cores']} cores take {turns} turns: {turns} × {line['steps']:,} steps are "
            f"{turns * line['steps'] * total / 1000:.0f} s of the {line['medians']['unchurn']:.0f}."
        )
    head = ["task", "who", "runs an hour", "ratio", "goal", "of the peak", "goal", "accuracy"]
    return (
        table(head, rows)
        + ("\n\nWhere a step's time goes, in one process:\n\n" if steps else "")
        + "\n".join(steps)
    )


def grid(lines: list[Line]) -> str:
    """The `grid` preset against as many naive runs."""
    return "\n".join(
        f"The `grid` preset on {line['task']} has {line['settings']} settings × {line['runs']} "
        f"runs. Made one by one, each with its own reference and members, they are "
        f"{line['separate']:,} trainings, {line['naive_hours']:.1f} hours with the best of these "
        f"peers; unchurn makes {line['trainings']:,}, in {line['our_hours']:.1f} hours: "
        f"**{line['ratio']:.1f}** times as fast (goal {goal(line['ratio'], line['goal'])})."
        for line in lines
        if line["key"] == "grid"
    )


def compare_table(lines: list[Line]) -> str:
    """Two files of predictions, against pandas."""
    rows = []
    for line in (line for line in lines if line["key"].startswith("compare")):
        mine = line["readers"]["unchurn"]["seconds"]
        for reader, found in line["readers"].items():
            ratio = found["seconds"] / mine
            rows.append(
                [
                    line["files"], reader, f"{found['seconds']:.1f}",
                    f"{found['least']:.1f}–{found['most']:.1f}",
                    "" if reader == "unchurn" else f"**{ratio:.1f}**",
                    goal(ratio, line["goal"]) if reader.startswith("pandas") else "",
                    f"{found['processor']:.1f}", f"{found['GiB']:.2f}",
                ]
            )  # fmt: skip
    head = [
        "files",
        "reader",
        "seconds",
        "spread",
        "ratio",
        "goal",
        "processor seconds",
        "peak GiB",
    ]
    return table(head, rows)


def chart(lines: list[Line]) -> Any:
    """How many times as fast as the best peer, and the goals."""
    import altair as alt

    rows = [
        {
            "case": line["case"], "k": f"k = {line['k']}", "ratio": line["ratio"],
            "goal": line["goal"], "order": math.log10(line["k"]),
        }
        for line in _knn(lines)
    ]  # fmt: skip
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.Y("k:N", title=None, sort=["k = 10", "k = 100", "k = 500"])
    )
    x = alt.X("ratio:Q", title="times as fast as the best peer (line: goal)")
    layers = alt.layer(
        base.mark_bar().encode(x, alt.Color("k:N", legend=None)),
        base.mark_tick(thickness=2, color="black").encode(alt.X("goal:Q")),
        width=360,
        height=60,
    )
    order = list(dict.fromkeys(row["case"] for row in rows))
    header = alt.Header(labelAngle=0, labelAlign="left", title=None)
    return layers.facet(row=alt.Row("case:N", sort=order, header=header)).properties(
        title="k-NN labels beside the best of SciPy, scikit-learn, pykdtree and FAISS"
    )


if __name__ == "__main__":
    write()
