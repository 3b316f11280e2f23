"""Own code is told apart by its content."""

import os
import subprocess
import sys
from functools import partial

from torch import nn

import toys
from unchurn.training.learners.own_code import code_identity


def two_layers(width, shape, n_classes):
    return nn.Sequential(nn.Linear(shape[0], width), nn.Linear(width, n_classes))


def closure(width):
    return lambda shape, n_classes: two_layers(width, shape, n_classes)


def test_own_networks_are_told_apart_by_all_that_makes_them():
    networks = [
        toys.linear, partial(two_layers, 2), partial(two_layers, 3), closure(2), closure(3)
    ]  # fmt: skip
    assert len(set(map(code_identity, networks))) == 5
    assert code_identity(closure(2)) == code_identity(closure(2))


def test_own_code_has_one_identity_in_every_process():
    script = """
from dataclasses import dataclass
from sklearn.base import BaseEstimator
from unchurn.methods import Method
from unchurn.training.learners.own_code import code_identity
def net(shape, n): return shape in {'a', 'b', 'c', 'd', 'e'}
class Base(Method):
    def loss(self, logits, batch, step): return super().loss(logits, batch, step)
@dataclass
class Own(Base):
    a: float = 0.5
    def check(self): assert self.a in {'x', 'y', 'z', 0.5}
class Wide(BaseEstimator):
    def __init__(self, width=3): self.width = width
def uses(shape, n): return Own(), Wide
for own in (net, Own, Base, Wide(5), uses): print(code_identity(own))
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed},
            check=True, capture_output=True, text=True,
        ).stdout
        for seed in "123"
    }  # fmt: skip
    assert len(found) == 1
    assert len(set(found.pop().split())) == 5


def test_an_edited_class_or_a_file_that_it_holds_is_another(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def identity(of_class, of_helper):
        (tmp_path / "helper_of_own.py").write_text(f"class Helper:\n    size = {of_helper}\n")
        script = (
            "from helper_of_own import Helper\n"
            f"class Own:\n    x = {of_class}\n    def __init__(self): self.helper = Helper()\n"
            "from unchurn.training.learners.own_code import code_identity\n"
            "print(code_identity(Own()))"
        )
        return subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(tmp_path)},
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip

    assert identity(1, 1) == identity(1, 1)
    assert len({identity(1, 1), identity(2, 1), identity(1, 2)}) == 3
