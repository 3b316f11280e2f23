"""What successors find of a rare class, as docs/upgrade.md says."""

import numpy as np
import pytest

from unchurn.metrics.registry import Runs
from unchurn.paper.records import NEVER_RIGHT
from unchurn.paper.upgrade.rare import finds

LABELS = np.where(np.arange(300) < 40, 1, 0)


def runs(n_right, *, n_base=20, labels=LABELS):
    """Two runs that find so many of the 40 rows of the rare class, and their bases."""
    found = [[np.where(np.arange(300) < n, 1, 0) for n in each] for each in (n_right, [n_base] * 2)]
    return Runs(predictions=np.array(found[0]), labels=labels, base=np.array(found[1]))


def test_finds_are_counted_against_plain_retrainings():
    found = finds(runs((15, 25)), runs((20, 30), n_base=10))
    assert (found.successor, found.base) == (pytest.approx(40 / 50), pytest.approx(20 / 50))


def test_rows_that_nobody_gets_right_change_nothing():
    """Of these, records do not keep the label."""
    kept = np.where((np.arange(300) >= 30) & (LABELS == 1), NEVER_RIGHT, LABELS)
    found = finds(runs((15, 25), labels=kept), runs((20, 30), labels=kept))
    assert vars(found) == pytest.approx(vars(finds(runs((15, 25)), runs((20, 30)))))


@pytest.mark.parametrize(
    "labels", [np.where(np.arange(300) < 19, 1, 0), np.where(np.arange(300) < 61, 1, 0)]
)
def test_few_rows_and_classes_that_are_not_rare_tell_nothing(labels):
    assert finds(runs((15, 25), labels=labels), runs((20, 30), labels=labels)) is None
    assert finds(runs((15, 25)), runs((0, 0))) is None
