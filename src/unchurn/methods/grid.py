"""The settings of a method that are worth trying: its grid, except parameters the user wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from unchurn.methods.base import Method
from unchurn.methods.registry import METHODS, named_method

# Names and parameters as `parse_method` returns them; and methods with their names, to combine.
Written = Sequence[tuple[str, dict[str, Any]]]
Named = list[tuple[str, Method]]


def as_written(written: Written, n_steps: int | None) -> Named:
    """The methods as written, suited to a training of `n_steps` steps."""
    return [(name, _suited(name, {}, given, n_steps)) for name, given in written]


def worth_trying(written: Written, n_steps: int | None) -> list[Named]:
    """Every combination of the values worth trying; parameters that the user wrote stay fixed.

    >>> [one.a for ((_, one),) in worth_trying([("mixup", {})], None)]
    [0.2, 0.3, 0.4, 0.5]
    """
    choices = [
        [(name, _suited(name, values, given, n_steps)) for values in _values(name, given)]
        for name, given in written
    ]
    return [list(chosen) for chosen in product(*choices)]


def _values(name: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    """The parameters to try for one method: its grid, except those that are given."""
    tried = {p: values for p, values in METHODS[name].grid.items() if p not in given}
    return [dict(zip(tried, chosen, strict=True)) for chosen in product(*tried.values())]


def _suited(
    name: str, values: dict[str, Any], given: dict[str, Any], n_steps: int | None
) -> Method:
    """A method suited to a training of `n_steps` steps; given parameters stay as they are."""
    method = named_method(name, **{**values, **given})
    if n_steps is None:
        return method
    return replace(method.for_steps(n_steps), **given)
