"""A call that fails ends the work, but takes no result with it that is there already."""

from collections import deque
from multiprocessing.connection import Connection

import pytest

from unchurn.core.executors import Call, pool
from unchurn.core.executors.local import Local


@pytest.mark.parametrize("fails_first", [True, False])
def test_what_ends_together_with_a_failure_is_not_lost(monkeypatch, fails_first):
    def inverse(number: int) -> float:
        return 1 / number

    one_of = pool.connection.wait

    def all_of(workers: list[Connection], timeout: float | None = None) -> list[Connection]:
        return [worker for worker in workers if one_of([worker], timeout)]

    monkeypatch.setattr(pool.connection, "wait", all_of)
    calls = deque(Call(n, inverse, (n,)) for n in ([0, 2] if fails_first else [2, 0]))
    made = Local(2).execute(calls, lambda: None)
    assert next(made) == (2, 0.5)
    with pytest.raises(ZeroDivisionError):
        next(made)
