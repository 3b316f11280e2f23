"""Kept runs that were edited together with their checksums are made again, not believed."""

import numpy as np
import pytest

from unchurn.study.design.parts import Parts
from unchurn.study.trainings.store import DamagedError, TrainedRun
from unchurn.study.trainings.store_check import checked_run

RECORD = {"failure": None, "seconds": 1.5, "versions": {"numpy": "2"}, "machine": "here"}


@pytest.fixture
def parts(rng):
    x, y = rng.normal(size=(6, 2)).astype(np.float32), np.array([0, 1, 2, 0, 1, 2])
    return Parts(x_train=x, y_train=y, x={"test": x[:4]}, y={"test": y[:4]}, n_classes=3)


@pytest.fixture
def arrays(rng):
    test = rng.dirichlet(np.ones(3), 4).astype(np.float32)
    logits = rng.normal(size=(6, 3))
    return {"test": test, "test_predictions": test.argmax(axis=1), "logits": logits}


def test_a_run_as_it_was_kept_is_believed(parts, arrays):
    run = TrainedRun(RECORD, arrays)
    assert checked_run(run, parts, is_reference=True) is run
    failed = TrainedRun({**RECORD, "failure": "loss is nan"}, {})
    assert checked_run(failed, parts, is_reference=True) is failed


@pytest.mark.parametrize(
    "change",
    [
        {"failure": 3},
        {"seconds": "1"},
        {"seconds": float("nan")},
        {"versions": None},
        {"versions": {"numpy": 2}},
        {"machine": None},
    ],
)
def test_a_record_of_other_kinds_is_not(parts, arrays, change):
    with pytest.raises(DamagedError, match="record is not as a training leaves it"):
        checked_run(TrainedRun({**RECORD, **change}, arrays), parts, is_reference=False)


@pytest.mark.parametrize("record", [None, [], {}, {"failure": None}])
def test_no_record_at_all_is_not(parts, arrays, record):
    with pytest.raises(DamagedError, match="record is not"):
        checked_run(TrainedRun(record, arrays), parts, is_reference=False)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("test", lambda a: a[:3], "not of 4 rows and 3 classes"),
        ("test", lambda a: a[:, :2], "not of 4 rows and 3 classes"),
        ("test", lambda a: a[:, ::-1], "are not those of its probabilities"),
        ("test_predictions", lambda a: a + 1, "are not those of its probabilities"),
        ("test_predictions", lambda a: a[:, None], "not of 4 rows"),
        ("logits", lambda a: a[:2], "are not those of the training data"),
        ("test", None, "not of 4 rows"),
        ("logits", None, "are not those of the training data"),
    ],
)
def test_arrays_that_do_not_fit_are_not(parts, arrays, name, change, message):
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays[name])
    with pytest.raises(DamagedError, match=message):
        checked_run(TrainedRun(RECORD, arrays), parts, is_reference=True)
