"""Whether what lowers churn between seeds also does so when the data is drawn anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scipy.stats import spearmanr

from unchurn.paper.beyond.rows import Over, Row, over
from unchurn.paper.markdown import markdown_table
from unchurn.report.numbers import NONE, bare_percent, signed
from unchurn.study.results.result import CONTROL

# What a rank correlation of at least so much is called, largest first.
HOLDS = {0.7: "holds", 0.3: "holds only in part"}


@dataclass(frozen=True, kw_only=True)
class Both:
    """A recipe on the same datasets with both kinds of noise."""

    retrained: Over
    resampled: Over

    @property
    def recipe(self) -> str:
        """The recipe as it is written."""
        return self.resampled.recipe


@dataclass(frozen=True)
class Resampled:
    """What was measured of recipes both ways, on the datasets that have both."""

    datasets: Sequence[str]
    recipes: Sequence[Both]  # lowest churn on new samples first

    @property
    def tried(self) -> list[Both]:
        """The recipes but plain training, lowest churn on new samples first."""
        return [one for one in self.recipes if one.recipe != CONTROL]

    @property
    def names(self) -> list[str]:
        """The recipes but plain training, as they are written."""
        return [one.recipe for one in self.tried]

    @property
    def names_by_seed(self) -> list[str]:
        """As `names`, lowest churn with another seed first."""
        return [one.recipe for one in sorted(self.tried, key=lambda one: one.retrained.ratio)]

    @property
    def correlation(self) -> float:
        """Spearman's correlation of the recipes' churn with both kinds of noise."""
        ratios = [(one.retrained.ratio, one.resampled.ratio) for one in self.tried]
        return float(spearmanr(ratios).statistic)

    @property
    def order(self) -> str:
        """What becomes of the order of recipes when the data is drawn anew, in words."""
        holds = [words for least, words in HOLDS.items() if self.correlation >= least]
        return holds[0] if holds else "does not hold"

    @property
    def plain_growth(self) -> float:
        """How many times as much plain training churns on new samples, the mean where it churns."""
        plain = next(one for one in self.recipes if one.recipe == CONTROL)
        pairs = zip(plain.retrained.rows, plain.resampled.rows, strict=True)
        churn = [(old.summary.churn.mean, new.summary.churn.mean) for old, new in pairs]
        each = [new / old for old, new in churn if old > 0]
        return sum(each) / len(each)

    def of(self, recipe: str) -> Both:
        """The recipe that is written so."""
        return next(one for one in self.recipes if one.recipe == recipe)

    @property
    def table(self) -> str:
        """A line for each recipe."""
        headings = ["recipe", "trained", "served", "another seed: churn, % of control's",
                    "another sample: churn, % of control's", "accuracy − control's",
                    "churn lower", "churn higher", "accuracy lower", "accuracy higher"]  # fmt: skip
        kinds = ("lowers_churn", "raises_churn", "loses", "gains")
        return markdown_table(
            headings,
            (
                [
                    f"`{one.recipe}`",
                    str(one.resampled.rows[0].trained),
                    str(one.resampled.rows[0].served),
                    bare_percent(one.retrained.ratio, 0),
                    bare_percent(one.resampled.ratio, 0),
                    signed(one.resampled.accuracy),
                    *(str(one.resampled.count(kind) or NONE) for kind in kinds),
                ]
                for one in self.tried
            ),
        )


def both_ways(
    retrained: Mapping[str, Sequence[Row]],
    resampled: Mapping[str, Sequence[Row]],
    names: Iterable[str],
) -> Resampled | None:
    """The recipes that both have, on the named datasets that both have; None if there are none."""
    there = [name for name in names if name in retrained and name in resampled]
    if not there:
        return None
    seeds = {one.recipe: one for one in over(row for name in there for row in retrained[name])}
    samples = over(row for name in there for row in resampled[name])
    recipes = [
        Both(retrained=seeds[one.recipe], resampled=one)
        for one in samples
        if one.recipe in seeds and len(one.rows) == len(seeds[one.recipe].rows) == len(there)
    ]
    return Resampled(there, recipes)
