"""docs/upgrade.md: what upgrades break and what helps, from the kept results, and its chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unchurn.core.files import write_text
from unchurn.methods.registry import FROM_ANSWERS
from unchurn.paper.beyond.tables import TABLES
from unchurn.paper.markdown import markdown_table, render_page
from unchurn.paper.records import read_all, write_numbers
from unchurn.paper.studies import RECIPES
from unchurn.paper.united import of_recipe
from unchurn.paper.upgrade.charts import DEFAULT, frontier
from unchurn.paper.upgrade.fresh import on_fresh
from unchurn.paper.upgrade.rows import Over, Row, cell, choose, over, read_rows
from unchurn.paper.upgrade.study import UPGRADE, settings
from unchurn.paper.upgrade.task_charts import LEAST, MOST, frontiers
from unchurn.report.numbers import NONE, bare_percent, difference, signed
from unchurn.study.design.settings import make_setting
from unchurn.study.results.result import CONTROL

WITHOUT_WEIGHTS = make_setting(FROM_ANSWERS).facts().written
THIRD, FIFTH = 1 / 3, 1 / 5  # of plain retraining's bad flips: the goals


def write_upgrade(folder: Path) -> list[Path]:
    """Write FOLDER.md, and its charts and numbers into the folder; return all paths."""
    from unchurn.report.charts import save

    folder = folder.resolve() if folder.name in ("", "..") else folder
    rows = read_rows(folder)
    text = _render(folder, rows)  # bad results raise before anything is written
    charts = [folder / "frontier.svg"]
    recipes = _compared(_seen(rows))
    save(frontier(recipes, f"mean of the {recipes[0].n} datasets with all of these"), charts[0])
    if tasks := {name: rows[name] for name in RECIPES if name in rows}:
        charts.append(folder / "tasks.svg")
        save(frontiers(tasks, (THIRD, FIFTH)), charts[1])
    page = folder.with_name(f"{folder.name}.md")
    write_text(page, text)
    return [*charts, *write_numbers(folder, read_all(folder)), page]


def _render(folder: Path, rows: dict[str, list[Row]]) -> str:
    seen = _seen(rows)
    there = list(seen)
    every = over(seen)
    return render_page(
        "unchurn.paper.upgrade",
        "upgrade.md.jinja",
        folder=folder.name,
        there=there,
        tasks=[name for name in there if name in RECIPES],
        missing=[name for name in RECIPES if name not in rows],
        partial={name: counts for name in there if (counts := _counts(name, rows[name]))},
        default=of_recipe(every, DEFAULT, UPGRADE),
        without=of_recipe(every, WITHOUT_WEIGHTS, UPGRADE),
        longer=of_recipe(every, "longer+safe_ema", UPGRADE),
        warm=of_recipe(every, "warm_start+safe_ema", UPGRADE),
        goals=_goals(seen),
        reached=reached(seen),
        fresh=on_fresh(rows),
        rare=_rare(rows),
        recipes=_recipes(every),
        dataset_tables={name: _dataset_table(rows[name]) for name in there if name in RECIPES},
        most=MOST,
        least=LEAST,
        percent=bare_percent,
        signed=signed,
    )


def _seen(rows: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """The tasks and the tables that every recipe is tried on."""
    return {name: rows[name] for name in (*RECIPES, *TABLES) if name in rows}


def _compared(rows: dict[str, list[Row]]) -> list[Over]:
    """The recipes that all datasets have, so that means compare; datasets in part are left out."""
    whole = {name: own for name, own in rows.items() if _counts(name, own) is None} or rows
    return [one for one in over(whole) if one.n == len(whole)]


def _counts(dataset: str, rows: list[Row]) -> tuple[int, int] | None:
    """How many settings were tried, and how many are to be; None if all were."""
    wanted = {setting.facts().written for setting in settings(dataset)}
    tried = wanted & {row.recipe for row in rows}
    return None if tried == wanted else (len(tried), len(wanted))


def _chosen(rows: list[Row]) -> tuple[Row, Row, Row, Row]:
    """Plain retraining, the default, and what validation chooses: of single models, and of all."""
    plain, default = (of_recipe(rows, name, UPGRADE) for name in (CONTROL, DEFAULT))
    return plain, default, choose(r for r in rows if r.served == 1), choose(rows)


def _goals(rows: dict[str, list[Row]]) -> str:
    """A line for each dataset: what each of four ways breaks."""
    lines = []
    for name, own in rows.items():
        plain, default, single, both = _chosen(own)
        about = [bare_percent(plain.mean(m)) for m in ("accuracy_base", "accuracy", "bad_flips")]
        cells = [cell(default), *(f"`{row.recipe}` {cell(row)}" for row in (single, both))]
        lines.append([name, *about, *cells])
    headings = ["dataset", "base", "plain", "bad flips", f"`{DEFAULT}`", "one model, chosen",
                "also with the base, chosen"]  # fmt: skip
    return markdown_table(headings, lines)


def reached(rows: dict[str, list[Row]]) -> dict[str, Any]:
    """Where the goals are met on the test part, by what was chosen beforehand."""
    found: dict[str, Any] = {"n": 0, "single": [], "both": [], "default": []}
    for name, own in rows.items():
        plain, default, single, both = _chosen(own)
        if plain.mean("bad_flips") == 0:
            continue
        found["n"] += 1
        for kind, row, most in (
            ("default", default, THIRD), ("single", single, THIRD), ("both", both, FIFTH),
        ):  # fmt: skip
            if row.ratio <= most and row.gain >= 0:
                found[kind].append(name)
    kinds = ("single", "both", "default")
    found["on_tasks"] = {kind: sum(name in RECIPES for name in found[kind]) for kind in kinds}
    return found


def _rare(rows: dict[str, list[Row]]) -> dict[str, Any] | None:
    """What the default finds of rare classes, over all datasets that have one; None if none has."""
    defaults = [row for own in rows.values() for row in own if row.recipe == DEFAULT]
    known = sorted(
        ((row.dataset, row.rare) for row in defaults if row.rare is not None),
        key=lambda one: one[1].successor,
    )
    if not known:
        return None
    return {
        "n": len(known),
        "successor": sum(found.successor for _, found in known) / len(known),
        "base": sum(found.base for _, found in known) / len(known),
        "least": known[:3],
    }


def _recipes(every: list[Over]) -> str:
    """Every recipe over all datasets."""
    headings = ["recipe", "served", "datasets", "bad flips, % of plain's", "accuracy − plain's",
                "bad flips lower", "higher", "accuracy lower", "higher"]  # fmt: skip
    lines = [
        [
            f"`{one.recipe}`", str(one.served), str(one.n),
            bare_percent(one.ratio, 0), signed(one.gain),
            *(str(count(metric) or NONE) for metric in ("bad_flips", "accuracy")
              for count in (one.n_lower, one.n_higher)),
        ]
        for one in every
        if one.recipe != CONTROL
    ]  # fmt: skip
    return markdown_table(headings, lines)


def _dataset_table(rows: list[Row]) -> str:
    """Everything that was tried on a dataset, the fewest bad flips first."""
    metrics = ("accuracy", "bad_flips", "churn_to_base", "good_flips", "flip_index", "churn_among")
    headings = [
        "recipe", "served", "accuracy", "bad flips", "churn to base", "good flips", "flip index",
        "churn of two", "bad flips − plain's", "accuracy − plain's",
    ]  # fmt: skip
    lines = [
        [
            f"`{row.recipe}`", str(row.served),
            *(bare_percent(row.mean(metric)) for metric in metrics),
            *(difference(row.less_plain[m]) if row.less_plain else NONE
              for m in ("bad_flips", "accuracy")),
        ]
        for row in sorted(rows, key=lambda row: row.mean("bad_flips"))
    ]  # fmt: skip
    return markdown_table(headings, lines)
