import sys

import pytest

from unchurn.core.errors import InputError
from unchurn.core.executors import make_executor


def test_executors_by_name():
    assert make_executor("local", 3).workers == 3
    with pytest.raises(InputError, match="no engine 'cloud': there are local, ray"):
        make_executor("cloud")
    with pytest.raises(InputError, match="a Ray address is for the engine ray"):
        make_executor("local", ray_address="auto")


def test_without_ray_one_line_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "unchurn.core.executors.ray", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    message = r"^the engine ray needs ray: pip install 'unchurn\[ray\]'$"
    with pytest.raises(InputError, match=message):
        make_executor("ray")
