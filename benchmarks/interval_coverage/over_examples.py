"""How often intervals over examples, and over clusters of them, cover: drawn from known rates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from frequencies import Cell, Table, coverage

from unchurn.core.arrays import Array
from unchurn.metrics.intervals import (
    FEW,
    Interval,
    clustered_difference,
    clustered_p_value,
    clustered_proportion,
    paired_difference,
    proportion,
)

Generator = np.random.Generator
A_HANDFUL = (
    "with so strong a correlation, and in most of these sizes so unequal, a handful of clusters "
    "decide the rate; the variance that they show is too small whenever the largest happen not to "
    "be among them, and no choice of degrees of freedom can know of clusters that were not drawn."
)

FIVE = (
    "five events, the fewest of which Wilson's interval is given, are seen this often though fewer "
    "are expected, and its lower end is then just above the rate."
)


def covered(intervals: list[Interval], truth: float) -> float:
    """The share of the intervals that hold the truth."""
    return float(np.mean([one.low <= truth <= one.high for one in intervals]))


def distinct(interval: Callable[..., Interval], *counts: Array) -> list[Interval]:
    """An interval for each draw of counts; each distinct draw is computed once."""
    known: dict[tuple[int, ...], Interval] = {}
    found = []
    for draw in zip(*(c.tolist() for c in counts), strict=True):
        if draw not in known:
            known[draw] = interval(*draw)
        found.append(known[draw])
    return found


def rates(rng: Generator, draws: int) -> Table:
    """`proportion`: Wilson, or exact."""
    rows = []
    for n in (100, 1000, 10_000, 100_000):
        for rate in (0.002, 0.005, 0.01, 0.03, 0.1, 0.3):
            events = rng.binomial(n, rate, draws)
            intervals = distinct(lambda k, n=n: proportion(k, n), events)
            few = float(np.mean([one.note == "few events" for one in intervals]))
            cell = coverage(covered(intervals, rate), draws, n * rate >= FEW)
            above = float(np.mean([one.low > rate for one in intervals]))
            below = Cell(above, draws, 0, 0.05, FIVE)
            texts = [f"{n:,}", f"{rate:.1%}", f"{n * rate:g}", f"{few:.0%}"]
            rows.append((texts, [cell, below]))
    head = ("n", "rate", "expected events", "“few events”", "coverage, %", "rate below it, %")
    return Table("rates", head, rows)


def conditional(rng: Generator, draws: int) -> Table:
    """Churn among the right predictions: the denominator is drawn too."""
    rows = []
    for n, accuracy, rate in ((200, 0.9, 0.05), (1000, 0.9, 0.01), (1000, 0.6, 0.05),
                              (10_000, 0.98, 0.01), (10_000, 0.98, 0.4)):  # fmt: skip
        right = rng.binomial(n, accuracy, draws)
        among = right if rate < 0.2 else n - right  # the last is churn among the wrong
        events = rng.binomial(among, rate)
        cell = coverage(covered(distinct(proportion, events, among), rate), draws)
        what = "churn_correct" if rate < 0.2 else "churn_incorrect"
        rows.append(([what, f"{n:,}", f"{accuracy:.0%}", f"{rate:.0%}"], [cell]))
    return Table("conditional", ("what", "n", "accuracy", "rate", "coverage, %"), rows)


def differences(rng: Generator, draws: int) -> Table:
    """`paired_difference`: Tango's."""
    rows = []
    for n in (200, 1000, 10_000):
        for bad, good in ((0.0, 0.0), (0.01, 0.0), (0.03, 0.0), (0.01, 0.01), (0.03, 0.01),
                          (0.05, 0.05), (0.1, 0.02)):  # fmt: skip
            counts = rng.multinomial(n, [good, bad, 1 - good - bad], draws)
            intervals = distinct(
                lambda g, b, n=n: paired_difference(g, b, n), counts[:, 0], counts[:, 1]
            )
            promised = n * (good + bad) >= FEW
            why = (
                "with flips in one direction alone Tango's score has the skewness of a rare "
                "event's, and its coverage jumps with whole counts, as Wilson's does."
                if good == 0
                else ""
            )
            cell = coverage(covered(intervals, good - bad), draws, promised, why)
            rows.append(([f"{n:,}", f"{bad:.0%}", f"{good:.0%}", f"{n * (good + bad):g}"], [cell]))
    head = ("n", "bad flips", "good flips", "expected flips", "coverage, %")
    return Table("differences", head, rows)


def clusters(rng: Generator, draws: int) -> Table:
    """`clustered_proportion` and `clustered_difference`; three flips in ten are good."""
    rows = []
    for count in (15, 30, 100, 400):
        for rate in (0.01, 0.05, 0.2):
            for correlation, unequal in ((0.02, False), (0.05, True), (0.3, False), (0.3, True)):
                events, sizes = clustered(rng, (draws, count), rate, correlation, unequal)
                good = rng.binomial(events, 0.3)
                hit = float((events > 0).sum(axis=1).mean())
                why = A_HANDFUL if correlation == 0.3 else ""
                one = [clustered_proportion(e, s) for e, s in zip(events, sizes, strict=True)]
                two = [
                    clustered_difference(g, e - g, s)
                    for g, e, s in zip(good, events, sizes, strict=True)
                ]
                texts = [f"{count}", "unequal" if unequal else "20 each", f"{rate:.0%}",
                         f"{correlation:g}", f"{hit:.1f}"]  # fmt: skip
                cells = [
                    coverage(covered(one, rate), draws, hit >= FEW, why),
                    coverage(covered(two, -0.4 * rate), draws, hit >= FEW, why),
                ]
                rows.append((texts, cells))
    head = ("clusters", "sizes", "rate", "correlation", "clusters with events, expected",
            "rate: coverage, %", "difference: coverage, %")  # fmt: skip
    return Table("clusters", head, rows)


def sliced(rng: Generator, draws: int) -> Table:
    """`clustered_p_value`: how often a slice of so many clusters differs that does not."""
    rows = []
    for rate, correlation in ((0.05, 0.1), (0.05, 0.3), (0.01, 0.1), (0.2, 0.1)):
        for inside in (2, 3, 5, 10, 30):
            events, sizes = clustered(rng, (draws, 200), rate, correlation, unequal=True)
            part = np.arange(200) < inside
            p = np.array([clustered_p_value(e * part, s * part, e * ~part, s * ~part)
                          for e, s in zip(events, sizes, strict=True)])  # fmt: skip
            texts = [f"{inside} of 200", f"{rate:.0%}", f"{correlation:g}"]
            cells = [Cell(float((p <= level).mean()), draws, 0, level) for level in (0.05, 0.005)]
            rows.append((texts, cells))
    head = ("clusters in the slice", "rate", "correlation", "p ≤ 0.05, %", "p ≤ 0.005, %")
    return Table("sliced", head, rows)


def clustered(
    rng: Generator, shape: tuple[int, int], rate: float, correlation: float, unequal: bool
) -> tuple[Array, Array]:
    """Events and sizes of clusters: beta-binomial, sizes of 20 or log-normal with that mean."""
    sizes = np.full(shape, 20)
    if unequal:
        sizes = np.maximum(np.rint(rng.lognormal(np.log(20) - 0.5, 1, shape)), 1).astype(int)
    strength = (1 - correlation) / correlation
    own_rates = rng.beta(rate * strength, (1 - rate) * strength, shape)
    return rng.binomial(sizes, own_rates), sizes
