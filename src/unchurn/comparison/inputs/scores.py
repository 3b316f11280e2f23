"""Read and check probabilities by class, and derive predictions from them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unchurn.comparison.inputs.casting import as_probabilities, first, whole_numbers
from unchurn.comparison.inputs.columns import Chosen
from unchurn.core.class_names import BITS, TRUTH
from unchurn.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

WHICH_CLASS = "of which class is"  # followed by a column: the class of its probabilities is unknown
REST = "not "  # before a class: all others, where only its probability is known
TOLERANCE = 1e-3  # by which a row's probabilities may miss the sum of 1
ROUNDED = (3, 2)  # decimals to which they may be rounded: each may then miss half a unit
DIGITS = 1e-3  # part of a unit by which rounded numbers may be off, as 32-bit floats are
TINY = 1e-9  # for sums of floats
HALF = 0.5  # threshold between two classes
PERCENT = 2  # how far a row of rounded percentages may sum to other than 100


@dataclass(frozen=True, kw_only=True)
class Rule:
    """How predictions are derived from probabilities: the largest, or a threshold."""

    name: str
    positive: str | None
    threshold: float | None

    def decide(self, probabilities: dict[str, pl.Series]) -> pl.Series:
        """The predicted classes."""
        import polars as pl

        def as_given(names: Sequence[str]) -> pl.Series:
            return whole_numbers(pl.Series(names, dtype=pl.String))

        if self.threshold is None:
            # Ties go to the first class by name, whatever the order of the columns.
            ordered = sorted(probabilities, key=_by_number_then_name)
            table = pl.DataFrame({c: probabilities[c] for c in ordered}).to_numpy()
            return as_given(ordered).gather(table.argmax(axis=1))
        positive = self._of_threshold(list(probabilities))
        negative = next(c for c in probabilities if c != positive)
        above = probabilities[positive] >= self.threshold
        return as_given([negative, positive]).gather(above.cast(pl.UInt32))

    def in_words(self, classes: list[str]) -> str:
        """The rule in words, for a reader."""
        if self.threshold is None:
            return "the most probable class"
        return f"{self._of_threshold(classes)} from a probability of {self.threshold:g}"

    def named_positive(self, classes: list[str]) -> str | None:
        """The positive class: as given, else the only one called 1 or true; None if unknown."""
        usual = [c for c in classes if c.lower() in ("1", "true")]
        return self.positive or (usual[0] if len(usual) == 1 else None)

    def _of_threshold(self, classes: list[str]) -> str:
        """The class that the threshold is for; never by column position, which may differ."""
        if len(classes) != 2:
            raise InputError(f"a threshold is for two classes, not {len(classes)}")
        positive = self.named_positive(classes)
        if positive is None:
            raise InputError(
                f"which class is the threshold for? Give positive= {' or '.join(classes)}"
            )
        return positive


def _by_number_then_name(name: str) -> tuple[bool, int, str]:
    """Sort key: numeric classes first, 9 before 10; then names, including digits such as ²."""
    is_number = re.fullmatch("0|[1-9][0-9]*", name) is not None
    return (not is_number, len(name) if is_number else 0, name)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Probabilities by class, which sum to 1; or none, and the `problem` with guessed columns."""

    by_class: dict[str, pl.Series]
    problem: str | None = None
    decimals: int | None = None  # of rounded probabilities, if their sums are not 1


def own_positive(asked: str | None, known: Collection[str]) -> str | None:
    """The positive class as a file with these classes spells it: `true` is 1 if they are 0 and 1.

    None if it was not named, unless the classes are true and false.
    """
    for own, other in ((TRUTH, BITS), (BITS, TRUTH)):
        if known and {*known} <= {*own}:
            if asked in other:
                return own[other.index(asked)]
            return own[1] if asked is None and own is TRUTH else asked
    return asked


def read_scores(
    table: pl.DataFrame,
    chosen: Chosen,
    rule: Rule,
    *,
    may_be_wrong: bool,
    said: Collection[str] = (),
) -> Scores:
    """Read the probabilities, if there are any.

    `may_be_wrong`: the columns were guessed beside a prediction, so a score that is no probability
    is a problem, not an error. `said` are the classes of the predictions.
    """
    try:
        by_class = _by_class(table, chosen, rule)
        decimals = _check_sums(list(by_class.values()), rule.name)
    except InputError as error:
        if may_be_wrong:
            return Scores(by_class={}, problem=str(error).removeprefix(f"{rule.name}: "))
        raise
    if may_be_wrong and len(chosen.probabilities) == 1 and rule.positive is None:
        column = chosen.probabilities[0]
        if not {*said} <= set(by_class):
            which = f"{WHICH_CLASS} {column!r}? Name the positive one, {_some_of(sorted(said))}"
            return Scores(by_class={}, problem=which)
        if problem := _like_a_logit(said, by_class, column):
            return Scores(by_class={}, problem=problem)
    return Scores(by_class=by_class, decimals=decimals)


def _some_of(classes: Sequence[str]) -> str:
    """Some classes to choose from, as text."""
    return f"{' or '.join(classes[:5])}{' …' if len(classes) > 5 else ''}"


def _like_a_logit(said: Collection[str], by_class: dict[str, pl.Series], name: str) -> str | None:
    """The reason why a column looks like a logit rather than a probability; else None.

    Logits between 0 and 1 are all positive, and so predict the positive class in every row.
    """
    positive = list(by_class)[1]
    least = by_class[positive].min()
    if [*said] != [positive] or not isinstance(least, float) or least >= HALF:
        return None
    always = f"and yet {positive} is predicted, as in every row"
    return f"{name!r} is {least:.3g} {always}: is it a logit?"


def in_words(chosen: Chosen, classes: Sequence[str]) -> str:
    """The columns of probabilities in words; for a single one, the class it is taken for.

    The values of a single column between 0 and 1 do not show whether it is a probability.
    """
    columns = chosen.probabilities
    if len(columns) > 1:
        return ", ".join(columns) if len(columns) < 6 else f"{columns[0]} … {columns[-1]}"
    name = columns[0].lower()
    says_so = name == "p" or name.startswith("p_") or "prob" in name
    what = "of class" if says_so else "taken for the probability of class"
    return f"{columns[0]} ({what} {classes[1]})"


def _by_class(table: pl.DataFrame, chosen: Chosen, rule: Rule) -> dict[str, pl.Series]:
    """Probabilities by class; NaN is a missing value."""
    columns, classes, positive = chosen.probabilities, chosen.classes, rule.positive

    def hint() -> str:
        return _what_else(table.select(columns))

    if len(columns) == 1:
        positive = "1" if positive is None else positive
        values = as_probabilities(table[columns[0]], rule.name, hint)
        other = {"1": "0", "true": "false"}.get(positive, REST + positive)
        return {other: 1 - values, positive: values}
    if twice := next((c for c in classes if classes.count(c) > 1), None):
        raise InputError(f"{rule.name}: two columns are probabilities of {twice!r}")
    if columns and positive is not None and positive not in classes:
        raise InputError(f"{rule.name}: no probability of {positive!r}; of {', '.join(classes)}")
    return {
        name: as_probabilities(table[column], rule.name, hint)
        for name, column in zip(classes, columns, strict=True)
    }


def _check_sums(probabilities: list[pl.Series], name: str) -> int | None:
    """Refuse probabilities that do not sum to 1; return their decimals if rounding explains it.

    Rows with a missing value are left out later.
    """
    import polars as pl

    if not probabilities:
        return None
    frame = pl.DataFrame([p.alias(str(i)) for i, p in enumerate(probabilities)])
    sums = pl.sum_horizontal(pl.all(), ignore_nulls=False)
    most = frame.lazy().select((sums - 1).abs().max()).collect().item()  # no column of sums is made
    if most is None or most <= TOLERANCE:
        return None
    for decimals in ROUNDED:
        scaled = pl.all() * 10**decimals
        if (
            most <= len(probabilities) * 0.5 * 10**-decimals + TINY
            and frame.select(
                pl.all_horizontal(((scaled - scaled.round()).abs() < DIGITS).all())
            ).item()
        ):
            return decimals
    found = frame.select(sums.alias("sum"))["sum"]
    off = (found - 1).abs() > TOLERANCE
    row = first(off)
    raise InputError(
        f"{name}: probabilities of {int(off.sum()):,} rows do not sum to 1, first in row {row} "
        f"({found[row]:.4g}): of logits, take the softmax first; is a class missing?"
    )


def _what_else(table: pl.DataFrame) -> str:
    """A hint at what columns may be that are no probabilities: percentages or logits."""
    import polars as pl

    numbers = table.select(pl.all().cast(pl.Float64, strict=False))
    sums = numbers.select(pl.sum_horizontal(pl.all()).alias("sum"))["sum"]
    is_within = all(column.is_between(0, 100).all() for column in numbers)
    if is_within and (table.width == 1 or ((sums - 100).abs() < PERCENT).all()):
        return "of percent, divide by 100"
    return "of logits, take the softmax first"
