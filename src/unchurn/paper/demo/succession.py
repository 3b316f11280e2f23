"""The last two steps: successors of models in production, and what a gate says of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from unchurn.comparison.compare import compare
from unchurn.comparison.result import Comparison
from unchurn.gate.policy import make_policy
from unchurn.gate.verdict import Decision, Verdict
from unchurn.metrics import against_base
from unchurn.paper.demo import charts
from unchurn.paper.demo.step import Figure, Judged, Step, chance
from unchurn.paper.demo.studies import PLAIN, tested
from unchurn.report.numbers import percent

if TYPE_CHECKING:
    from unchurn.metrics.registry import Runs
    from unchurn.study.results.result import Result

POLICY: dict[str, Any] = {"max_bad_flips": 0.01, "max_accuracy_loss": 0.0}
OTHERWISE: dict[Decision, str] = {"hold": "on hold", "reject": "rejected"}
NAMES = {False: "plain retraining", True: "unchurn.upgrade"}  # by whether it looks at the base


def successors(result: Result) -> dict[str, Runs]:
    """The runs of both recipes, by what the story calls them."""
    return {NAMES[name != PLAIN]: runs for name, (_, runs) in tested(result).items()}


def upgrade_step(result: Result) -> Step:
    """The third step: what successors trained on more data break, by either recipe."""
    plain, careful = (successors(result)[NAMES[is_careful]] for is_careful in (False, True))
    name = next(name for name in tested(result) if name != PLAIN)
    found = result.differences(name, PLAIN)
    before = against_base.rate(against_base.right_before(plain)).mean
    bad = {runs: against_base.rate(against_base.bad_flips(runs)).mean for runs in (plain, careful)}
    n, n_bases = len(plain.labels), len(plain.predictions)
    accuracy = careful.summary.accuracy.mean
    return Step(
        title="Upgrade a model in production: better on average, and what it breaks",
        figures=(
            Figure(
                number=f"{percent(bad[plain])} → {percent(bad[careful])}",
                caption="bad flips, right in production and wrong in its successor: plain "
                "retraining → unchurn.upgrade",
            ),
            Figure(
                number=f"{n * bad[plain]:,.0f} → {n * bad[careful]:,.0f}",
                caption=f"pages broken, of {n:,}",
            ),
            Figure(
                number=f"{percent(before, 1)} → {percent(accuracy, 1)}",
                caption="accuracy: in production → unchurn.upgrade (plain retraining "
                f"{percent(plain.summary.accuracy.mean, 1)})",
            ),
        ),
        text=f"{n_bases} models are in production, each trained on its own half of the training "
        "data. Now all of it is there, and each gets two successors: one plainly retrained, one by "
        "the recipe of unchurn.upgrade. That starts from the old weights, pulls labels towards the "
        "old answers and averages weights; it trains one network, as plain retraining does. (The "
        "call unchurn.upgrade first trains two or three more, to see whether that recipe costs "
        f"accuracy.) Bad flips change by {chance(found['bad_flips'])}; "
        f"accuracy changes by {chance(found['accuracy'])}.",
        chart=charts.flips(
            {
                name: (
                    n * against_base.rate(against_base.bad_flips(runs)).mean,
                    n * against_base.rate(against_base.good_flips(runs)).mean,
                )
                for name, runs in successors(result).items()
            }
        ),
        caption=f"Pages whose answer changes with the upgrade, means over {n_bases} upgrades.",
    )


def gate_step(result: Result) -> Step:
    """The fourth step: a policy decides whether successors may replace models in production."""
    compared = {name: _compared(result, runs) for name, runs in successors(result).items()}
    verdicts = {name: [one.gate(POLICY) for one in own] for name, own in compared.items()}
    half = {**POLICY, "max_bad_flips": POLICY["max_bad_flips"] / 2}
    stricter = {name: [one.gate(half) for one in own] for name, own in compared.items()}
    return Step(
        title="Let a gate decide, with reasons",
        figures=tuple(_counted(name, own) for name, own in verdicts.items()),
        text=f"The policy: {_allowed()}. To be promoted, the whole 95 % interval has to lie inside "
        "every limit; one that lies wholly outside rejects; else it is on hold. A limit is a "
        f"choice: with half as many bad flips allowed it would be {_with_half(stricter)}. Below, "
        "every candidate, and the reasons for the successors of the first model in production.",
        chart=charts.verdicts(
            {
                name: [
                    (one.estimates["bad_flips"], verdict.decision)
                    for one, verdict in zip(compared[name], own, strict=True)
                ]
                for name, own in verdicts.items()
            },
            POLICY["max_bad_flips"],
        ),
        caption="Bad flips of every candidate with their 95 % interval, against the limit.",
        verdicts=tuple(Judged(candidate=name, verdict=own[0]) for name, own in verdicts.items()),
    )


def _compared(result: Result, runs: Runs) -> list[Comparison]:
    """Compare every run with its base, as two files of predictions would be compared."""
    classes = np.array(result.subject.data.classes)
    labels = classes[runs.labels]
    assert runs.base is not None  # noqa: S101 (of an upgrade)
    pairs = zip(classes[runs.base], classes[runs.predictions], strict=True)
    return [compare(base, candidate, labels=labels) for base, candidate in pairs]


def _counted(name: str, verdicts: list[Verdict]) -> Figure:
    """How many are promoted, and what became of the others."""
    counts = Counter(verdict.decision for verdict in verdicts)
    rest = [f"{counts[one]} {word}" for one, word in OTHERWISE.items() if counts[one]]
    return Figure(
        number=f"{counts['promote']} of {len(verdicts)}",
        caption=f"successors by {name} are promoted" + "".join(f", {one}" for one in rest),
    )


def _with_half(verdicts: dict[str, list[Verdict]]) -> str:
    """How many of each would be promoted by a stricter policy."""
    counts = {name: sum(v.decision == "promote" for v in own) for name, own in verdicts.items()}
    return " and ".join(f"{counts[n]} of {len(own)} by {n}" for n, own in verdicts.items())


def _allowed() -> str:
    """The policy's limits in words, without what happens if the data leave it open."""
    return "; ".join(line.partition(";")[0] for line in make_policy(POLICY).explain())
