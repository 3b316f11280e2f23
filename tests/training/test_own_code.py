"""Own code is told apart by its content."""

import os
import subprocess
import sys
from functools import partial

from torch import nn

import toys
from unchurn.training.own_code import code_identity


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
    script = (
        "from unchurn.training.own_code import code_identity\n"
        "def net(shape, n): return shape in {'a', 'b', 'c', 'd', 'e'}\n"
        "print(code_identity(net))\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed},
            check=True, capture_output=True, text=True,
        ).stdout
        for seed in "123"
    }  # fmt: skip
    assert len(found) == 1
