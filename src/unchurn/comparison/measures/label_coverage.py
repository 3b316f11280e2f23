"""Find out which examples have true labels: a random sample of all, or the flips.

Only flips change accuracy: if each has a label, bad flips, good flips and the difference in
accuracy are known for all n examples, whatever the other labels. If the same labels were taken for
a random sample, rates would be too large by the factor n / number of labels.
"""

from __future__ import annotations

from typing import Literal

from unchurn.comparison.measures.outcomes import FLIPPED, LABELLED, Outcomes
from unchurn.core.errors import InputError
from unchurn.report.numbers import percent

Cover = Literal["all", "flips"]
COVERS: tuple[Cover, ...] = ("all", "flips")
ALIKE = 1.05  # ratio of churn among labelled to churn of all, up to which it makes no difference
BY_LOT = 0.001  # below this probability, so many labels on flips are no accident
LIST = "a list of the flips is written by compare --flips FILE"


def find_cover(outcomes: Outcomes, asked: str | None = None) -> Cover | None:
    """Which examples have labels: as asked, or inferred; None if there are no labels.

    "all" if labels were drawn without regard to flips, "flips" if flips were labelled because they
    flip. InputError if the answer depends on it and it cannot be inferred.
    """
    from scipy.stats import hypergeom

    if asked is not None and asked not in COVERS:
        raise InputError(f"say labels_cover= {' or '.join(COVERS)}, not {asked!r}")
    n, flips = len(outcomes.codes), outcomes.number(FLIPPED)
    labelled, both = outcomes.number(LABELLED), outcomes.number(LABELLED & FLIPPED)
    if labelled == 0 and asked != "flips":
        return None
    if asked == "flips" and both < flips:
        raise InputError(
            f"{flips - both:,} of {flips:,} flips have no true label, and where labels are of the "
            f"flips each needs one: {LIST}"
        )
    if asked is not None:
        return "flips" if asked == "flips" else "all"
    if both * n <= ALIKE * flips * labelled:
        return "all"
    is_by_lot = both < labelled and hypergeom.sf(both - 1, n, flips, labelled) >= BY_LOT
    if both == flips and not is_by_lot:
        return "flips"
    if both < flips and is_by_lot:
        return "all"
    others = n - flips
    shares = f"{both:,} of {flips:,} flips and {labelled - both:,} of {others:,} others"
    if both < flips:
        raise InputError(
            f"true labels are on {shares}: rates among the labelled ({percent(both / labelled)} "
            f"flip) are not those of all ({percent(flips / n)}). Label every flip ({LIST}), or say "
            "labels_cover= all if labels were drawn without a look at what flips"
        )
    raise InputError(
        f"true labels are on {shares}: were the flips labelled because they flip? Say "
        "labels_cover= flips if so, all if labels were drawn without a look at what flips"
    )


def cover_note(outcomes: Outcomes, cover: Cover | None) -> list[str]:
    """A note on examples without a label; empty if all have one."""
    gone = len(outcomes.codes) - outcomes.number(LABELLED)
    if cover is None or not gone:
        return []
    if cover == "flips":
        return [
            f"true labels cover the flips ({outcomes.number(LABELLED & FLIPPED):,}): bad and good "
            "flips and the difference in accuracy are of all examples, the accuracies are unknown"
        ]
    return [f"{gone:,} examples have no true label: they count for churn alone"]
