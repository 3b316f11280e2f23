"""docs/beyond.md: what lowers churn at which cost, from the kept results, and its charts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unchurn.core.errors import InputError
from unchurn.core.files import write_text
from unchurn.methods.registry import DEFAULT, PLUS
from unchurn.paper.beyond.cards import CARDS
from unchurn.paper.beyond.charts import MOST_CHURN, costs, is_above, tasks
from unchurn.paper.beyond.decision import decide
from unchurn.paper.beyond.goals import Choice, Goals
from unchurn.paper.beyond.harm import FEW_ROWS, find_harm
from unchurn.paper.beyond.resampled import Resampled, both_ways
from unchurn.paper.beyond.rows import (
    Over,
    Row,
    add_papers,
    changed,
    only_on_tables,
    over,
    over_tables,
    read_rows,
)
from unchurn.paper.beyond.study import (
    AFTERWARDS,
    DECAYING,
    FORMER,
    LATER,
    MIXED,
    SHORT,
    SMOOTH,
    TOGETHER,
    settings,
)
from unchurn.paper.beyond.successor import Succession, succession
from unchurn.paper.beyond.tables import (
    BEYOND,
    BEYOND_RESAMPLED,
    BEYOND_SHORT,
    FRESH,
    NEWEST,
    TABLES,
)
from unchurn.paper.markdown import markdown_table, render_page
from unchurn.paper.records import read_all, write_numbers
from unchurn.paper.studies import RECIPES
from unchurn.report.numbers import NONE, bare_percent, difference, signed
from unchurn.study.design.settings import make_setting

REPRODUCTION = "reproduction"  # the folder of the paper's own results, beside ours
# The recipes that the table of all tables has room for.
SHOWN = (
    DEFAULT, "safe_ema", "ema", "swa", "decay+ema", "label_smoothing(a=0.1)+ema",
    "mixup(a=0.2)+ema", "early", "distill(m=5, a=1)+ema", "ensemble(m=5)", "ensemble(m=5)+ema",
    "bagging(m=5)", *FORMER,
)  # fmt: skip
ENOUGH = 0.6  # of plain training's churn: a free recipe is to lower it by 40 %


def write_beyond(folder: Path) -> list[Path]:
    """Write FOLDER.md, and its charts and numbers into the folder; return all paths."""
    from unchurn.report.charts import save

    folder = folder.resolve() if folder.name in ("", "..") else folder
    results = _read(folder)
    text = _render(folder, results)  # bad results raise before anything is written
    written = []
    for name, chart in _charts(results).items():
        written.append(folder / name)
        save(chart, written[-1])
    written += write_numbers(folder, read_all(folder))
    written.append(folder.with_name(f"{folder.name}.md"))
    write_text(written[-1], text)
    return written


def page(folder: Path) -> str:
    """The page's Markdown, from the results in a folder."""
    return _render(folder, _read(folder))


@dataclass(frozen=True)
class _Results:
    """What the page is made from."""

    rows: dict[str, list[Row]]  # by dataset
    in_part: dict[str, tuple[int, int]]  # how many settings, and of how many, if some are missing
    resampled: list[Resampled]  # of the tables, then of tasks
    succession: Succession | None  # of the newest tables, once all are there


def _read(folder: Path) -> _Results:
    rows = read_rows(folder)
    if not rows:
        raise InputError(f"{folder} has no results of `unchurn reproduce {BEYOND}`")
    in_part = _in_part(rows)
    drawn = read_rows(folder, BEYOND_RESAMPLED)
    each = (both_ways(rows, drawn, names) for names in (TABLES, RECIPES))
    resampled = [found for found in each if found is not None]
    add_papers(
        {name: own for name, own in rows.items() if name in RECIPES}, folder.with_name(REPRODUCTION)
    )
    return _Results(rows, in_part, resampled, succession(rows, read_rows(folder, BEYOND_SHORT)))


def _in_part(rows: dict[str, list[Row]]) -> dict[str, tuple[int, int]]:
    """The datasets with settings missing: how many are there, and of how many."""
    counts = {}
    for name, own in rows.items():
        wanted = {setting.facts().written for setting in settings(name)}
        counts[name] = len(wanted & {row.recipe for row in own}), len(wanted)
    return {name: (n, all_) for name, (n, all_) in counts.items() if n < all_}


def _charts(results: _Results) -> dict[str, Any]:
    """The page's charts by file name, as far as there are results for them."""
    drawn, rows = {}, results.rows
    on_tables = over_tables(rows)
    if on_tables:
        drawn["tables.svg"] = costs(on_tables, f"mean of {len(on_tables[0].rows)} tables")
    there = [name for name in RECIPES if name in rows]
    whole = [name for name in there if _has_all_listed(name, rows[name])]
    everywhere = [o for o in over(r for n in whole for r in rows[n]) if len(o.rows) == len(whole)]
    if everywhere:
        drawn["tasks.svg"] = costs(everywhere, f"mean of {len(whole)} tasks of the paper")
    if there:
        drawn["six-tasks.svg"] = tasks({n: _shown(rows[n]) for n in there})
    return drawn


def _has_all_listed(dataset: str, rows: list[Row]) -> bool:
    """Whether all settings are there that were listed before anything was measured."""
    later = set(map(_recipe, LATER))
    listed = {setting.facts().written for setting in settings(dataset)} - later
    return listed <= {row.recipe for row in rows}


def _shown(rows: list[Row]) -> list[tuple[str, float]]:
    """A task's points in the chart of tasks; the default's only if it is measured there."""
    goals = Goals(rows)
    knn = [row for row in rows if row.recipe.startswith("knn_ls") and PLUS not in row.recipe]
    return [
        ("plain training", 1.0),
        *(("the paper's k-NN smoothing", row.ratio) for row in knn[:1]),
        ("ensemble of five", goals.ensemble.ratio),
        *((f"the default ({DEFAULT})", row.ratio) for row in rows if row.recipe == DEFAULT),
        ("best single model", goals.single.ratio),
    ]


def _render(folder: Path, results: _Results) -> str:
    rows = results.rows
    there = [name for name in RECIPES if name in rows]
    goals = {name: Goals(rows[name]) for name in there}
    on_tables = over_tables(rows)
    return render_page(
        "unchurn.paper.beyond",
        "beyond.md.jinja",
        folder=folder.name,
        tasks=there,
        missing=[name for name in RECIPES if name not in rows],
        tables=[name for name in TABLES if name in rows],
        missing_tables=[name for name in TABLES if name not in rows],
        in_part=results.in_part,
        resampled=results.resampled,
        decision=decide(rows),
        default_recipe=DEFAULT,
        n_fresh=len(FRESH),
        succession=results.succession,
        n_newest=len(NEWEST),
        n_short=SHORT,
        charts=_charts(results),
        n_above=sum(map(is_above, on_tables)),
        most_churn=MOST_CHURN,
        goals=goals,
        choice=_choice,
        reached=lambda kind: [n for n, own in goals.items() if _is_enough(getattr(own, kind))],
        steady=[name for name, own in goals.items() if _is_steady(own)],
        tables_table=_tables_table(on_tables),
        every_table=_every_table(rows),
        task_tables={name: _task_table(rows[name]) for name in there},
        only_on_tables=[f"`{name}`" for name in only_on_tables(rows)],
        former=[one for one in on_tables if one.recipe in map(_recipe, FORMER)],
        default=next((one for one in on_tables if one.recipe == DEFAULT), None),
        ema=next((one for one in on_tables if one.recipe == "ema"), None),
        afterwards=list(map(_recipe, AFTERWARDS)),
        smooth=list(map(_recipe, SMOOTH)),
        together=list(map(_recipe, TOGETHER)),
        decaying=list(map(_recipe, DECAYING)),
        mixed=list(map(_recipe, MIXED)),
        harm=find_harm(on_tables, rows),
        few_rows=FEW_ROWS,
        cards=CARDS,
        harmless=[one for one in on_tables if one.is_harmless],
        percent=bare_percent,
        signed=signed,
    )


def _recipe(text: str) -> str:
    """A recipe as rows write it, without parameters that have their default."""
    return make_setting(text).facts().written


def _is_enough(choice: Choice) -> bool:
    """Whether a choice lowers churn to ENOUGH of plain training's, at no loss of accuracy."""
    return choice.ratio <= ENOUGH and choice.gain >= 0


def _is_steady(goals: Goals) -> bool:
    """Whether one model within twice the cost is as steady as five, at no loss of accuracy."""
    one = goals.within_two
    return one.churn <= goals.ensemble.summary.churn.mean and one.gain >= 0


def _choice(choice: Choice) -> str:
    """What was chosen, with what it gave on rows that had no part in the choice."""
    told = (
        f"{bare_percent(choice.churn)} ({bare_percent(choice.ratio, 0)} %), {signed(choice.gain)}"
    )
    return f"{choice.written} {told}"


def _tables_table(recipes: list[Over]) -> str:
    """Every recipe over all tables: its cost, its mean churn, on how many it helps and harms."""
    headings = ["recipe", "trained", "served", "churn, % of control's", "accuracy − control's",
                "churn lower", "churn higher", "accuracy lower", "accuracy higher"]  # fmt: skip
    kinds = ("lowers_churn", "raises_churn", "loses", "gains")
    return markdown_table(
        headings,
        (
            [
                f"`{one.recipe}`", str(one.rows[0].trained), str(one.rows[0].served),
                bare_percent(one.ratio, 0), signed(one.accuracy),
                *(str(one.count(kind) or NONE) for kind in kinds),
            ]
            for one in recipes
            if one.rows[0].churn is not None
        ),
    )  # fmt: skip


def _every_table(rows: dict[str, list[Row]]) -> str:
    """A line for each table: plain training's accuracy and churn, and churn of some recipes."""
    lines, shown = [], [_recipe(text) for text in SHOWN]
    for name in TABLES:
        if name in rows:
            by_recipe = {row.recipe: row for row in rows[name]}
            plain = rows[name][0].control
            cells = [changed(by_recipe[r]) if r in by_recipe else NONE for r in shown]
            about = [bare_percent(plain.accuracy.mean), bare_percent(plain.churn.mean)]
            lines.append([name, str(TABLES[name].rows), *about, *cells])
    return markdown_table(["table", "rows", "accuracy", "churn", *(f"`{r}`" for r in shown)], lines)


def _task_table(rows: list[Row]) -> str:
    """Everything that was tried on a task, lowest churn first."""
    headings = [
        "recipe", "trained", "served", "accuracy", "churn", "churn − control's",
        "accuracy − control's", "correct", "incorrect", "calibration error", "log loss",
    ]  # fmt: skip
    return markdown_table(
        headings,
        (
            [
                f"`{row.recipe}`{' (paper)' if row.is_papers else ''}",
                str(row.trained),
                str(row.served),
                bare_percent(row.summary.accuracy.mean),
                bare_percent(row.summary.churn.mean),
                NONE if row.churn is None else difference(row.churn),
                NONE if row.accuracy is None else difference(row.accuracy),
                bare_percent(row.summary.churn_correct.mean),
                bare_percent(row.summary.churn_incorrect.mean),
                bare_percent(row.calibration_error),
                NONE if row.is_papers else f"{row.log_loss:.3f}",
            ]
            for row in sorted(rows, key=lambda row: row.summary.churn.mean)
        ),
    )
